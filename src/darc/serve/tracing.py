"""Spans of chat completions for OpenTelemetry."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from darc.engine.outcome import Outcome
from darc.errors import InputError, extra_needed
from darc.serve.metadata import best_of_k
from darc.serve.requests import ChatRequest
from darc.web.problems import Problem

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_REQUEST_FIELDS = ("temperature", "top_p", "max_tokens", "seed")


def make_tracer_provider(
    environment: Mapping[str, str] = os.environ,
) -> "TracerProvider | None":
    """Make what exports spans, as the usual OTEL_* variables say.

    Args:
        environment: The environment variables.

    Returns:
        None if they name no exporter.

    Raises:
        InputError: They name an unknown exporter, or the extra `otel` is missing.
    """
    exporter = _exporter_name(environment)
    if exporter == "none":
        return None
    with extra_needed(f"OTEL_TRACES_EXPORTER={exporter}", "otel"):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    exporters = {"otlp": OTLPSpanExporter, "console": ConsoleSpanExporter}
    if exporter not in exporters:
        raise InputError(f"OTEL_TRACES_EXPORTER is {exporter!r}", "otlp, console or none")
    service_name = environment.get("OTEL_SERVICE_NAME", "darc-gateway")
    provider = TracerProvider(resource=Resource.create({"service.name": service_name}))
    provider.add_span_processor(BatchSpanProcessor(exporters[exporter]()))
    return provider


def _exporter_name(environment: Mapping[str, str]) -> str:
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return "none"
    exporter = environment.get("OTEL_TRACES_EXPORTER", "").strip()
    if exporter:
        return exporter
    if any(environment.get(name) for name in _ENDPOINT_VARIABLES):
        return "otlp"
    return "none"


class Tracing:
    """Records one span per chat completion, nothing without a provider."""

    def __init__(self, provider: "TracerProvider | None" = None) -> None:
        """Record with a provider; None for nothing."""
        self._provider = provider
        self._tracer = None
        if provider is not None:
            self._tracer = provider.get_tracer("darc.serve")

    @contextmanager
    def chat_span(self, request: ChatRequest, headers: Mapping[str, str]) -> Iterator[Any]:
        """Record the span of a request, below the one that its headers name.

        Args:
            request: The request.
            headers: Its headers.

        Yields:
            The span, or None without a provider.
        """
        if self._tracer is None:
            yield None
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, Status, StatusCode

        with self._tracer.start_as_current_span(
            f"chat {request.model}".strip(),
            context=extract(headers),
            kind=SpanKind.SERVER,
            attributes=_request_attributes(request),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                code = error.code if isinstance(error, Problem) else None
                span.set_attribute("error.type", code or type(error).__name__)
                span.set_status(Status(StatusCode.ERROR, getattr(error, "message", "")))
                raise

    def record_choice(self, span: Any, outcome: Outcome, body: Mapping[str, Any]) -> None:
        """Add the response, the choice and an event per score to a span.

        Args:
            span: The span of the request, or None.
            outcome: The choice.
            body: The response.
        """
        if span is None:
            return
        span.set_attributes({**_response_attributes(body), **_choice_attributes(outcome)})
        for event in _score_events(outcome, body["id"]):
            span.add_event("gen_ai.evaluation.result", event)

    def close(self) -> None:
        """Send what was not sent yet."""
        if self._provider is not None:
            self._provider.shutdown()


def _request_attributes(request: ChatRequest) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "darc",
        "gen_ai.request.model": request.model,
        "gen_ai.request.choice.count": request.k,
        "darc.rule": request.method.method.rule.name,
        "darc.n_aug": request.method.options.n_aug,
    }
    for name in _REQUEST_FIELDS:
        value = request.backend_body.get(name)
        if value is not None:
            attributes[f"gen_ai.request.{name}"] = value
    return attributes


def _response_attributes(body: Mapping[str, Any]) -> dict[str, Any]:
    finish_reasons = [choice.get("finish_reason") or "stop" for choice in body["choices"]]
    return {
        "gen_ai.response.id": body["id"],
        "gen_ai.response.model": body["model"],
        "gen_ai.response.finish_reasons": finish_reasons,
        "gen_ai.usage.input_tokens": body["usage"]["prompt_tokens"],
        "gen_ai.usage.output_tokens": body["usage"]["completion_tokens"],
    }


def _choice_attributes(outcome: Outcome) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "darc.candidate": outcome.index,
        "darc.candidates": outcome.written,
        "darc.scored": outcome.calls,
        "darc.flags": list(outcome.flags),
    }
    if outcome.decision is None:
        return attributes
    statistics = outcome.decision.statistics
    numbers = {
        "disagreement": statistics.sigma,
        "value": statistics.value,
        "mean": statistics.mean,
    }
    for name, values in numbers.items():
        if np.isfinite(values[outcome.index]):
            attributes[f"darc.{name}"] = float(values[outcome.index])
    leader = best_of_k(outcome)
    if leader is not None:
        attributes["darc.best_of_k"] = leader
    return attributes


def _score_events(outcome: Outcome, response_id: str) -> Iterator[dict[str, Any]]:
    """An event per scorer and candidate, whose score is the mean over the candidate's samples."""
    for scorer, values in zip(outcome.scores.scorers, outcome.scores.values, strict=True):
        for index, samples in enumerate(values):
            present = samples[~np.isnan(samples)]
            if present.size:
                yield {
                    "gen_ai.evaluation.name": scorer,
                    "gen_ai.evaluation.score.value": float(present.mean()),
                    "gen_ai.response.id": response_id,
                    "darc.candidate": index,
                    "darc.samples": int(present.size),
                }
