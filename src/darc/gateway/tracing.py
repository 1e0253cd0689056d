"""Spans of requests for OpenTelemetry, by its conventions for generative models."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.engine.outcome import Outcome
from darc.errors import InputError, MissingExtra
from darc.gateway.requests import ChatRequest
from darc.web.problems import Problem

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PASSED_ON = ("temperature", "top_p", "max_tokens", "seed")


def provider_of(environment: Mapping[str, str] = os.environ) -> "TracerProvider | None":
    """What exports spans, as the usual OTEL_* variables say; None where they name no exporter."""
    named = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    exporter = named or ("otlp" if any(environment.get(name) for name in ENDPOINTS) else "none")
    if exporter == "none" or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    except ImportError:
        raise MissingExtra(f"OTEL_TRACES_EXPORTER={exporter}", "otel") from None
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
        self._tracer = None if provider is None else provider.get_tracer("darc.gateway")

    @contextmanager
    def chat(self, asked: ChatRequest, headers: Mapping[str, str]) -> Iterator["ChatSpan"]:
        """The span of a request, below the one that its headers name."""
        if self._tracer is None:
            yield ChatSpan(None)
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, Status, StatusCode

        given = {name: asked.body.get(name) for name in PASSED_ON}
        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "darc",
            "gen_ai.request.model": asked.model,
            "gen_ai.request.choice.count": asked.k,
            "darc.rule": asked.method.spec.rule.name,
            "darc.n_aug": asked.method.n_aug,
            **{
                f"gen_ai.request.{name}": value
                for name, value in given.items()
                if value is not None
            },
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
                yield ChatSpan(span)
            except Exception as problem:
                code = problem.code if isinstance(problem, Problem) else None
                span.set_attribute("error.type", code or type(problem).__name__)
                span.set_status(Status(StatusCode.ERROR, getattr(problem, "message", "")))
                raise

    def close(self) -> None:
        """Send what is left."""
        if self._provider is not None:
            self._provider.shutdown()


class ChatSpan:
    """The span of a request that is being answered."""

    def __init__(self, span: Any) -> None:
        self._span = span

    def chosen(self, outcome: Outcome, body: Mapping[str, Any]) -> None:
        """Say what came of it: usage, a result for each score, and the choice.

        A score is a scorer's mean over the samples of a candidate.
        """
        if self._span is None:
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
            "darc.candidates": len(outcome.candidates),
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
            said["darc.best_of_k"] = int(np.nanargmax(of.mean))
        self._span.set_attributes(said)
        for name, scores in zip(outcome.scores.scorers, outcome.scores.values, strict=True):
            for place, samples in enumerate(scores):
                known = samples[~np.isnan(samples)]
                if known.size:
                    self._span.add_event(
                        "gen_ai.evaluation.result",
                        {
                            "gen_ai.evaluation.name": name,
                            "gen_ai.evaluation.score.value": float(known.mean()),
                            "gen_ai.response.id": body["id"],
                            "darc.candidate": place,
                            "darc.samples": int(known.size),
                        },
                    )
