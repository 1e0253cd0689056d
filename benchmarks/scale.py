"""Every figure that runs and services are to reach, beside the first version in one run."""

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
PROMPTS, SMALL, LARGE, FULL, OVERLAPPED = 4_000, 1_000, 10_000, 100_000, 200
# The first version keeps everything in memory and uses one core: less of it says the same.
EARLIER = (500, 4_000)
RATERS = 8
PANEL_PROMPTS, PANEL_LATENCY = 20, 0.05
Row = list[object]


def run(
    large: int = LARGE, prompts: int = PROMPTS, quick: bool = False, rows: str = ""
) -> list[Table]:
    """The table, or some of its rows by their names; `quick` with fewer prompts and requests."""
    if quick:
        large, prompts = min(large, 2_000), min(prompts, 400)
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
    wanted = rows.split(",") if rows else list(parts)
    made: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        earlier = rewriter.extracted(Path(folder))
        for name in wanted:
            made += parts[name](earlier)
            print(f"scale: {name} measured", file=sys.stderr, flush=True)
    reached = sum(row[-1] == "yes" for row in made)
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    note = (
        f"reached: {reached} of {len(made)}; before: commit {rewriter.BEFORE}, in the same run; "
        f"{os.cpu_count()} cores, load {load}"
    )
    return [Table("figures to reach", ["what", "before", "now", "goal", "reached"], made, note)]


def _row(what: str, before: str, now: str, goal: str, reached: bool) -> Row:
    return [what, before or "-", now, goal, "yes" if reached else "no"]


def _run(earlier: Path | None, prompts: int) -> Iterator[Row]:
    now = scale_runs.paper(NOW, prompts)
    was = scale_runs.paper(earlier, prompts) if earlier else None
    share = now.seconds / was.seconds if was else 1.0
    yield _row(
        f"{prompts} prompts, K 4, n_aug 4, form",
        f"{was.seconds:.1f} s ({was.processor:.1f} of processor)" if was else "",
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
            f"{name} a prompt, {SMALL} to {large}",
            before,
            f"{less:.1f} -> {more:.1f} ms ({more / less - 1:+.0%})",
            "within +10%",
            more <= 1.1 * less,
        )
    yield _row(
        f"peak memory, {SMALL} to {large}",
        f"{was.memory:+.1f} MB a 1,000" if was else "",
        f"{now.small.peak:.0f} -> {now.large.peak:.0f} MB ({now.memory:+.2f} MB a 1,000)",
        "flat, below 400 MB",
        now.large.peak < 400 and now.memory < 1,
    )
    limit = 5 * large / FULL
    yield _row(
        f"going on when all {large} are done",
        "",
        f"{now.again.seconds:.2f} s ({now.size / large / 1024:.1f} kB a prompt)",
        f"under {max(limit, 1):g} s (5 s at {FULL})",
        now.again.seconds < max(limit, 1),
    )


def _overlap(earlier: Path | None, prompts: int) -> Iterator[Row]:
    found = scale_runs.overlap(prompts, earlier)
    yield _row(
        f"writer and judge of 50 ms, {prompts} prompts",
        f"{found.before:.1f} s" if found.before else "",
        f"{found.run:.2f} s; alone {found.writing:.2f} and {found.grading:.2f} ({found.over:+.0%})",
        "within +15% of the slower",
        found.over <= 0.15,
    )


def _rewriter(earlier: Path | None) -> Iterator[Row]:
    (table,) = rewriter.run(1)
    cost = {
        version: max(
            float(str(row[5])) for row in table.rows if row[0] == "prose" and row[2] == version
        )
        for version in ("before", "now")
        if any(row[2] == version for row in table.rows)
    }
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
    before, now = ([float(str(row[i])) for row in lazy.costs().rows] for i in (6, 7))
    kept = sum(each <= lazy.LIMIT for each in now)
    yield _row(
        "lazy search, processor time a pair",
        f"{min(before):.2f}-{max(before):.2f} ms",
        f"{min(now):.2f}-{max(now):.2f} ms ({kept} of {len(now)} settings)",
        f"at most {lazy.LIMIT:g} ms",
        kept == len(now),
    )


def _panel(_: Path | None) -> Iterator[Row]:
    for rule in ("epsilon", "auto"):
        yield _panel_row(rule)


def _panel_row(rule: str) -> Row:
    asked = total = same = 0
    seconds = [0.0, 0.0]
    with gateway.started("-m", "tests.fakes.fast_server", str(PANEL_LATENCY)) as port:
        panel = darc.Panel(model=f"judge:fake@http://127.0.0.1:{port}/v1,key_env=,concurrency=64")
        answers = [f"Answer number {k} is about the Moon." for k in range(RATERS)]
        with darc.Engine(panel=panel, rule=rule) as engine:
            for place in range(PANEL_PROMPTS):
                begun = time.perf_counter()
                found = engine.choose(f"What is known about {place}?", answers)
                middle = time.perf_counter()
                full = engine.choose(
                    f"What is known about {place}?", answers, score_everything=True
                )
                seconds[0] += middle - begun
                seconds[1] += time.perf_counter() - middle
                same += found.index == full.index
                asked, total = asked + found.calls, total + full.calls
    return _row(
        f"{len(panel)} raters, K {RATERS}, {PANEL_LATENCY * 1000:.0f} ms a call, {rule}",
        f"100% of the calls, {seconds[1] / PANEL_PROMPTS:.2f} s",
        f"{asked / total:.0%} of the calls, {seconds[0] / PANEL_PROMPTS:.2f} s, "
        f"{same} of {PANEL_PROMPTS} same",
        "at most 45%",
        asked <= 0.45 * total and same == PANEL_PROMPTS,
    )


def _client(earlier: Path | None) -> Iterator[Row]:
    concurrency, calls = list(client.CALLS.items())[-1]
    with gateway.started("-m", "tests.fakes.fast_server", str(client.LATENCY)) as port:
        url = f"http://127.0.0.1:{port}"
        now = min(asyncio.run(client.measured(url, concurrency, calls)) for _ in range(2))
        was = _under(earlier, "benchmarks.client", url, str(concurrency), str(calls))
    yield _row(
        f"client, processor time a call at {concurrency}",
        f"{was[0]:.2f} ms" if was else "",
        f"{now[0]:.2f} ms ({now[1]:.0f} calls/s)",
        f"at most {client.GOAL:g} ms",
        now[0] <= client.GOAL,
    )


def _gateway(earlier: Path | None, requests: int) -> Iterator[Row]:
    many: dict[str, Any] = {"latency": 0.02, "k": 4, "clients": 200, "requests": requests}
    now = gateway.rate(NOW, **many)
    was = gateway.rate(earlier, **many) if earlier else None
    yield _row(
        "gateway, 200 clients, k 4, judge, 20 ms",
        f"{was:.0f} requests/s" if was else "",
        f"{now:.0f} requests/s" + (f", {now / was:.1f} times" if was else ""),
        "2 times",
        was is not None and now >= 2 * was,
    )
    few: dict[str, Any] = {"latency": 0.05, "k": 8, "clients": 32, "requests": 64}
    now = max(gateway.rate(NOW, **few) for _ in range(2))
    was = gateway.rate(earlier, **few) if earlier else None
    yield _row(
        "gateway, 32 clients, K 8, judge, 50 ms",
        f"{was:.0f} requests/s" if was else "",
        f"{now:.0f} requests/s",
        "at least 120",
        now >= 120,
    )


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
