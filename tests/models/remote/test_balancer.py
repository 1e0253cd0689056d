import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.clock import FakeClock

from darc.errors import DarcError
from darc.models.remote.balancer import FailedAttempt, LoadBalancer, PlacedCall
from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import CircuitOpen, Rejected, Unreachable
from darc.models.remote.retry import RetryClock, RetryPolicy


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakeServer]]:
    pytest.importorskip("aiohttp")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ExitStack() as stack:
        yield [stack.enter_context(FakeServer()) for _ in range(3)]


def make(servers: list[FakeServer], clock: FakeClock | None = None, **options: Any) -> AsyncClient:
    urls = "|".join(server.url for server in servers)
    return AsyncClient(urls, clock=(clock or FakeClock()).clock, **options)


async def ask(client: AsyncClient) -> Any:
    return await client.ask("/plain", lambda answer: answer["scores"], {"pairs": []})


def run(client: AsyncClient, times: int, meanwhile: Callable[[int], None] | None = None) -> int:
    """How many of so many calls at once give an answer."""
    done = 0

    async def one() -> None:
        nonlocal done
        await ask(client)
        done += 1
        if meanwhile is not None:
            meanwhile(done)

    async def main() -> None:
        async with client:
            await asyncio.gather(*(one() for _ in range(times)))

    asyncio.run(main())
    return done


def counts(servers: list[FakeServer]) -> list[int]:
    return [len(server.received) for server in servers]


def test_calls_are_spread_evenly(servers: list[FakeServer]) -> None:
    for server in servers:
        server.latency = 0.02
    run(make(servers, concurrency=4), 30)
    assert sum(counts(servers)) == 30
    assert max(counts(servers)) - min(counts(servers)) <= 6
    assert [server.busiest for server in servers] == [4, 4, 4]


def test_calls_one_by_one_take_turns(servers: list[FakeServer]) -> None:
    async def main() -> None:
        async with make(servers) as client:
            for _ in range(9):
                await ask(client)

    asyncio.run(main())
    assert counts(servers) == [3, 3, 3]


def test_slow_server_gets_less(servers: list[FakeServer]) -> None:
    slow, *quick = servers
    slow.latency = 0.4
    for server in quick:
        server.latency = 0.02
    run(make(servers, concurrency=4), 60)
    assert slow.busiest <= 4
    assert len(slow.received) < min(counts(quick)) / 2


def test_server_that_dies_is_left_alone_and_comes_back(servers: list[FakeServer]) -> None:
    dying, *others = servers
    port = dying.port
    clock = FakeClock()
    client = make(servers, clock, concurrency=2, breaker=BreakerSettings(3, 30.0))

    async def all_of(times: int) -> None:
        await asyncio.gather(*(ask(client) for _ in range(times)))

    async def main() -> None:
        async with client:
            await all_of(12)
            assert min(counts(servers)) > 0
            dying.close()
            await all_of(40)
            assert client.urls_in_use() == [server.url for server in others]
            before = counts(others)
            await all_of(10)
            assert sum(counts(others)) == sum(before) + 10
            clock.time += 31
            with FakeServer(port) as back:
                for _ in range(3):
                    await all_of(12)
                assert len(back.received) > 6
            # Trying elsewhere needs no pause.
            assert clock.slept == []

    asyncio.run(main())


def test_retries_go_elsewhere_and_are_counted_together(servers: list[FakeServer]) -> None:
    for server in servers:
        server.faults = [Fault(status=503)] * 9
    clock = FakeClock()
    with pytest.raises(DarcError, match=r"answered 503: it broke \(6 attempts at") as caught:
        run(make(servers, clock), 1)
    assert counts(servers) == [2, 2, 2]
    assert clock.slept == [0.5] * 3
    for server in servers:
        assert server.url in str(caught.value)


def test_time_to_come_back_is_waited_for_only_if_nobody_else_can(servers: list[FakeServer]) -> None:
    busy, other = servers[:2]
    busy.faults = [Fault(status=429, headers={"Retry-After": "3600"})]
    other.faults = [Fault("reset")]
    clock = FakeClock()
    assert run(make([busy, other], clock), 1) == 1
    assert counts([busy, other]) == [1, 2]
    assert clock.slept == [0.5]


