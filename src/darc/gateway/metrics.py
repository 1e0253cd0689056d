"""Counts and times for Prometheus."""

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as TYPE

__all__ = ["TYPE", "Metrics"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
PATHS = (
    "/v1/chat/completions", "/v1/models", "/v1/select", "/v1/playground", "/healthz", "/readyz",
    "/metrics", "/",
)  # fmt: skip


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

    def observe(self, _: str, path: str, status: int, seconds: float) -> None:
        """Count a request; status 0 is a client that left."""
        known = path if path in PATHS else "/v1/*" if path.startswith("/v1/") else "other"
        self._requests.labels(known, status).inc()
        if known == "/v1/chat/completions":
            self._seconds.observe(seconds)

    def choice(self, data: Mapping[str, Any]) -> None:
        """Count what a choice took, from its metadata."""
        for flag in data["flags"]:
            self._flags.labels(flag.partition(":")[0]).inc()
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
