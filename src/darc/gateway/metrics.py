"""Counts and times in the text format that Prometheus reads."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
PATHS = (
    "/v1/chat/completions", "/v1/models", "/v1/select", "/v1/playground", "/healthz", "/readyz",
    "/metrics", "/",
)  # fmt: skip


class Metrics:
    """What the gateway has done; only ever used in the loop's thread."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.flags: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.scored = self.candidates = self.saved = 0
        self.stages: Counter[str] = Counter()
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0
        self.gauges: dict[str, Callable[[], float]] = {}

    def observe(self, _: str, path: str, status: int, seconds: float) -> None:
        """Count a request; status 0 is a client that left."""
        known = path if path in PATHS else "/v1/*" if path.startswith("/v1/") else "other"
        self.requests[known, status] += 1
        if known == "/v1/chat/completions":
            place = next((i for i, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
            self._buckets[place] += 1
            self._seconds += seconds

    def choice(self, data: Mapping[str, Any]) -> None:
        """Count what a choice took, from its metadata."""
        self.flags.update(flag.partition(":")[0] for flag in data["flags"])
        self.candidates += data["k"]
        self.scored += data["scored"]
        self.saved += data.get("panel", {}).get("saved", 0)
        for stage, spent in data["spent"].items():
            self.calls[stage] += spent["calls"]
            self.tokens[stage] += spent.get("total_tokens") or 0
        for stage, milliseconds in data["milliseconds"].items():
            self.stages[stage] += milliseconds

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
        lines = _family(
            "darc_requests_total", "counter", "Requests by path and status.",
            (({"path": p, "status": str(s)}, n) for (p, s), n in sorted(self.requests.items())),
        )  # fmt: skip
        lines += _histogram(self._buckets, self._seconds)
        labelled = {
            "darc_flags_total": ("Choices by flag.", "flag", self.flags),
            "darc_calls_total": ("Calls to models by stage.", "stage", self.calls),
            "darc_tokens_total": ("Tokens by stage.", "stage", self.tokens),
            "darc_stage_milliseconds_total": ("Time by stage.", "stage", self.stages),
        }
        for name, (told, label, counts) in labelled.items():
            rows = (({label: key}, n) for key, n in sorted(counts.items()))
            lines += _family(name, "counter", told, rows)
        lines += _family(
            "darc_candidates_total", "counter", "Candidates made.", [({}, self.candidates)]
        )
        lines += _family("darc_scored_total", "counter", "Texts scored.", [({}, self.scored)])
        told = "Calls of a panel that could not matter and were not made."
        lines += _family("darc_calls_saved_total", "counter", told, [({}, self.saved)])
        for name, gauge in self.gauges.items():
            told = name.removeprefix("darc_").replace("_", " ").capitalize() + "."
            lines += _family(name, "gauge", told, [({}, gauge())])
        return "\n".join(lines) + "\n"


def _family(
    name: str, kind: str, told: str, rows: Iterable[tuple[Mapping[str, str], float]]
) -> list[str]:
    lines = [f"# HELP {name} {told}", f"# TYPE {name} {kind}"]
    for labels, number in rows:
        lines.append(f"{name}{_labels(labels)} {number:.15g}")
    return lines


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    fine = (
        (k, v.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
        for k, v in labels.items()
    )
    return "{" + ",".join(f'{k}="{v}"' for k, v in fine) + "}"


def _histogram(buckets: list[int], seconds: float) -> list[str]:
    name, total = "darc_chat_seconds", 0
    lines = [f"# HELP {name} Seconds a chat completion took.", f"# TYPE {name} histogram"]
    for most, count in zip((*BUCKETS, float("inf")), buckets, strict=True):
        total += count
        bound = "+Inf" if most == float("inf") else f"{most:g}"
        lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
    return [*lines, f"{name}_sum {seconds:.6f}", f"{name}_count {total}"]
