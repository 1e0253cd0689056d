import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.clock import FakeClock

from darc.errors import DarcError, InputError
from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import BackendError, Malformed, Rejected
from darc.models.remote.gathering import gather_or_cancel
from darc.models.remote.retry import RetryPolicy

BODY: dict[str, list[str]] = {"pairs": []}


def scores(answer: Any) -> Any:
    if "scores" not in answer:
        raise Malformed("no scores")
    return answer["scores"]


def post(client: AsyncClient, times: int = 1) -> Any:
    async def all_of() -> list[Any]:
        async with client:
            return await gather_or_cancel(
                [client.ask("/plain", scores, BODY) for _ in range(times)]
            )

    return asyncio.run(all_of())[-1]


def make(server: FakeServer, clock: FakeClock, **options: Any) -> AsyncClient:
    return AsyncClient(server.url, clock=clock.clock, **options)


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault(status=status) for status in (408, 409, 429, 500, 502, 503)),
        *(Fault(kind) for kind in ("reset", "malformed", "empty", "no-choices")),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_passing_faults_are_tried_again(openai_server: FakeServer, fault: Fault) -> None:
    openai_server.faults = [fault, fault]
    clock = FakeClock()
    assert post(make(openai_server, clock)) == []
    assert clock.slept == [0.5, 1.0]
    assert len(openai_server.received) == 3


def test_hanging_server_times_out(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("hang")]
    assert post(make(openai_server, FakeClock(), timeout=0.2)) == []
    openai_server.faults = [Fault("hang")]
    with pytest.raises(BackendError, match=r"/plain did not answer within 0.2 s; raise timeout"):
        post(make(openai_server, FakeClock(), timeout=0.2, retry=RetryPolicy(attempts=1)))


def test_retry_after_is_respected(openai_server: FakeServer) -> None:
    date = "Thu, 01 Jan 1970 00:01:40 GMT"
    openai_server.faults = [
        Fault(status=429, headers={"Retry-After": "7"}),
        Fault(status=503, headers={"Retry-After": date}),
    ]
    clock = FakeClock(chance=0.0, wall=50.0)
    post(make(openai_server, clock))
    assert clock.slept == [7.0, 43.0]


def test_attempts_and_time_are_bounded(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=503, message="loading")] * 9
    clock = FakeClock()
    with pytest.raises(BackendError, match=r"/plain answered 503: loading \(3 attempts\)$"):
        post(make(openai_server, clock, retry=RetryPolicy(attempts=3)))
    assert len(openai_server.received) == 3
    openai_server.faults = [Fault(status=429, headers={"Retry-After": "3600"})]
    with pytest.raises(BackendError, match="answered 429"):
        post(make(openai_server, clock))
    assert clock.slept == [0.5, 1.0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Fault(status=400, message="too long"), "answered 400: too long"),
        (Fault(status=401), "OPENAI_API_KEY, which is not set"),
        (Fault(status=404), "check the URL and the name of the model"),
        (Fault(status=307, headers={"Location": "http://other"}), "moved to http://other"),
        (Fault(status=429, message="insufficient_quota"), "answered 429: insufficient_quota"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Fault) else "",
)
def test_lasting_faults_are_not(openai_server: FakeServer, fault: Fault, message: str) -> None:
    openai_server.faults = [fault]
    with pytest.raises(Rejected, match=message) as caught:
        post(make(openai_server, FakeClock()))
    assert isinstance(caught.value, InputError)
    assert caught.value.status == fault.status
    assert len(openai_server.received) == 1


def test_nobody_there() -> None:
    pytest.importorskip("aiohttp")
    server = FakeServer()
    server.close()
    with pytest.raises(BackendError, match=r"cannot be reached: .*attempts\)"):
        post(make(server, FakeClock()))


