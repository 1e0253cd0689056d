"""Limits that hold over several processes, here several maps of the same file."""

import asyncio
import multiprocessing
import sys
import time
from pathlib import Path

import pytest

from darc.web.problems import Problem
from darc.web.shared_client_limits import SharedClientLimits
from darc.web.shared_gate import SharedGate
from darc.web.shared_table import SharedTable

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no fcntl")


def gates(path: Path, running: int, waiting: int) -> list[SharedGate]:
    return [SharedGate(path, 2, place, running, waiting) for place in range(2)]


def clients(path: Path, now: list[float]) -> list[SharedClientLimits]:
    return [SharedClientLimits(path, 2, place, lambda: now[0]) for place in range(2)]


def hold_for_ever(path: Path) -> None:
    with SharedTable(path, "u4", 4).locked() as rows:
        rows[0] = 7
        time.sleep(60)


def test_a_killed_process_leaves_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "table"
    table = SharedTable(path, "u4", 4)
    process = multiprocessing.get_context("spawn").Process(target=hold_for_ever, args=(path,))
    process.start()
    try:
        while not table.rows[0]:
            assert process.is_alive()
            time.sleep(0.01)
        process.kill()
        with table.locked() as rows:
            assert rows.tolist() == [7, 0, 0, 0]
    finally:
        process.kill()
        process.join()


def test_requests_per_minute_are_counted_together(tmp_path: Path) -> None:
    now = [100.0]
    one, other = clients(tmp_path / "clients", now)
    assert [one.count_request("a", 2), other.count_request("a", 2)] == [0, 0]
    assert one.count_request("a", 2) == other.count_request("a", 2) == 30
    assert one.count_request("b", 2) == 0
    now[0] = 130.0
    assert other.count_request("a", 2) == 0
    assert one.count_request("a", 2) > 0
    assert one.count_request("a", 0) == 0


def test_requests_at_a_time_are_counted_together(tmp_path: Path) -> None:
    one, other = clients(tmp_path / "clients", [1.0])
    assert one.begin("a", 2)
    assert other.begin("a", 2)
    assert not one.begin("a", 2)
    assert one.begin("b", 1)
    other.end("a")
    assert one.begin("a", 2)
    one.forget_process(0)
    assert other.begin("a", 2)
    assert other.begin("a", 2)
    assert not other.begin("a", 2)


def test_clients_that_run_are_remembered_among_many(tmp_path: Path) -> None:
    now = [1.0]
    (limits, _) = clients(tmp_path / "clients", now)
    assert limits.begin("busy", 1)
    for number in range(50_000):
        now[0] += 0.001
        limits.count_request(f"client-{number}", 10)
    assert not limits.begin("busy", 1)


def test_places_are_shared(tmp_path: Path) -> None:
    async def run() -> None:
        one, other = gates(tmp_path / "gate", 2, 1)
        async with one, other:
            assert (one.running, other.running) == (1, 1)
            waiting = asyncio.create_task(one.__aenter__())
            await asyncio.sleep(0.05)
            assert (one.waiting, waiting.done()) == (1, False)
            with pytest.raises(Problem) as refused:
                await other.__aenter__()
            assert refused.value.status == 429
        await asyncio.wait_for(waiting, 5)
        assert (one.running, one.waiting) == (1, 0)
        await one.__aexit__()
        assert one.running == 0

    asyncio.run(run())


def test_a_request_that_gives_up_waits_no_longer(tmp_path: Path) -> None:
    async def run() -> None:
        one, other = gates(tmp_path / "gate", 1, 5)
        async with one:
            waiting = asyncio.create_task(other.__aenter__())
            await asyncio.sleep(0.05)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert other.waiting == 0
        async with other:
            assert other.running == 1

    asyncio.run(run())


def test_places_of_a_process_that_ended_are_free(tmp_path: Path) -> None:
    async def run() -> None:
        one, other = gates(tmp_path / "gate", 1, 5)
        await one.__aenter__()
        other.forget_process(0)
        await asyncio.wait_for(other.__aenter__(), 5)

    asyncio.run(run())


def test_never_more_run_than_may(tmp_path: Path) -> None:
    async def run() -> None:
        both = gates(tmp_path / "gate", 3, 100)
        most = 0

        async def hold(number: int) -> None:
            nonlocal most
            async with both[number % 2]:
                most = max(most, both[0].running + both[1].running)
                await asyncio.sleep(0.001)

        await asyncio.gather(*map(hold, range(60)))
        assert most == 3
        assert both[0].running == both[1].running == both[0].waiting == both[1].waiting == 0

    asyncio.run(run())
