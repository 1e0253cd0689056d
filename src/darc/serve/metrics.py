"""Counts and times for Prometheus."""

import asyncio
import os
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.multiprocess import MultiProcessCollector

from darc.serve.choice_facts import ChoiceFacts, RaterCount

__all__ = ["CONTENT_TYPE", "SHARED_FOLDER", "Metrics"]

#: The environment variable that prometheus_client reads when it is imported.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"

_GAUGE_SECONDS = 0.5
# How often the files of several processes are read until it works, and the seconds in between.
_READ_ATTEMPTS = 5
_READ_PAUSE = 0.02
# How the gauges of several processes become one; all others are added up.
_MODES: dict[str, Literal["livemin"]] = {"darc_backend_ready": "livemin"}
_CHAT_PATH = "/v1/chat/completions"
_SECONDS_BUCKETS = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
)  # fmt: skip
# The grades of a panel are 0 to 10.
_DISAGREEMENT_BUCKETS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
_CALLS_BUCKETS = (1, 2, 5, 10, 17, 25, 50, 100, 200, 500)
_TOKENS_BUCKETS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
# Paths with a label of their own, so that clients cannot make labels.
_LABELLED_PATHS = (
    _CHAT_PATH, "/v1/responses", "/v1/messages", "/v1/models", "/v1/select", "/v1/playground",
    "/healthz", "/readyz", "/metrics", "/",
)  # fmt: skip


class Metrics:
    """What the gateway has done since it started.

    Where several processes answer requests, `SHARED_FOLDER` names the folder in which they keep
    what they count. It must be set before this module is imported.
    """

    def __init__(self, gauges: Mapping[str, Callable[[], float]]) -> None:
        """Begin with zeros.

        Args:
            gauges: Functions by name that are called for their values when somebody reads them.
        """
        self._registry = CollectorRegistry()
        self._is_shared = SHARED_FOLDER in os.environ
        self._requests = self._counter("requests", "Requests by path and status.", "path", "status")
        self._flags = self._counter("flags", "Choices by flag.", "flag")
        self._calls = self._counter("calls", "Calls to models by stage.", "stage")
        self._tokens = self._counter("tokens", "Tokens by stage.", "stage")
        self._choices = self._counter("choices", "Choices by model of the request.", "model")
        self._passed = self._counter(
            "passed_through", "Answers that were passed on as they are, by model.", "model"
        )
        self._flagged = self._counter("flagged", "Choices with at least one flag.")
        self._held = self._counter("held", "Choices where none of the answers is good.")
        self._other_choices = self._counter(
            "other_choices", "Choices that Best-of-K would not make."
        )
        self._compared = self._counter(
            "compared", "Choices of which it is known what Best-of-K would choose."
        )
        self._raters = self._counter(
            "raters", "Raters of the choice, and of what Best-of-K would choose.", "answer"
        )
        self._unhappy = self._counter(
            "unhappy_raters", "Those of them who are unhappy with that answer.", "answer"
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
        self._disagreement = self._histogram(
            "disagreement", "Standard deviation of the ratings of a choice.", _DISAGREEMENT_BUCKETS
        )
        self._request_calls = self._histogram(
            "request_calls", "Calls to all models per request.", _CALLS_BUCKETS, "model"
        )
        self._request_tokens = self._histogram(
            "request_tokens", "Tokens of all models per request.", _TOKENS_BUCKETS, "model"
        )
        self._stage_seconds = self._histogram(
            "stage_seconds", "Seconds of a request by stage.", _SECONDS_BUCKETS, "stage"
        )
        self._seconds = self._histogram(
            "chat_seconds", "Seconds per chat completion.", _SECONDS_BUCKETS
        )
        self._reloads = self._counter(
            "reloads", "Times that files were read again, by how it ended.", "result"
        )
        self._gauge_values = {"darc_processes": lambda: 1.0, **gauges}
        self._gauges = {
            name: Gauge(
                name,
                name.removeprefix("darc_").replace("_", " ").capitalize() + ".",
                registry=self._registry,
                multiprocess_mode=_MODES.get(name, "livesum"),
            )
            for name in self._gauge_values
        }

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"darc_{name}", help_text, labels, registry=self._registry)

    def _histogram(
        self, name: str, help_text: str, buckets: Sequence[float], *labels: str
    ) -> Histogram:
        return Histogram(
            f"darc_{name}", help_text, labels, buckets=buckets, registry=self._registry
        )

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

    def count_choice(self, facts: ChoiceFacts, model: str) -> None:
        """Count a choice.

        Args:
            facts: The facts about it.
            model: The label of its model.
        """
        self._choices.labels(model).inc()
        for flag in facts.flags:
            self._flags.labels(flag.partition(":")[0]).inc()
        self._flagged.inc(bool(facts.flags))
        self._held.inc(facts.held)
        if facts.other_choice is not None:
            self._compared.inc()
            self._other_choices.inc(facts.other_choice)
        if facts.disagreement is not None:
            self._disagreement.observe(facts.disagreement)
        if facts.choice is not None and facts.best_of_k is not None:
            # Both or neither, so that their shares can be compared.
            self._count_raters("choice", facts.choice)
            self._count_raters("best_of_k", facts.best_of_k)
        self._candidates.inc(facts.k)
        self._request_calls.labels(model).observe(facts.calls)
        self._request_tokens.labels(model).observe(facts.tokens)
        for stage, seconds in facts.seconds.items():
            self._stage_seconds.labels(stage).observe(seconds)

    def count_cost(self, darc: Mapping[str, Any]) -> None:
        """Count what a choice cost by stage, from its `darc` object."""
        self._scored.inc(darc["scored"])
        self._saved.inc(darc.get("panel", {}).get("saved", 0))
        for stage, spent in darc["spent"].items():
            self._calls.labels(stage).inc(spent["calls"])
            self._tokens.labels(stage).inc(spent.get("total_tokens") or 0)

    def count_passed_through(self, model: str) -> None:
        """Count an answer that was passed on as it is, by the label of its model."""
        self._passed.labels(model).inc()

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

    def _count_raters(self, answer: str, count: RaterCount) -> None:
        self._raters.labels(answer).inc(count.raters)
        self._unhappy.labels(answer).inc(count.unhappy)

    def count_reload(self, result: str) -> None:
        """Count that files were read again, "done" or "failed"."""
        self._reloads.labels(result).inc()

    async def keep_gauges(self) -> None:
        """Keep the gauges of this process fresh, for another process that is asked for them."""
        while self._is_shared:
            self._refresh_gauges()
            await asyncio.sleep(_GAUGE_SECONDS)

    def text(self) -> bytes:
        """Return everything as Prometheus reads it, of all processes where there are several."""
        self._refresh_gauges()
        if not self._is_shared:
            return generate_latest(self._registry)
        # A process that begins or ends meanwhile makes or removes a file, which may be empty or
        # gone when it is read.
        for _ in range(_READ_ATTEMPTS - 1):
            with suppress(OSError, ValueError, struct.error):
                return _text_of_all_processes()
            time.sleep(_READ_PAUSE)
        return _text_of_all_processes()

    def _refresh_gauges(self) -> None:
        for name, value in self._gauge_values.items():
            self._gauges[name].set(value())


def _text_of_all_processes() -> bytes:
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def _path_label(path: str) -> str:
    if path in _LABELLED_PATHS:
        return path
    if path.startswith("/v1/"):
        return "/v1/*"
    return "other"
