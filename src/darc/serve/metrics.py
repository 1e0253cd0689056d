"""Counts and times for Prometheus."""

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

__all__ = ["CONTENT_TYPE", "Metrics"]

_CHAT_PATH = "/v1/chat/completions"
_SECONDS_BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
)  # fmt: skip
# Paths with a label of their own, so that clients cannot make labels.
_LABELLED_PATHS = (
    _CHAT_PATH, "/v1/responses", "/v1/messages", "/v1/models", "/v1/select", "/v1/playground",
    "/healthz", "/readyz", "/metrics", "/",
)  # fmt: skip


class Metrics:
    """What the gateway has done since it started."""

    def __init__(self, gauges: Mapping[str, Callable[[], float]]) -> None:
        """Begin with zeros.

        Args:
            gauges: Functions by name that are called for their values when somebody reads them.
        """
        self._registry = CollectorRegistry()
        self._requests = self._counter("requests", "Requests by path and status.", "path", "status")
        self._flags = self._counter("flags", "Choices by flag.", "flag")
        self._calls = self._counter("calls", "Calls to models by stage.", "stage")
        self._tokens = self._counter("tokens", "Tokens by stage.", "stage")
        self._stages = self._counter("stage_milliseconds", "Time by stage.", "stage")
        self._held = self._counter("held", "Choices where none of the answers is good.")
        self._other_choices = self._counter(
            "other_choices", "Choices that Best-of-K would not make."
        )
        self._candidates = self._counter("candidates", "Candidates written.")
        self._scored = self._counter("scored", "Texts scored.")
        self._saved = self._counter("calls_saved", "Calls of a panel that could not matter.")
        self._model_candidates = self._counter(
            "model_candidates", "Candidates by model, where several write.", "model"
        )
        self._model_choices = self._counter(
            "model_choices", "Chosen answers by model, where several write.", "model"
        )
        self._model_calls = self._counter(
            "model_calls", "Calls that write candidates by model, where several write.", "model"
        )
        self._model_tokens = self._counter(
            "model_tokens", "Tokens of candidates by model, where several write.", "model"
        )
        self._shadows = self._counter(
            "shadows", "Requests that were tried out in the background, by how it ended.", "result"
        )
        self._shadow_changes = self._counter(
            "shadow_changes", "Tried out requests whose answer would have changed."
        )
        self._shadow_raters = self._counter(
            "shadow_raters", "Raters who graded the ordinary answer and another choice."
        )
        self._shadow_unhappy = self._counter(
            "shadow_unhappy", "Those of them who are unhappy with each answer.", "answer"
        )
        self._shadow_calls = self._counter("shadow_calls", "Calls of trying out.", "part")
        self._shadow_tokens = self._counter("shadow_tokens", "Tokens of trying out.", "part")
        self._shadow_seconds = self._counter("shadow_seconds", "Time of trying out.", "part")
        self._seconds = Histogram(
            "darc_chat_seconds",
            "Seconds per chat completion.",
            buckets=_SECONDS_BUCKETS,
            registry=self._registry,
        )
        for name, value in gauges.items():
            help_text = name.removeprefix("darc_").replace("_", " ").capitalize() + "."
            Gauge(name, help_text, registry=self._registry).set_function(value)

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"darc_{name}", help_text, labels, registry=self._registry)

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request.

        Args:
            path: Its path.
            status: The status of the response; 0 if the client left.
            seconds: How long it took.
        """
        self._requests.labels(_path_label(path), status).inc()
        if path == _CHAT_PATH:
            self._seconds.observe(seconds)

    def count_choice(self, darc: Mapping[str, Any]) -> None:
        """Count a choice and what it cost, from its `darc` object."""
        for flag in darc["flags"]:
            self._flags.labels(flag.partition(":")[0]).inc()
        self._held.inc(darc["held"])
        if darc["best_of_k"] is not None:
            self._other_choices.inc(darc["best_of_k"] != darc["index"])
        self._candidates.inc(darc["k"])
        self._scored.inc(darc["scored"])
        self._saved.inc(darc.get("panel", {}).get("saved", 0))
        for stage, spent in darc["spent"].items():
            self._calls.labels(stage).inc(spent["calls"])
            self._tokens.labels(stage).inc(spent.get("total_tokens") or 0)
        for stage, milliseconds in darc["milliseconds"].items():
            self._stages.labels(stage).inc(milliseconds)

    def count_models(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Count which of several models wrote candidates, and which one was chosen.

        Args:
            rows: The `models` of a `darc` object.
        """
        for name, row in rows.items():
            self._model_candidates.labels(name).inc(row["candidates"])
            self._model_choices.labels(name).inc(row["chosen"])
            self._model_calls.labels(name).inc(row["calls"])
            self._model_tokens.labels(name).inc(row["tokens"])

    def count_shadow_end(self, result: str) -> None:
        """Count how trying out a request ended, such as "done" or "dropped"."""
        self._shadows.labels(result).inc()

    def count_shadow(self, row: Mapping[str, Any]) -> None:
        """Count what trying out a request found, from its row in the audit log."""
        self._shadow_changes.inc(row["changed"])
        unhappy = row["unhappy"]
        if unhappy is not None:
            self._shadow_raters.inc(unhappy["raters"])
            self._shadow_unhappy.labels("ordinary").inc(unhappy["ordinary"])
            self._shadow_unhappy.labels("choice").inc(unhappy["choice"])
        for part, cost in row["cost"].items():
            self._shadow_calls.labels(part).inc(cost["calls"])
            self._shadow_tokens.labels(part).inc(cost["tokens"])
            self._shadow_seconds.labels(part).inc(cost["seconds"])

    def text(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self._registry)


def _path_label(path: str) -> str:
    if path in _LABELLED_PATHS:
        return path
    if path.startswith("/v1/"):
        return "/v1/*"
    return "other"
