"""Many refused bodies of 4 MB at the same time: memory and others' waiting are bounded."""

import asyncio
import json
import time
from pathlib import Path

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.test_load_hostile import memory, serving

pytestmark = pytest.mark.load

SIZE = 3_900_000
AT_ONCE = 12
MAX_KILOBYTES = 600_000
MAX_SECONDS = 3.0


def _filled(start: str, item: str, end: str) -> bytes:
    count = (SIZE - len(start) - len(end)) // (len(item) + 1)
    return (start + ",".join([item] * count) + end).encode()


BODIES = [
    ("select", _filled('{"scores":[', "[]", "]}")),
    ("select", _filled('{"scores":[[1],[2]],"raters":[', "1", "]}")),
    ("select", _filled('{"scores":[[1],[2]],"scorers":[', "{}", "]}")),
    ("chat/completions", _filled('{"messages":[', "1", "]}")),
    ("chat/completions", _filled('{"messages":[', "{}", "]}")),
    ("chat/completions", _filled('{"messages":[{"role":"user","content":[', "1", "]}]}")),
    ("select", json.dumps({"scores": [[1, 2]] * 25_000, "darc": {"rule": "borda"}}).encode()),
    ("select", json.dumps({"scores": [[1, 2]] * 25_000, "darc": {"rule": "veto"}}).encode()),
]


async def attack(url: str, path: str, body: bytes) -> float:
    """Send the body several times at once, and return the longest wait of somebody else."""
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(timeout=120) as client:

        async def send() -> int:
            response = await client.post(f"{url}/v1/{path}", content=body, headers=headers)
            return response.status_code

        sending = [asyncio.create_task(send()) for _ in range(AT_ONCE)]
        longest = 0.0
        while not all(task.done() for task in sending):
            started = time.monotonic()
            await client.get(f"{url}/healthz")
            longest = max(longest, time.monotonic() - started)
            await asyncio.sleep(0.02)
        statuses = {task.result() for task in sending}
    assert statuses <= {400, 429}, statuses
    return longest


def test_refused_bodies_take_little_memory_and_stall_nobody(
    openai_server: FakeServer, tmp_path: Path
) -> None:
    with serving(openai_server, tmp_path / "log") as (port, process):
        for path, body in BODIES:
            longest = asyncio.run(attack(f"http://127.0.0.1:{port}", path, body))
            peak = memory(process)
            name = body[:45].decode()
            print(f"{name}: longest healthz {longest:.2f} s, peak {peak // 1000} MB", flush=True)
            assert longest < MAX_SECONDS
            assert peak < MAX_KILOBYTES
    assert "Traceback" not in (tmp_path / "log").read_text()
