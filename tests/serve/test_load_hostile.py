"""A real gateway process before a backend that sets cookies, floods, and must not be left."""

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer, Fault
from tests.serve.running import QUESTION, raw_request
from tests.serve.test_proxy import ESCAPES

pytestmark = pytest.mark.load

ROUNDS = 20
CLIENTS = 16
BODY: dict[str, Any] = {"model": "fake", "messages": QUESTION}
BIG = Fault("flood", content=b" " * 1_000_000, times=300)


@contextmanager
def serving(backend: FakeServer, log: Path, *options: str) -> Iterator[tuple[int, int]]:
    """The port and the process of `darc serve`."""
    command = [
        sys.executable, "-m", "darc", "serve", "--port", "0", "--backend", backend.url, "-k", "2",
        "--n-aug", "1", "--scorer", "form", "--no-guard", "--attempts", "1", *options,
    ]  # fmt: skip
    with log.open("w") as errors:
        environment = {**os.environ, "OPENAI_API_KEY": "sk-of-the-backend"}
        process = subprocess.Popen(command, stderr=errors, env=environment)
    deadline = time.monotonic() + 60
    try:
        while not (found := re.search(r"base URL http://127.0.0.1:(\d+)/v1", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield int(found[1]), process.pid
    finally:
        process.terminate()
        assert process.wait(30) in (0, -15, 143)


def memory(process: int) -> int:
    """The most kilobytes that a process has held."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if "VmHWM" in line).split()[1])


async def asked(url: str, bodies: list[dict[str, Any]]) -> list[httpx.Response]:
    places = asyncio.Semaphore(CLIENTS)
    async with httpx.AsyncClient(timeout=120) as client:

        async def one(body: dict[str, Any]) -> httpx.Response:
            async with places:
                return await client.post(url, json=body)

        return await asyncio.gather(*map(one, bodies))


def test_paths_cookies_and_floods(openai_server: FakeServer, tmp_path: Path) -> None:
    log = tmp_path / "log"
    openai_server.cookies = "session=evil; Path=/"
    with serving(openai_server, log) as (port, process):
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        for target in ESCAPES * ROUNDS:
            assert raw_request(port, target).split(b" ", 2)[1] in (b"400", b"404")
        assert set(openai_server.paths) <= {"/v1/models"}
        kinds: list[dict[str, Any]] = [
            {},
            {"temperature": 0},
            {"stream": True},
            {"temperature": 0, "stream": True},
        ]
        answers = asyncio.run(asked(url, [{**BODY, **kind} for kind in kinds * ROUNDS]))
        assert {answer.status_code for answer in answers} == {200}
        assert not any("set-cookie" in answer.headers for answer in answers)
        assert not any("cookie" in each.headers for each in openai_server.received)
        # The gateway itself asks which models the backend has.
        assert set(openai_server.paths) <= {"/v1/chat/completions", "/v1/models"}
        before = memory(process)
        openai_server.faults = [BIG] * 40
        floods = asyncio.run(asked(url, [BODY, {**BODY, "temperature": 0}] * 4))
        assert {answer.status_code for answer in floods} == {502}
        assert all("max_answer" in answer.text for answer in floods)
        # Eight answers of at most 32 MB at a time, each copied once.
        assert memory(process) - before < 700_000
        openai_server.faults = [Fault("half", 200, content=b"{"), Fault("reset")] * 20
        halves = asyncio.run(asked(url, [BODY, {**BODY, "temperature": 0}] * 4))
        assert {answer.status_code for answer in halves} == {502}
        openai_server.faults = []
        assert httpx.post(url, json=BODY, timeout=60).status_code == 200
    text = log.read_text()
    assert "Traceback" not in text
    assert "sk-of-the-backend" not in text
