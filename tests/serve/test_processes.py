"""Several processes that answer requests together, killed and told to stop."""

import asyncio
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fakes import FakeServer
from tests.serve.grading import make_grading
from tests.serve.running import read_audit
from tests.serve.served import Served, served, wait_until

from darc.decide.model.calibration import Calibration
from darc.decide.model.calibration_file import Calibrations
from darc.models.installed import Installed
from darc.web.keys import make_key

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has one process only")

TWO = ("--processes", "2", "--workers", "0", "--log-level", "info")
QUESTION = [{"role": "user", "content": "Why are there two tides?"}]
CHAT = {"model": "m", "messages": QUESTION}
ONE = {**CHAT, "darc": {"k": 1}}
SCORES = {"scores": [[1, 2, 3], [2, 2, 2]]}


async def post_all(
    url: str, count: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> list[int]:
    """The statuses of many requests at the same time, each on a connection of its own.

    The status is 0 where the connection broke.
    """

    async def post(number: int) -> int:
        try:
            async with httpx.AsyncClient() as client:
                request_id = {"x-request-id": f"request-{number}", **(headers or {})}
                return (
                    await client.post(url, json=body, headers=request_id, timeout=60)
                ).status_code
        except httpx.TransportError:
            return 0

    return list(await asyncio.gather(*map(post, range(count))))


def requests_counted(gateway: Served, path: str, status: int = 200) -> float:
    return gateway.metrics().get(("darc_requests_total", path, str(status)), 0.0)


def finished(gateway: Served, path: str) -> list[dict[str, Any]]:
    return [row for row in gateway.log() if row.get("path") == path]


def test_counts_of_both_processes_are_added_up(openai_server: FakeServer, tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    options = ["--backend", make_grading(openai_server).url, "-k", "2", "--audit", str(audit)]
    with served(*TWO, *options, "--audit-bytes", "60000") as gateway:
        assert len(gateway.workers()) == 2
        url = f"{gateway.url}/v1/chat/completions"
        statuses = []
        for _ in range(4):
            statuses += asyncio.run(post_all(url, 15, CHAT))
        assert statuses == [200] * 60
        wait_until(lambda: requests_counted(gateway, "/v1/chat/completions") == 60)
        for _ in range(6):
            found = gateway.metrics()
            assert found["darc_requests_total", "/v1/chat/completions", "200"] == 60
            assert found["darc_choices_total", "other"] == 60
            assert found["darc_stage_seconds_count", "total"] == 60
            assert found["darc_request_calls_count", "other"] == 60
        wait_until(lambda: gateway.metrics()["darc_processes",] == 2)
        wait_until(lambda: gateway.metrics()["darc_requests_running",] == 0)
    assert (tmp_path / "audit.jsonl.1").exists()
    assert len(read_audit(audit)) == 60


@pytest.mark.slow
def test_limits_hold_over_both_processes(openai_server: FakeServer, tmp_path: Path) -> None:
    openai_server.latency = 0.2
    keys = tmp_path / "keys.jsonl"
    limited = {"authorization": f"Bearer {make_key(keys, 'limited', rate=30)}"}
    other = {"authorization": f"Bearer {make_key(keys, 'other')}"}
    options = ["--backend", openai_server.url, "--api-keys", str(keys), "--active", "3"]
    gateway = Served(*TWO, *options)
    try:
        gateway.ready()
        began = time.monotonic()
        url = f"{gateway.url}/v1/select"
        statuses = Counter(asyncio.run(post_all(url, 90, SCORES, limited)))
        refilled = (time.monotonic() - began) / 2 + 1
        assert set(statuses) == {200, 429}
        assert 30 <= statuses[200] <= 30 + refilled
        url = f"{gateway.url}/v1/chat/completions"
        assert asyncio.run(post_all(url, 12, ONE, other)) == [200] * 12
        # Two processes that did not share the limit would make 6 calls at a time. The fake counts a
        # call until its answer is sent, when the next one may have begun.
        assert openai_server.busiest < 6
    finally:
        gateway.stop()


@pytest.mark.slow
def test_a_killed_process_loses_only_what_it_was_doing(openai_server: FakeServer) -> None:
    openai_server.latency = 1.0
    with served(*TWO, "--backend", openai_server.url) as gateway:
        url = f"{gateway.url}/v1/chat/completions"
        victim, survivor = gateway.workers()

        async def kill_meanwhile() -> list[int]:
            asking = asyncio.create_task(post_all(url, 30, ONE))
            await asyncio.sleep(0.6)
            os.kill(victim, signal.SIGKILL)
            return await asking

        statuses = Counter(asyncio.run(kill_meanwhile()))
        assert set(statuses) <= {0, 200}
        wait_until(lambda: len(finished(gateway, "/v1/chat/completions")) == statuses[200])
        wait_until(lambda: len(gateway.workers()) == 2)
        assert survivor in gateway.workers()
        assert victim not in gateway.workers()
        wait_until(lambda: gateway.metrics()["darc_processes",] == 2)
        # Nothing of the killed process counts as running.
        assert gateway.metrics()["darc_requests_running",] == 0
        openai_server.latency = 0.0
        assert asyncio.run(post_all(url, 30, ONE)) == [200] * 30
        total = statuses[200] + 30
        wait_until(lambda: requests_counted(gateway, "/v1/chat/completions") == total)
        errors = [row["message"] for row in gateway.log() if row["level"] == "error"]
        assert [str(victim) in error for error in errors] == [True]


@pytest.mark.slow
def test_places_of_a_killed_process_are_free_again(openai_server: FakeServer) -> None:
    openai_server.latency = 5.0
    with served(*TWO, "--backend", openai_server.url, "--active", "2") as gateway:
        url = f"{gateway.url}/v1/chat/completions"

        async def kill_all_meanwhile() -> list[int]:
            asking = asyncio.create_task(post_all(url, 2, ONE))
            while openai_server.busy < 2:
                await asyncio.sleep(0.02)
            for worker in gateway.workers():
                os.kill(worker, signal.SIGKILL)
            return await asking

        assert asyncio.run(kill_all_meanwhile()) == [0, 0]
        openai_server.latency = 0.0
        gateway.ready()
        assert asyncio.run(post_all(url, 8, ONE)) == [200] * 8


@pytest.mark.slow
def test_requests_end_before_the_processes_do(openai_server: FakeServer) -> None:
    openai_server.latency = 5.0
    gateway = Served(*TWO, "--backend", openai_server.url)
    try:
        gateway.ready()

        async def stop_meanwhile() -> list[int]:
            url = f"{gateway.url}/v1/chat/completions"
            asking = asyncio.create_task(post_all(url, 20, ONE))
            # All requests run; a connection that nobody has accepted yet would be lost.
            while openai_server.busy < 20:
                await asyncio.sleep(0.02)
            gateway.tell(signal.SIGTERM)
            return await asking

        assert asyncio.run(stop_meanwhile()) == [200] * 20
    finally:
        code = gateway.stop()
    assert code == 0


@pytest.mark.slow
def test_both_processes_read_their_files_again(openai_server: FakeServer, tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    calibrations = [Calibration(lam=1.0), Calibration(lam=3.0)]
    Calibrations({"": calibrations[0]}).save(path)
    options = ["--backend", make_grading(openai_server).url, "-k", "2", "--rule", "auto"]
    with served(*TWO, *options, "--calibration", str(path)) as gateway:

        def names() -> set[str]:
            async def ask() -> list[httpx.Response]:
                clients = [httpx.AsyncClient() for _ in range(12)]
                posts = [
                    client.post(f"{gateway.url}/v1/select", json=SCORES, timeout=60)
                    for client in clients
                ]
                answers = await asyncio.gather(*posts)
                await asyncio.gather(*(client.aclose() for client in clients))
                return answers

            return {answer.json()["parameters"]["calibration"] for answer in asyncio.run(ask())}

        assert names() == {calibrations[0].name}
        Calibrations({"": calibrations[1]}).save(path)
        gateway.tell(signal.SIGHUP)
        wait_until(lambda: gateway.metrics().get(("darc_reloads_total", "done")) == 2)
        assert names() == {calibrations[1].name}
        # A file that cannot be used changes nothing, not even for a process that begins now.
        path.write_text("{")
        gateway.tell(signal.SIGHUP)
        wait_until(lambda: any(row["level"] == "error" for row in gateway.log()))
        victim = gateway.workers()[0]
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: victim not in gateway.workers() and len(gateway.workers()) == 2)
        wait_until(lambda: gateway.metrics()["darc_processes",] == 2)
        assert names() == {calibrations[1].name}


@pytest.mark.slow
def test_processes_end_with_the_one_that_looks_after_them(openai_server: FakeServer) -> None:
    gateway = Served(*TWO, "--backend", openai_server.url)
    try:
        gateway.ready()
        workers = gateway.workers()
        gateway.process.kill()
        gateway.process.wait(20)
        wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), 30)
    finally:
        gateway.stop()


@pytest.mark.slow
def test_interrupting_stops_all(openai_server: FakeServer) -> None:
    gateway = Served(*TWO, "--backend", openai_server.url)
    try:
        gateway.ready()
        workers = gateway.workers()
        os.killpg(gateway.process.pid, signal.SIGINT)
        assert gateway.process.wait(30) == 130
    finally:
        gateway.stop()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    assert not any("Traceback" in line for line in gateway.lines)


def test_the_embedded_model_answers_in_each_process(
    installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(installed.path.parents[2]))
    options = ["--generator", "embedded", "-k", "2", "--n-aug", "0", "--scorer", "form"]
    options += ["--max-tokens", "8"]
    with served(*TWO, *options) as gateway:
        url = f"{gateway.url}/v1/chat/completions"
        assert asyncio.run(post_all(url, 4, CHAT)) == [200] * 4
        assert gateway.metrics()["darc_choices_total", "other"] == 4
