"""Goals for runs and services, measured beside the first version."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import darc
from benchmarks import client, gateway, lazy, reward, rewriter, scale_runs
from benchmarks.report import Table

NOW = scale_runs.ROOT / "src"
PROMPTS = 4_000
SMALL = 1_000
LARGE = 10_000
FULL = 100_000
OVERLAPPED = 200
# The first version keeps everything in memory and uses one core: less of it says the same.
EARLIER = (500, 4_000)
RATERS = 8
PANEL_PROMPTS = 20
PANEL_LATENCY = 0.05
Row = list[object]


def run(
    large: int = LARGE, prompts: int = PROMPTS, quick: bool = False, rows: str = ""
) -> list[Table]:
    """The table, or some of its rows by their names; `quick` with fewer prompts and requests."""
    if quick:
        large = min(large, 2_000)
        prompts = min(prompts, 400)
    parts: dict[str, Callable[[Path | None], Iterator[Row]]] = {
        "run": lambda earlier: _run(earlier, prompts),
        "growth": lambda earlier: _growth(earlier, large),
        "overlap": lambda earlier: _overlap(earlier, 60 if quick else OVERLAPPED),
        "rewriter": _rewriter,
        "lazy": _lazy,
        "panel": _panel,
        "client": _client,
        "gateway": lambda earlier: _gateway(earlier, 400 if quick else 2_000),
        "reward": _reward,
    }
    names = rows.split(",") if rows else list(parts)
    table_rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        earlier = rewriter.extract_version(Path(folder))
        for name in names:
            table_rows += parts[name](earlier)
            print(f"scale: {name} measured", file=sys.stderr, flush=True)
    reached = sum(row[-1] == "yes" for row in table_rows)
    load = " ".join(f"{average:.1f}" for average in os.getloadavg())
    note = (
        f"reached: {reached} of {len(table_rows)}; before: commit {rewriter.BEFORE}, in the same "
        f"run; {os.cpu_count()} cores, load {load}"
    )
    header = ["what", "before", "now", "goal", "reached"]
    return [Table("figures to reach", header, table_rows, note)]


def _row(what: str, before: str, now: str, goal: str, reached: bool) -> Row:
    return [what, before or "-", now, goal, "yes" if reached else "no"]


def _run(earlier: Path | None, prompts: int) -> Iterator[Row]:
    now = scale_runs.paper(NOW, prompts)
    before = ""
    share = 1.0
    if earlier:
        was = scale_runs.paper(earlier, prompts)
        before = f"{was.seconds:.1f} s ({was.processor:.1f} of processor)"
        share = now.seconds / was.seconds
    yield _row(
        f"{prompts} prompts, K 4, n_aug 4, form",
        before,
        f"{now.seconds:.1f} s ({now.processor:.1f} of processor), {share:.2f} of it",
        "at most 0.20",
        share <= 0.2,
    )


def _growth(earlier: Path | None, large: int) -> Iterator[Row]:
    now = scale_runs.growth(NOW, SMALL, large)
    was = scale_runs.growth(earlier, *EARLIER) if earlier else None
    for what, name in (("seconds", "time"), ("processor", "processor time")):
        less, more = now.per_prompt(what)
        before = ""
        if was:
            first, then = was.per_prompt(what)
            before = f"{first:.1f} -> {then:.1f} ms ({EARLIER[0]} -> {EARLIER[1]})"
        yield _row(
            f"{name} per prompt, {SMALL} to {large}",
            before,
            f"{less:.1f} -> {more:.1f} ms ({more / less - 1:+.0%})",
            "within +10%",
            more <= 1.1 * less,
        )
    yield _row(
        f"peak memory, {SMALL} to {large}",
        f"{was.memory:+.1f} MB per 1,000" if was else "",
        f"{now.small.peak:.0f} -> {now.large.peak:.0f} MB ({now.memory:+.2f} MB per 1,000)",
        "flat, below 400 MB",
        now.large.peak < 400 and now.memory < 1,
    )
    limit = 5 * large / FULL
    yield _row(
        f"going on when all {large} are done",
        "",
        f"{now.again.seconds:.2f} s ({now.size / large / 1024:.1f} kB per prompt)",
        f"under {max(limit, 1):g} s (5 s at {FULL})",
        now.again.seconds < max(limit, 1),
    )


def _overlap(earlier: Path | None, prompts: int) -> Iterator[Row]:
    stages = scale_runs.overlap(prompts, earlier)
    alone = f"{stages.writing:.2f} and {stages.grading:.2f}"
    yield _row(
        f"writer and judge of 50 ms, {prompts} prompts",
        f"{stages.before:.1f} s" if stages.before else "",
        f"{stages.run:.2f} s; alone {alone} ({stages.over:+.0%})",
        "within +15% of the slower",
        stages.over <= 0.15,
    )


def _rewriter(earlier: Path | None) -> Iterator[Row]:
    (table,) = rewriter.run(1)
    cost: dict[str, float] = {}
    for texts, _, version, _, _, milliseconds, _ in table.rows:
        if texts == "prose":
            cost[str(version)] = max(cost.get(str(version), 0.0), float(str(milliseconds)))
    yield _row(
        "a proposed rewrite of prose, at most",
        f"{cost['before']:.1f} ms" if "before" in cost else "",
        f"{cost['now']:.2f} ms",
        f"at most {rewriter.GOAL:g} ms",
        cost["now"] <= rewriter.GOAL,
    )


def _lazy(earlier: Path | None) -> Iterator[Row]:
    if earlier is None:
        return
    table = lazy.costs()
    before = table.numbers("ms before")
    now = table.numbers("ms")
    within_limit = sum(milliseconds <= lazy.LIMIT for milliseconds in now)
    yield _row(
        "lazy search, processor time per pair",
        f"{min(before):.2f}-{max(before):.2f} ms",
        f"{min(now):.2f}-{max(now):.2f} ms ({within_limit} of {len(now)} settings)",
        f"at most {lazy.LIMIT:g} ms",
        within_limit == len(now),
    )


def _panel(_: Path | None) -> Iterator[Row]:
    for rule in ("epsilon", "auto"):
        yield _panel_row(rule)


def _panel_row(rule: str) -> Row:
    lazy_calls = 0
    full_calls = 0
    same = 0
    lazy_seconds = 0.0
    full_seconds = 0.0
    with gateway.started("-m", "tests.fakes.fast_server", str(PANEL_LATENCY)) as port:
        judge = f"judge:fake@http://127.0.0.1:{port}/v1,key_env=,concurrency=64"
        panel = darc.Panel(model=judge, mode="separate")
        answers = [f"Answer number {k} is about the Moon." for k in range(RATERS)]
        with darc.Engine(panel=panel, rule=rule) as engine:
            for place in range(PANEL_PROMPTS):
                question = f"What is known about {place}?"
                begun = time.perf_counter()
                chosen = engine.choose(question, answers)
                middle = time.perf_counter()
                full = engine.choose(question, answers, score_everything=True)
                lazy_seconds += middle - begun
                full_seconds += time.perf_counter() - middle
                same += chosen.index == full.index
                lazy_calls += chosen.calls
                full_calls += full.calls
    return _row(
        f"{len(panel)} raters, K {RATERS}, {PANEL_LATENCY * 1000:.0f} ms per call, {rule}",
        f"100% of the calls, {full_seconds / PANEL_PROMPTS:.2f} s",
        f"{lazy_calls / full_calls:.0%} of the calls, {lazy_seconds / PANEL_PROMPTS:.2f} s, "
        f"{same} of {PANEL_PROMPTS} same",
        "at most 45%",
        lazy_calls <= 0.45 * full_calls and same == PANEL_PROMPTS,
    )


def _client(earlier: Path | None) -> Iterator[Row]:
    concurrency, calls = list(client.CALLS.items())[-1]
    with gateway.started("-m", "tests.fakes.fast_server", str(client.LATENCY)) as port:
        url = f"http://127.0.0.1:{port}"
        now = min(asyncio.run(client.measured(url, concurrency, calls)) for _ in range(2))
        was = _under(earlier, "benchmarks.client", url, str(concurrency), str(calls))
    yield _row(
        f"client, processor time per call at {concurrency}",
        f"{was[0]:.2f} ms" if was else "",
        f"{now[0]:.2f} ms ({now[1]:.0f} calls/s)",
        f"at most {client.GOAL:g} ms",
        now[0] <= client.GOAL,
    )


def _gateway(earlier: Path | None, requests: int) -> Iterator[Row]:
    many: dict[str, Any] = {"latency": 0.02, "k": 4, "clients": 200, "requests": requests}
    now = gateway.rate(NOW, **many)
    was = gateway.rate(earlier, **many) if earlier else None
    ratio = now / was if was else 0.0
    yield _row(
        "gateway, 200 clients, k 4, judge, 20 ms",
        _per_second(was),
        f"{_per_second(now)}, {ratio:.1f} times" if ratio else _per_second(now),
        "2 times",
        ratio >= 2,
    )
    few: dict[str, Any] = {"latency": 0.05, "k": 8, "clients": 32, "requests": 64}
    now = max(gateway.rate(NOW, **few) for _ in range(2))
    was = gateway.rate(earlier, **few) if earlier else None
    yield _row(
        "gateway, 32 clients, K 8, judge, 50 ms",
        _per_second(was),
        _per_second(now),
        "at least 120",
        now >= 120,
    )


def _per_second(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.0f} requests/s"


def _reward(_: Path | None) -> Iterator[Row]:
    (table,) = reward.run()
    for row in table.rows:
        if "darc" in row:
            times = float(str(row[table.header.index("times pipeline")]))
            yield _row(
                f"reward of one prompt's texts, {row[0]}",
                "transformers' pipeline",
                f"{times:.1f} times",
                "2 times",
                times >= 2,
            )
    if not any("darc" in row for row in table.rows):
        yield _row("reward of one prompt's texts", "", "not run: no torch", "2 times", False)


def _under(earlier: Path | None, module: str, *arguments: str) -> list[float] | None:
    """What a benchmark's module prints when it measures the first version."""
    if earlier is None:
        return None
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=scale_runs.ROOT,
        env={**os.environ, "PYTHONPATH": str(earlier)},
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(done.stdout))
