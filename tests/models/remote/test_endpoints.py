import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.clock import FakeClock

from darc.errors import DarcError, InputError
from darc.models.remote.client import AsyncClient
from darc.models.remote.endpoints import (
    Breaker,
    Call,
    Endpoint,
    Endpoints,
    Retry,
    RetryClock,
    base_url,
    is_passing,
    parse_address,
    retry_after,
)
from darc.models.remote.problems import LeftAlone, Refused, Unreachable


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
    port, clock = dying.port, FakeClock()
    client = make(servers, clock, concurrency=2, breaker=Breaker(3, 30.0))

    async def all_of(times: int) -> None:
        await asyncio.gather(*(ask(client) for _ in range(times)))

    async def main() -> None:
        async with client:
            await all_of(12)
            assert min(counts(servers)) > 0
            dying.close()
            await all_of(40)
            (dead,) = [each for each in client.endpoints.all if each.waiting(clock.time)]
            assert dead.url == dying.url
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
        endpoints = Endpoints(["a", "b", "c"], 1, Breaker(), RetryClock())
        calls = [Call() for _ in range(3)]
        a, b, c = [await endpoints.take(call) for call in calls]
        first, second, third = calls
        first.failures += [(c, 3600.0), (a, None)]
        assert endpoints.better(first) is b
        endpoints.give(first, Unreachable(""))
        waiting = asyncio.create_task(endpoints.take(first))
        other = asyncio.create_task(endpoints.take(Call()))
        await asyncio.sleep(0)
        assert await other is a
        endpoints.give(third, None)
        assert not waiting.done()
        endpoints.give(second, None)
        assert await waiting is b

    asyncio.run(main())


def test_all_down(servers: list[FakeServer]) -> None:
    for server in servers:
        server.close()
    client = make(servers, retry=Retry(attempts=3), breaker=Breaker(1, 60.0))
    with pytest.raises(Unreachable, match=r"\(3 attempts at "):
        run(client, 1)
    assert not client.ready()
    with pytest.raises(LeftAlone, match=r"have failed 1 calls in a row; .* in 60 s") as caught:
        run(client, 1)
    assert all(server.url in str(caught.value) for server in servers)
    assert caught.value.after == 60.0


def test_refusal_is_told_by_whom_and_not_tried_elsewhere(servers: list[FakeServer]) -> None:
    servers[0].faults = [Fault(status=400)]
    with pytest.raises(Refused, match=servers[0].url):
        run(make(servers), 1)
    assert counts(servers) == [1, 0, 0]


def test_places_are_given_in_turn_and_given_back_by_who_leaves() -> None:
    async def main() -> None:
        endpoints = Endpoints(["a", "b"], 1, Breaker(), RetryClock())
        calls = [Call() for _ in range(5)]
        first, second = [await endpoints.take(call) for call in calls[:2]]
        assert {first.url, second.url} == {"a", "b"}
        waiting = [asyncio.create_task(endpoints.take(call)) for call in calls[2:]]
        await asyncio.sleep(0)
        waiting[0].cancel()
        endpoints.give(calls[0], None)
        # It was woken, and is cancelled before it runs: its place goes to the next.
        waiting[1].cancel()
        assert await waiting[2] is first
        endpoints.give(calls[4], None)
        endpoints.give(calls[1], None)
        assert [each.running for each in endpoints.all] == [0, 0]

    asyncio.run(main())


def test_who_waits_is_told_when_all_are_left_alone() -> None:
    async def main() -> None:
        endpoints, call = Endpoints(["a"], 1, Breaker(threshold=1), RetryClock()), Call()
        await endpoints.take(call)
        waiting = asyncio.create_task(endpoints.take(Call()))
        await asyncio.sleep(0)
        endpoints.give(call, Unreachable("a cannot be reached"))
        with pytest.raises(LeftAlone):
            await waiting

    asyncio.run(main())


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://h:8000", "http://h:8000/v1"),
        ("http://h:8000/", "http://h:8000/v1"),
        ("http://h:8000/v1", "http://h:8000/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h/v1/chat/completions", "http://h/v1"),
        ("https://h/openai/v1", "https://h/openai/v1"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai"),
        ("https://h/proxy", "https://h/proxy/v1"),
    ],
)
def test_forms_of_a_url(given: str, base: str) -> None:
    assert base_url(given) == base


