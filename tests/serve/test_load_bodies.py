"""Many refused bodies of 4 MB at the same time: memory and others' waiting are bounded."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.test_load_hostile import memory, serving

pytestmark = pytest.mark.load

SIZE = 3_900_000
AT_ONCE = 12
MAX_KILOBYTES = 600_000
MAX_SECONDS = 1.0


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


def _selection(candidates: list[str], **options: Any) -> tuple[str, bytes]:
    body = {"darc": options, "prompt": "Why?", "candidates": candidates}
    return "select", json.dumps(body).encode()


SCORES = [[(place * 31 + rater * 17) % 101 / 10 for rater in range(50)] for place in range(1000)]
LONG = [f"{place} " + f"word{place} " * 8500 for place in range(60)]
EXPENSIVE = [
    *(_selection(LONG, rule=rule, n_aug=0) for rule in ("majority", "mbr")),
    *(
        _selection([piece * (60_000 // len(piece)), "The Moon does it."], rule="epsilon", n_aug=8)
        for piece in ("a.", "{", "isn't ", "e\u0301\u0302", "**a ", "# a\n")
    ),
    *(
        ("select", json.dumps({"darc": {"rule": rule}, "scores": SCORES}).encode())
        for rule in ("borda", "veto", "leximin", "nash")
    ),
]


async def attack(url: str, path: str, body: bytes, at_once: int, expected: set[int]) -> float:
    """Send the body several times at once, and return the longest wait of somebody else."""
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(timeout=300) as client:

        async def send() -> int:
            response = await client.post(f"{url}/v1/{path}", content=body, headers=headers)
            return response.status_code

        sending = [asyncio.create_task(send()) for _ in range(at_once)]
        longest = 0.0
        while not all(task.done() for task in sending):
            started = time.monotonic()
            await client.get(f"{url}/healthz")
            longest = max(longest, time.monotonic() - started)
            await asyncio.sleep(0.02)
        statuses = {task.result() for task in sending}
    assert statuses <= expected, statuses
    return longest


def attack_all(
    backend: FakeServer, log: Path, bodies: list[tuple[str, bytes]], at_once: int, status: int
) -> None:
    """Send each body to a gateway, and check what it costs."""
    with serving(backend, log) as (port, process):
        url = f"http://127.0.0.1:{port}"
        for path, body in bodies:
            longest = asyncio.run(attack(url, path, body, at_once, {status, 429}))
            peak = memory(process)
            name = body[:45].decode()
            print(f"{name}: longest healthz {longest:.2f} s, peak {peak // 1000} MB", flush=True)
            assert longest < MAX_SECONDS
            assert peak < MAX_KILOBYTES
    assert "Traceback" not in log.read_text()


def test_refused_bodies_take_little_memory_and_stall_nobody(
    openai_server: FakeServer, tmp_path: Path
) -> None:
    attack_all(openai_server, tmp_path / "log", BODIES, AT_ONCE, 400)


def test_expensive_choices_take_little_memory_and_stall_nobody(
    openai_server: FakeServer, tmp_path: Path
) -> None:
    attack_all(openai_server, tmp_path / "log", EXPENSIVE, 1, 200)
