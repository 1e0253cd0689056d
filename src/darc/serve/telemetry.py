"""Counts and times for Prometheus, and spans of requests for OpenTelemetry."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as TYPE

from darc.engine.outcome import Outcome
from darc.errors import InputError, extra_needed
from darc.serve.metadata import best_of_k
from darc.serve.requests import ChatRequest
from darc.web.problems import Problem

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

__all__ = ["TYPE", "Metrics", "Tracing", "provider_of"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
PATHS = (
    "/v1/chat/completions", "/v1/models", "/v1/select", "/v1/playground", "/healthz", "/readyz",
    "/metrics", "/",
)  # fmt: skip
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PASSED_ON = ("temperature", "top_p", "max_tokens", "seed")


class Metrics:
    """What the gateway has done; `gauges` are read when they are asked for."""

    def __init__(self, gauges: Mapping[str, Callable[[], float]]) -> None:
        self._registry = CollectorRegistry()

        def counter(name: str, told: str, *labels: str) -> Counter:
            return Counter(f"darc_{name}", told, labels, registry=self._registry)

        self._requests = counter("requests", "Requests by path and status.", "path", "status")
        self._flags = counter("flags", "Choices by flag.", "flag")
        self._calls = counter("calls", "Calls to models by stage.", "stage")
        self._tokens = counter("tokens", "Tokens by stage.", "stage")
        self._stages = counter("stage_milliseconds", "Time by stage.", "stage")
        self._held = counter("held", "Choices where none of the answers is good.")
        self._other_choice = counter("other_choices", "Choices that Best-of-K would not make.")
        self._candidates = counter("candidates", "Candidates made.")
        self._scored = counter("scored", "Texts scored.")
        self._saved = counter("calls_saved", "Calls of a panel that could not matter.")
        self._seconds = Histogram(
            "darc_chat_seconds",
            "Seconds a chat completion took.",
            buckets=BUCKETS,
            registry=self._registry,
        )
        for name, value in gauges.items():
            told = name.removeprefix("darc_").replace("_", " ").capitalize() + "."
            Gauge(name, told, registry=self._registry).set_function(value)

    def observe(self, path: str, status: int, seconds: float) -> None:
        """Count a request; status 0 is a client that left."""
        known = path if path in PATHS else "/v1/*" if path.startswith("/v1/") else "other"
        self._requests.labels(known, status).inc()
        if known == "/v1/chat/completions":
            self._seconds.observe(seconds)

    def choice(self, data: Mapping[str, Any]) -> None:
        """Count what a choice took, from its metadata."""
        for flag in data["flags"]:
            self._flags.labels(flag.partition(":")[0]).inc()
        self._held.inc(data["held"])
        if data["best_of_k"] is not None:
            self._other_choice.inc(data["best_of_k"] != data["index"])
        self._candidates.inc(data["k"])
        self._scored.inc(data["scored"])
        self._saved.inc(data.get("panel", {}).get("saved", 0))
        for stage, spent in data["spent"].items():
            self._calls.labels(stage).inc(spent["calls"])
            self._tokens.labels(stage).inc(spent.get("total_tokens") or 0)
        for stage, milliseconds in data["milliseconds"].items():
            self._stages.labels(stage).inc(milliseconds)

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return generate_latest(self._registry)


def provider_of(environment: Mapping[str, str] = os.environ) -> "TracerProvider | None":
    """What exports spans, as the usual OTEL_* variables say; None where they name no exporter."""
    named = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    exporter = named or ("otlp" if any(environment.get(name) for name in ENDPOINTS) else "none")
    if exporter == "none" or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    with extra_needed(f"OTEL_TRACES_EXPORTER={exporter}", "otel"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    kinds = {"otlp": OTLPSpanExporter, "console": ConsoleSpanExporter}
    if exporter not in kinds:
        raise InputError(f"OTEL_TRACES_EXPORTER is {exporter!r}", "otlp, console or none")
    name = environment.get("OTEL_SERVICE_NAME", "darc-gateway")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(kinds[exporter]()))
    return provider


class Tracing:
    """One span for each chat completion; without a provider, nothing."""

    def __init__(self, provider: "TracerProvider | None" = None) -> None:
        self._provider = provider
        self._tracer = None if provider is None else provider.get_tracer("darc.serve")

    @contextmanager
    def chat(self, asked: ChatRequest, headers: Mapping[str, str]) -> Iterator[Any]:
        """The span of a request, below the one that its headers name; None without a provider."""
        if self._tracer is None:
            yield None
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, Status, StatusCode

        given = {name: asked.body[name] for name in PASSED_ON if asked.body.get(name) is not None}
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "darc",
            "gen_ai.request.model": asked.model,
            "gen_ai.request.choice.count": asked.k,
            "darc.rule": asked.method.spec.rule.name,
            "darc.n_aug": asked.method.options.n_aug,
            **{f"gen_ai.request.{name}": value for name, value in given.items()},
        }
        with self._tracer.start_as_current_span(
            f"chat {asked.model}".strip(),
            context=extract(headers),
            kind=SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as problem:
                code = problem.code if isinstance(problem, Problem) else None
                span.set_attribute("error.type", code or type(problem).__name__)
                span.set_status(Status(StatusCode.ERROR, getattr(problem, "message", "")))
                raise

    def chosen(self, span: Any, outcome: Outcome, body: Mapping[str, Any]) -> None:
        """Say in a span what came of it: usage, a result for each score, and the choice.

        A score is a scorer's mean over the samples of a candidate.
        """
        if span is None:
            return
        usage = body["usage"]
        reasons = [choice.get("finish_reason") or "stop" for choice in body["choices"]]
        said: dict[str, Any] = {
            "gen_ai.response.id": body["id"],
            "gen_ai.response.model": body["model"],
            "gen_ai.response.finish_reasons": reasons,
            "gen_ai.usage.input_tokens": usage["prompt_tokens"],
            "gen_ai.usage.output_tokens": usage["completion_tokens"],
            "darc.candidate": outcome.index,
            "darc.candidates": outcome.written,
            "darc.scored": outcome.calls,
            "darc.flags": list(outcome.flags),
        }
        if outcome.decision is not None:
            of = outcome.decision.statistics
            numbers = {"disagreement": of.sigma, "value": of.value, "mean": of.mean}
            said |= {
                f"darc.{name}": float(each[outcome.index])
                for name, each in numbers.items()
                if np.isfinite(each[outcome.index])
            }
            leader = best_of_k(outcome)
            if leader is not None:
                said["darc.best_of_k"] = leader
        span.set_attributes(said)
        for name, scores in zip(outcome.scores.scorers, outcome.scores.values, strict=True):
            for place, samples in enumerate(scores):
                known = samples[~np.isnan(samples)]
                if known.size:
                    span.add_event(
                        "gen_ai.evaluation.result",
                        {
                            "gen_ai.evaluation.name": name,
                            "gen_ai.evaluation.score.value": float(known.mean()),
                            "gen_ai.response.id": body["id"],
                            "darc.candidate": place,
                            "darc.samples": int(known.size),
                        },
                    )

    def close(self) -> None:
        """Send what is left."""
        if self._provider is not None:
            self._provider.shutdown()
