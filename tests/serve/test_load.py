"""Two thousand requests through a backend that fails in every way: nothing breaks or leaks."""

import asyncio
import gc
import json
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import Fault
from tests.fakes.fast_server import FastServer
from tests.serve.running import QUESTION, Running, parts

from darc.serve.settings import ServeSettings

REQUESTS = 2000
CLIENTS = 24
SHARE = 0.12
FAULTS = [
    Fault(status=429, headers={"Retry-After": "0"}),
    Fault(status=429),
    Fault(status=500),
    Fault(status=503),
    Fault("reset"),
    Fault("malformed"),
    Fault("hang"),
]
pytestmark = pytest.mark.load


def memory() -> int:
    """Resident kilobytes of this process."""
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if "VmRSS" in line).split()[1])


class Backend:
    """The fast fake server in a thread, failing at random from a seed."""

    def __init__(self) -> None:
        self.failing = True
        self._chance = random.Random(7)
        self.fake = FastServer(0.002, self._fault)
        self.loop = asyncio.new_event_loop()
        started = threading.Event()

        def work() -> None:
            self.loop.run_until_complete(self.fake.start())
            started.set()
            self.loop.run_forever()

        self._thread = threading.Thread(target=work)
        self._thread.start()
        started.wait()

    def _fault(self, _: int) -> Fault | None:
        if not self.failing or self._chance.random() > SHARE:
            return None
        return self._chance.choice(FAULTS)

    async def _end(self) -> None:
        await self.fake.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def request(number: int) -> dict[str, Any]:
    """Every kind of request in turn."""
    body: dict[str, Any] = {"model": "fake", "messages": QUESTION, "darc": {}}
    if number % 5 == 0:
        body["stream"] = True
    if number % 3 == 0:
        body["seed"] = number
    if number % 7 == 0:
        body["darc"]["k"] = 1
    if number % 11 == 0:
        body["darc"]["policy"] = "closed"
    if number % 13 == 0:
        body["darc"]["budget"] = {"milliseconds": 30}
    return body


def check(answer: httpx.Response, streamed: bool) -> int:
    """Fail unless the answer is a whole completion or a whole error."""
    if answer.status_code == 200 and streamed:
        events = [line[6:] for line in answer.text.split("\n") if line.startswith("data: ")]
        if '"error"' in events[-1]:
            assert json.loads(events[-1])["error"]["message"]
            return 599
        assert events[-1] == "[DONE]"
        chunks = [json.loads(event) for event in events[:-1]]
        assert len({chunk["id"] for chunk in chunks}) == 1
        assert any(c["choices"][0]["finish_reason"] for c in chunks if c["choices"])
        return 200
    body = answer.json()
    if answer.status_code == 200:
        assert body["choices"][0]["message"]["content"]
        assert body["usage"]["total_tokens"] > 0
    else:
        assert set(body) == {"error"}, body
        assert body["error"]["message"]
        if body["error"]["code"] == "budget":
            # The client's own limit: a server error would make clients spend it again.
            assert 400 <= answer.status_code < 500, body
        else:
            assert answer.status_code in (429, 500, 502, 503, 504), body
    return answer.status_code


async def soak(url: str, numbers: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    places = asyncio.Semaphore(CLIENTS)
    async with httpx.AsyncClient(timeout=30) as client:

        async def one(number: int) -> None:
            body = request(number)
            async with places:
                if number % 17 == 0:
                    try:
                        await client.post(url, json=body, timeout=0.01)
                    except httpx.TimeoutException:
                        found[0] = found.get(0, 0) + 1
                        return
                answer = await client.post(url, json=body)
            status = check(answer, body.get("stream", False))
            found[status] = found.get(status, 0) + 1

        await asyncio.gather(*(one(number) for number in numbers))
    return found


def test_two_thousand_requests_with_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    backend = Backend()
    judge = f"judge:fake@{backend.fake.url},key_env=,timeout=0.5,concurrency=64"
    settings = ServeSettings(
        backend=(backend.fake.url,),
        k=4,
        parts=parts(scorers=(judge,), n_aug=0),
        attempts=3,
        backend_timeout=0.5,
        wave_timeout=3.0,
        keep_alive=0.5,
        active=CLIENTS,
    )
    gateway = Running(settings)
    url = f"{gateway.url}/v1/chat/completions"
    try:
        backend.failing = False
        asyncio.run(soak(url, range(1, 200)))
        backend.failing = True
        gc.collect()
        before = memory()
        threads = threading.active_count()
        total: dict[int, int] = {}
        begun = time.monotonic()
        for start in range(0, REQUESTS, 500):
            for status, count in asyncio.run(soak(url, range(start, start + 500))).items():
                total[status] = total.get(status, 0) + count
            took = time.monotonic() - begun
            print(f"{took:.0f} s", dict(sorted(total.items())), f"{memory()} kB", flush=True)
        gc.collect()
        assert sum(total.values()) == REQUESTS
        assert total[200] > REQUESTS / 2
        assert gateway.gateway.gate.running == gateway.gateway.gate.waiting == 0
        assert memory() - before < 40_000
        assert threading.active_count() <= threads + 2 * CLIENTS
        backend.failing = False
        calm = [number for number in range(1, 60) if number % 13]
        answers = asyncio.run(soak(url, calm))
        assert answers.get(200, 0) + answers.get(0, 0) == len(calm)
    finally:
        gateway.close()
        # The backend hears of closed connections a moment later.
        deadline = time.monotonic() + 10
        while backend.fake.open and time.monotonic() < deadline:
            time.sleep(0.05)
        left = backend.fake.open
        backend.close()
    assert left == 0
