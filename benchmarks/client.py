"""What a call to a server of 50 ms costs this process: CPU per call, and calls per second."""

import asyncio
import json
import os
import sys
import time
from typing import Any

from benchmarks.gateway import started
from benchmarks.report import Table
from darc.models.remote.client import AsyncClient

LATENCY = 0.05
GOAL = 0.5
REPEATS = 3
CALLS = {32: 640, 512: 5120}
PATH = "/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "Why are there two tides a day?"}]}


def _choices(answer: Any) -> Any:
    return answer["choices"]


async def measured(url: str, concurrency: int, calls: int) -> tuple[float, float]:
    """Milliseconds of CPU per call, and calls per second."""
    async with AsyncClient(f"{url}/v1", key_env="", concurrency=concurrency) as client:

        async def ask(_: int) -> Any:
            if hasattr(client, "ask"):
                return await client.ask(PATH, _choices, BODY)
            # The first version, which is measured beside this one.
            return await client.post(PATH, BODY, _choices)  # type: ignore[attr-defined]

        await asyncio.gather(*map(ask, range(concurrency)))
        cpu = time.process_time()
        begun = time.perf_counter()
        await asyncio.gather(*map(ask, range(calls)))
        return (
            (time.process_time() - cpu) * 1000 / calls,
            calls / (time.perf_counter() - begun),
        )


def run() -> list[Table]:
    rows: list[list[object]] = []
    with started("-m", "tests.fakes.fast_server", str(LATENCY)) as port:
        for concurrency, calls in CALLS.items():
            # The least of several: what else runs on the machine only adds.
            measurements = [
                asyncio.run(measured(f"http://127.0.0.1:{port}", concurrency, calls))
                for _ in range(REPEATS)
            ]
            cpu = min(milliseconds for milliseconds, _ in measurements)
            rate = max(per_second for _, per_second in measurements)
            rows.append([concurrency, f"{cpu:.2f}", f"{rate:.0f}"])
    # The last row is the one with the most calls at a time.
    verdict = "met" if cpu <= GOAL else "not met"
    goal = f"goal at most {GOAL} ms at {rows[-1][0]}: {verdict}"
    note = f"{goal}; {os.cpu_count()} cores, with the server"
    title = f"calls to a server of {LATENCY * 1000:.0f} ms, best of {REPEATS}"
    return [Table(title, ["calls at a time", "CPU ms per call", "calls/s"], rows, note)]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