def test_retry_waits_for_a_place_elsewhere() -> None:
    async def main() -> None:
        balancer = LoadBalancer(["a", "b", "c"], 1, BreakerSettings(), RetryClock())
        calls = [PlacedCall() for _ in range(3)]
        a, b, c = [await balancer.acquire(call) for call in calls]
        first, second, third = calls
        first.failures += [FailedAttempt(c, 3600.0), FailedAttempt(a, None)]
        assert balancer.next_endpoint(first) is b
        balancer.release(first, Unreachable(""))
        waiting = asyncio.create_task(balancer.acquire(first))
        other = asyncio.create_task(balancer.acquire(PlacedCall()))
        await asyncio.sleep(0)
        assert await other is a
        balancer.release(third, None)
        assert not waiting.done()
        balancer.release(second, None)
        assert await waiting is b

    asyncio.run(main())


def test_all_down(servers: list[FakeServer]) -> None:
    for server in servers:
        server.close()
    client = make(servers, retry=RetryPolicy(attempts=3), breaker=BreakerSettings(1, 60.0))
    with pytest.raises(Unreachable, match=r"\(3 attempts at "):
        run(client, 1)
    assert not client.ready()
    with pytest.raises(CircuitOpen, match=r"have failed 1 calls in a row; .* in 60 s") as caught:
        run(client, 1)
    assert all(server.url in str(caught.value) for server in servers)
    assert caught.value.retry_after == 60.0


def test_refusal_is_told_by_whom_and_not_tried_elsewhere(servers: list[FakeServer]) -> None:
    servers[0].faults = [Fault(status=400)]
    with pytest.raises(Rejected, match=servers[0].url):
        run(make(servers), 1)
    assert counts(servers) == [1, 0, 0]


def test_places_are_given_in_turn_and_given_back_by_who_leaves() -> None:
    async def main() -> None:
        balancer = LoadBalancer(["a", "b"], 1, BreakerSettings(), RetryClock())
        calls = [PlacedCall() for _ in range(5)]
        first, second = [await balancer.acquire(call) for call in calls[:2]]
        assert {first.url, second.url} == {"a", "b"}
        waiting = [asyncio.create_task(balancer.acquire(call)) for call in calls[2:]]
        await asyncio.sleep(0)
        waiting[0].cancel()
        balancer.release(calls[0], None)
        # It was woken, and is cancelled before it runs: its place goes to the next.
        waiting[1].cancel()
        assert await waiting[2] is first
        balancer.release(calls[4], None)
        balancer.release(calls[1], None)
        assert [endpoint.running for endpoint in balancer.endpoints] == [0, 0]

    asyncio.run(main())


def test_who_waits_is_told_when_all_are_left_alone() -> None:
    async def main() -> None:
        balancer = LoadBalancer(["a"], 1, BreakerSettings(threshold=1), RetryClock())
        call = PlacedCall()
        await balancer.acquire(call)
        waiting = asyncio.create_task(balancer.acquire(PlacedCall()))
        await asyncio.sleep(0)
        balancer.release(call, Unreachable("a cannot be reached"))
        with pytest.raises(CircuitOpen):
            await waiting

    asyncio.run(main())


def test_one_call_tries_a_server_out() -> None:
    async def main() -> None:
        balancer = LoadBalancer(["a"], 9, BreakerSettings(1, 10.0), clock.clock)
        calls = [PlacedCall() for _ in range(4)]
        await balancer.acquire(calls[0])
        assert not calls[0].is_probe
        balancer.release(calls[0], Unreachable(""))
        clock.time = 11.0
        await balancer.acquire(calls[1])
        assert calls[1].is_probe
        with pytest.raises(CircuitOpen, match="in 0 s"):
            await balancer.acquire(calls[2])
        balancer.release(calls[1], None)
        await balancer.acquire(calls[3])
        assert not calls[3].is_probe

    clock = FakeClock()
    asyncio.run(main())
