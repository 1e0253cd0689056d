"""What the gateway adds to a backend that takes 50 ms per call, beside its_hub."""

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import Table

LATENCY = 0.05
K = 8
SEQUENTIAL = 40
REQUESTS = 64
CLIENTS = 32
# How often one process and two are measured, in turn.
PROCESS_ROUNDS = 3
MESSAGES = [{"role": "user", "content": "Why are there two tides a day?"}]
GOALS = {"added": 5.0, "chosen": 120.0, "rate": 60.0}
# A panel takes two round trips, and 15 ms besides the backend's.
PANEL_GOALS = {"p50": 2.6 * LATENCY * 1000 + 15, "calls": 17.0}
# The Python of an environment with its_hub, which `make bench-gateway` makes.
ITS_HUB_PYTHON = "ITS_HUB_PYTHON"


@contextlib.contextmanager
def started(*command: str, source: Path | None = None) -> Iterator[Any]:
    """Start a separate process and yield the first line that it prints.

    `source` is the folder of the package that it uses.
    """
    environment = None
    if source is not None:
        environment = {**os.environ, "PYTHONPATH": str(source)}
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def calls(backend: str) -> int:
    with urllib.request.urlopen(f"{backend}/calls") as answer:
        return int(json.load(answer)["calls"])


async def measured(url: str, backend: str, body: dict[str, Any]) -> dict[str, float]:
    """Milliseconds of one request after the other, and requests per second of many."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    wait = aiohttp.ClientTimeout(60)
    async with aiohttp.ClientSession(connector=connector, timeout=wait) as client:

        async def ask() -> float:
            begun = time.perf_counter()
            async with client.post(f"{url}/v1/chat/completions", json=body) as answer:
                assert answer.status == 200, await answer.text()
                assert (await answer.json())["choices"][0]["message"]["content"]
            return (time.perf_counter() - begun) * 1000

        for _ in range(3):
            await ask()
        before = calls(backend)
        alone = sorted([await ask() for _ in range(SEQUENTIAL)])
        calls_per_request = (calls(backend) - before) / SEQUENTIAL
        places = asyncio.Semaphore(CLIENTS)

        async def waiting() -> float:
            async with places:
                return await ask()

        await asyncio.gather(*(waiting() for _ in range(CLIENTS)))
        rates = []
        for _ in range(3):
            begun = time.perf_counter()
            await asyncio.gather(*(waiting() for _ in range(REQUESTS)))
            rates.append(REQUESTS / (time.perf_counter() - begun))
    return {
        "p50": alone[len(alone) // 2],
        "p95": alone[int(len(alone) * 0.95)],
        "rate": sorted(rates)[1],
        "calls": calls_per_request,
    }


@contextlib.contextmanager
def served(
    latency: float,
    k: int,
    source: Path | None = None,
    panel: tuple[str, ...] | None = None,
    more: tuple[str, ...] = (),
) -> Iterator[tuple[str, str]]:
    """The addresses of a gateway with a judge or a panel, and of the backend that both use.

    `more` are further options of the gateway.
    """
    with started("-m", "tests.fakes.fast_server", str(latency)) as port:
        backend = f"http://127.0.0.1:{port}"
        judge = f"judge:fake@{backend},concurrency=512,key_env="
        command = [
            "-m", "darc", "serve", "--port", "0", "--backend", backend, "-k", str(k),
            "--concurrency", "512",
        ]  # fmt: skip
        if panel is None:
            command += ["--scorer", judge, "--n-aug", "0", "--rule", "mean", "--no-guard"]
        else:
            command += ["--panel", judge, *panel]
        command += more
        with started(*command, source=source) as first_line:
            gateway = first_line.rpartition(" ")[2].removesuffix("/v1")
            _ready(gateway)
            yield gateway, backend


def rate(source: Path, *, latency: float, k: int, clients: int, requests: int) -> float:
    """Requests per second that the gateway of some version answers."""
    import aiohttp

    async def measure(url: str) -> float:
        connector = aiohttp.TCPConnector(limit=0)
        wait = aiohttp.ClientTimeout(300)
        places = asyncio.Semaphore(clients)
        async with aiohttp.ClientSession(connector=connector, timeout=wait) as client:

            async def ask(number: int) -> None:
                messages = [{"role": "user", "content": f"What is known about {number}?"}]
                body = {"model": "fake", "messages": messages}
                async with (
                    places,
                    client.post(f"{url}/v1/chat/completions", json=body) as answer,
                ):
                    assert answer.status == 200, await answer.text()

            await asyncio.gather(*map(ask, range(-clients, 0)))
            begun = time.perf_counter()
            await asyncio.gather(*map(ask, range(requests)))
            return requests / (time.perf_counter() - begun)

    with served(latency, k, source) as (gateway, _):
        return asyncio.run(measure(gateway))


# The first is the default.
PANELS: dict[str, tuple[str, ...]] = {
    f"k = {K} and the default panel": (),
    f"k = {K} and the panel in two waves": ("--panel-waves", "2"),
    f"k = {K} and the panel, separately": ("--panel-mode", "separate"),
}


def its_hub_figures() -> dict[str, float] | None:
    """The figures of its_hub's best-of-N with a judge, None where it is not installed."""
    python = os.environ.get(ITS_HUB_PYTHON, "")
    if not python:
        return None
    options = {
        "question": MESSAGES[0]["content"],
        "k": K,
        "sequential": SEQUENTIAL,
        "requests": REQUESTS,
        "clients": CLIENTS,
    }
    script = Path(__file__).with_name("its_hub_client.py")
    with started("-m", "tests.fakes.fast_server", str(LATENCY)) as port:
        command = [python, str(script), f"http://127.0.0.1:{port}", json.dumps(options)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    figures: dict[str, float] = json.loads(output.splitlines()[-1])
    return figures


def rates_by_processes() -> Table:
    """Requests per second with one process and with two, measured in turn.

    The backend answers at once and a judge decides among few answers, so that it is the gateway
    that limits the rate, as far as there are cores beside those of the clients and the backend.
    """
    rates: dict[int, list[float]] = {1: [], 2: []}
    body: dict[str, Any] = {"model": "fake", "messages": MESSAGES, "darc": {"k": 2}}
    for _ in range(PROCESS_ROUNDS):
        for processes, found in rates.items():
            options = ("--processes", str(processes))
            with served(0.0, 2, more=options) as (gateway, backend):
                found.append(asyncio.run(measured(gateway, backend, body))["rate"])
    medians = {processes: statistics.median(found) for processes, found in rates.items()}
    rows: list[list[object]] = [
        [processes, f"{medians[processes]:.1f}", " ".join(f"{rate:.1f}" for rate in found)]
        for processes, found in rates.items()
    ]
    load = " ".join(f"{value:.1f}" for value in os.getloadavg())
    note = (
        f"two processes answer {medians[2] / medians[1]:.2f} times as many; {os.cpu_count()} "
        f"cores, which clients and backend share; load average at the end {load}"
    )
    title = f"a backend that answers at once, k = 2 and a judge, {CLIENTS} clients"
    return Table(title, ["processes", "requests/s", "each round"], rows, note)


def run() -> list[Table]:
    with served(LATENCY, K) as (gateway, backend):
        body: dict[str, Any] = {"model": "fake", "messages": MESSAGES}
        direct = asyncio.run(measured(backend, backend, body))
        passed = asyncio.run(measured(gateway, backend, {**body, "darc": {"k": 1}}))
        chosen = asyncio.run(measured(gateway, backend, body))
    figures = {"direct": direct, "pass-through, k = 1": passed, f"k = {K} and a judge": chosen}
    for name, options in PANELS.items():
        with served(LATENCY, K, panel=options) as (gateway, backend):
            figures[name] = asyncio.run(measured(gateway, backend, body))
    its_hub = its_hub_figures()
    if its_hub is not None:
        figures[f"its_hub, best of {K} and a judge"] = its_hub
    default_panel = figures[next(iter(PANELS))]
    rows: list[list[object]] = [
        [name, *(f"{row[key]:.1f}" for key in ("p50", "p95", "rate", "calls"))]
        for name, row in figures.items()
    ]
    added = passed["p50"] - direct["p50"]
    notes = [
        _at_most("pass-through adds (ms)", added, GOALS["added"]),
        _at_most(f"k = {K} p50 (ms)", chosen["p50"], GOALS["chosen"]),
        f"k = {K} {chosen['rate']:.1f} requests/s, goal at least {GOALS['rate']:g}: "
        + _verdict(chosen["rate"] >= GOALS["rate"]),
        _at_most("panel p50 (ms)", default_panel["p50"], PANEL_GOALS["p50"]),
        _at_most("panel calls", default_panel["calls"], PANEL_GOALS["calls"]),
    ]
    if its_hub is None:
        notes.append("its_hub is not installed (make bench-gateway installs it)")
    title = (
        f"a backend of {LATENCY * 1000:.0f} ms per call: {SEQUENTIAL} requests one by one, "
        f"{REQUESTS} from {CLIENTS} clients"
    )
    header = ["", "p50 ms", "p95 ms", "requests/s", "backend calls"]
    note = "; ".join(notes) + f"; {os.cpu_count()} cores, client and backend included"
    return [Table(title, header, rows, note), rates_by_processes()]


def _at_most(name: str, value: float, limit: float) -> str:
    return f"{name} {value:.1f}, goal at most {limit:g}: {_verdict(value <= limit)}"


def _verdict(met: bool) -> str:
    return "met" if met else "not met"


def _ready(url: str) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/readyz"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{url} does not become ready")