def test_breaker_fails_fast_and_then_tries_once(openai_server: FakeServer) -> None:
    clock = FakeClock()
    client = make(
        openai_server,
        clock,
        retry=RetryPolicy(attempts=2),
        breaker=BreakerSettings(threshold=2, cooldown=60.0),
    )
    openai_server.faults = [Fault()] * 5
    for _ in range(2):
        with pytest.raises(BackendError, match="2 attempts"):
            post(client)
    with pytest.raises(BackendError, match=r"2 calls.* 60 s"):
        post(client)
    assert len(openai_server.received) == 4
    clock.time += 61
    with pytest.raises(BackendError, match=r"answered 500: it broke$"):
        post(client)
    assert len(openai_server.received) == 5
    clock.time += 61
    assert post(client) == []
    assert post(client) == []


def test_refusals_and_limits_do_not_open_the_breaker(openai_server: FakeServer) -> None:
    client = make(
        openai_server, FakeClock(), retry=RetryPolicy(attempts=1), breaker=BreakerSettings(1, 60.0)
    )
    for status in (400, 429):
        openai_server.faults = [Fault(status=status)]
        with pytest.raises(DarcError, match=str(status)):
            post(client)
    assert post(client) == []


def test_large_answers_are_not_read_to_their_end(openai_server: FakeServer) -> None:
    flood = Fault("flood", content=b" " * 1000, times=9)
    told = Fault("bytes", 200, content=b" " * 9000)
    client = make(openai_server, FakeClock(), max_bytes=5000, breaker=BreakerSettings(1, 60.0))
    for fault in (flood, told):
        openai_server.faults = [fault]
        with pytest.raises(BackendError, match=r"/plain answered with more than 5000 bytes"):
            post(client)
    assert len(openai_server.received) == 2
    assert post(client) == []


def test_cookies_are_not_kept(openai_server: FakeServer) -> None:
    openai_server.cookies = "a=b; Path=/"
    post(make(openai_server, FakeClock()), times=3)
    assert not any("cookie" in each.headers for each in openai_server.received)


def test_text_that_is_no_unicode_can_be_sent(openai_server: FakeServer) -> None:
    async def one() -> Any:
        async with make(openai_server, FakeClock()) as client:
            return await client.ask("/plain", scores, {"pairs": [], "x": "a\ud800"})

    assert asyncio.run(one()) == []
    assert openai_server.bodies == [{"pairs": [], "x": "a?"}]


def test_calls_are_bounded_and_share_connections(openai_server: FakeServer) -> None:
    openai_server.latency = 0.02
    post(make(openai_server, FakeClock(), concurrency=3), times=12)
    assert openai_server.busiest == 3
    assert openai_server.connections <= 3


def test_first_failure_cancels_the_rest(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=400)]
    with pytest.raises(Rejected):
        post(make(openai_server, FakeClock(), concurrency=1), times=20)
    assert len(openai_server.received) < 3


def test_key_is_sent_and_never_shown(
    openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", "sk-hidden\n")
    client = make(openai_server, FakeClock(), key_env="MY_KEY")
    openai_server.faults = [Fault(message="you sent sk-hidden")]
    post(client)
    assert openai_server.received[0].headers["authorization"] == "Bearer sk-hidden"
    openai_server.key = "another"
    with pytest.raises(Rejected, match=r"Bearer \*\*\*.*MY_KEY") as caught:
        post(client)
    assert "answered 500: you sent ***" in caplog.text
    for text in (caplog.text, repr(client), str(caught.value), repr(caught.value)):
        assert "hidden" not in text


def test_without_a_key_no_header_is_sent(openai_server: FakeServer) -> None:
    post(make(openai_server, FakeClock()))
    assert "authorization" not in openai_server.received[0].headers


def test_key_that_cannot_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk hidden")
    with pytest.raises(InputError, match="MY_KEY") as caught:
        AsyncClient("http://h", key_env="MY_KEY")
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("make_it", [lambda: AsyncClient("http://h", concurrency=0)])
def test_settings_that_make_no_sense(make_it: Callable[[], AsyncClient]) -> None:
    with pytest.raises(InputError, match="concurrency"):
        make_it()