def test_model_and_url() -> None:
    assert parse_address("org/m@2@http://h/v1") == ("org/m@2", "http://h/v1")
    assert parse_address("m@https://h") == ("m", "https://h/v1")


def test_openais_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert parse_address("gpt-4o") == ("gpt-4o", "https://api.openai.com/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    assert parse_address("m") == ("m", "http://localhost:1/v1")
    assert parse_address("m@http://h") == ("m", "http://h/v1")


def test_several_urls() -> None:
    found = parse_address("m@http://a:1|https://b/v1/")
    assert found == ("m", "http://a:1/v1|https://b/v1")


@pytest.mark.parametrize(
    "wrong",
    ["m@http://a|", "m@http://a|b", "", "m", "m@h", "@http://h", "m@http://", "m@http://h:port"],
)
def test_what_is_no_address(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(InputError, match="write"):
        parse_address(wrong)


def test_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(InputError, match="key_env") as caught:
        parse_address("m@http://me:hidden@h/v1")
    assert "hidden" not in str(caught.value)


def test_pauses_double_up_to_the_longest_and_are_drawn_from_zero() -> None:
    retry = Retry(first=0.5, longest=3.0)
    assert [retry.pause([None] * i, 1.0) for i in (0, 1, 2, 3, 4, 500)] == [0, 0.5, 1, 2, 3, 3]
    assert retry.pause([None] * 3, 0.25) == 0.5
    assert retry.pause([7.0, None], 0.0) == 0.0


def test_a_time_named_by_the_server_is_the_least() -> None:
    assert Retry().pause([7.0], 0.0) == 7.0
    assert Retry(first=0.5).pause([None, 7.0], 1.0) == 7.5


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("2", 2.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("1e999", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, wall=100.0) == seconds


def test_which_statuses_pass() -> None:
    assert all(is_passing(s) for s in (408, 409, 425, 429, 500, 502, 503, 504, 529))
    assert not any(is_passing(s) for s in (400, 401, 403, 404, 413, 422, 501, 505))


def test_breaker_opens_after_failures_in_a_row_and_lets_one_call_try() -> None:
    endpoint, broken = Endpoint("a", Breaker(threshold=2, cooldown=10.0)), Unreachable("")
    endpoint.judge(broken, False, 0.0)
    endpoint.judge(None, False, 0.0)
    endpoint.judge(broken, False, 1.0)
    assert endpoint.waiting(1.0) is None
    endpoint.judge(broken, False, 2.0)
    assert endpoint.waiting(5.0) == 7.0
    assert endpoint.waiting(12.0) is None
    endpoint.probed = True
    assert endpoint.waiting(12.0) == 0.0
    endpoint.judge(broken, True, 13.0)
    assert endpoint.waiting(14.0) == 9.0
    endpoint.probed = True
    # A call that was begun before says nothing of the one that tries it out.
    endpoint.judge(asyncio.CancelledError(), False, 23.0)
    assert endpoint.waiting(23.0) == 0.0
    endpoint.judge(asyncio.CancelledError(), True, 23.0)
    assert endpoint.waiting(23.0) is None
    endpoint.judge(None, True, 23.0)
    assert endpoint.until is None


def test_one_call_tries_a_server_out() -> None:
    async def main() -> None:
        endpoints = Endpoints(["a"], 9, Breaker(1, 10.0), clock.clock)
        calls = [Call() for _ in range(4)]
        await endpoints.take(calls[0])
        assert not calls[0].probe
        endpoints.give(calls[0], Unreachable(""))
        clock.time = 11.0
        await endpoints.take(calls[1])
        assert calls[1].probe
        with pytest.raises(LeftAlone, match="in 0 s"):
            await endpoints.take(calls[2])
        endpoints.give(calls[1], None)
        await endpoints.take(calls[3])
        assert not calls[3].probe

    clock = FakeClock()
    asyncio.run(main())
