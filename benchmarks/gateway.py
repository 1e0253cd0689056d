"""What the gateway adds to a backend that takes 50 ms a call: latency, throughput, calls."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import Table

LATENCY, K = 0.05, 8
SEQUENTIAL, REQUESTS, CLIENTS = 40, 64, 32
MESSAGES = [{"role": "user", "content": "Why are there two tides a day?"}]
GOALS = {"added": 5.0, "chosen": 120.0, "rate": 60.0}


@contextlib.contextmanager
def started(*command: str, source: Path | None = None) -> Iterator[Any]:
    """A process of its own, whose first line on standard output or error is read.

    `source` has the package that it is to use.
    """
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)} if source else None,
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
    """Milliseconds of one request after the other, and requests a second of many."""
    import aiohttp

    connector, wait = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(60)
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
        each = (calls(backend) - before) / SEQUENTIAL
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
        "calls": each,
    }


@contextlib.contextmanager
def served(latency: float, k: int, source: Path | None = None) -> Iterator[tuple[str, str]]:
    """The addresses of a gateway with a judge, and of the backend that both use."""
    with started("-m", "tests.fakes.fast_server", str(latency)) as port:
        backend = f"http://127.0.0.1:{port}"
        judge = f"judge:fake@{backend},concurrency=512,key_env="
        command = (
            "-m", "darc", "serve", "--port", "0", "--backend", backend, "--scorer", judge,
            "-k", str(k), "--n-aug", "0", "--rule", "mean", "--no-guard", "--concurrency", "512",
        )  # fmt: skip
        with started(*command, source=source) as told:
            gateway = told.rpartition(" ")[2].removesuffix("/v1")
            _ready(gateway)
            yield gateway, backend


def rate(source: Path, *, latency: float, k: int, clients: int, requests: int) -> float:
    """Requests a second that the gateway of some version answers."""
    import aiohttp

    async def measure(url: str) -> float:
        connector, wait = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(300)
        places = asyncio.Semaphore(clients)
        async with aiohttp.ClientSession(connector=connector, timeout=wait) as client:

            async def ask(number: int) -> None:
                said = [{"role": "user", "content": f"What is known about {number}?"}]
                body = {"model": "fake", "messages": said}
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


def run() -> list[Table]:
    with served(LATENCY, K) as (gateway, backend):
        body: dict[str, Any] = {"model": "fake", "messages": MESSAGES}
        found = {
            "direct": asyncio.run(measured(backend, backend, body)),
            "pass-through, k = 1": asyncio.run(
                measured(gateway, backend, {**body, "darc": {"k": 1}})
            ),
            f"k = {K} and a judge": asyncio.run(measured(gateway, backend, body)),
        }
    rows: list[list[object]] = [
        [name, *(f"{row[key]:.1f}" for key in ("p50", "p95", "rate", "calls"))]
        for name, row in found.items()
    ]
    direct, passed, chosen = found.values()
    goals = [
        ("pass-through adds", passed["p50"] - direct["p50"], "ms", GOALS["added"], True),
        (f"k = {K} p50", chosen["p50"], "ms", GOALS["chosen"], True),
        (f"k = {K} throughput", chosen["rate"], "requests/s", GOALS["rate"], False),
    ]
    notes = [
        f"{name} {number:.1f} {unit}, goal {'at most' if below else 'at least'} {goal:g}: "
        + ("met" if (number <= goal) == below else "not met")
        for name, number, unit, goal, below in goals
    ]
    title = (
        f"a backend of {LATENCY * 1000:.0f} ms a call: {SEQUENTIAL} requests one by one, "
        f"{REQUESTS} from {CLIENTS} clients"
    )
    header = ["", "p50 ms", "p95 ms", "requests/s", "backend calls"]
    note = "; ".join(notes) + f"; {os.cpu_count()} cores, client and backend included"
    return [Table(title, header, rows, note)]


def _ready(url: str) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/readyz"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{url} does not become ready")
