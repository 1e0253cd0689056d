import asyncio
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.clock import FakeClock

from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import OverLimit
from darc.models.remote.meter import CURRENT_METER, Meter, add_usage, count_tokens
from darc.models.remote.retry import RetryPolicy


def test_numbers_are_added_at_every_depth() -> None:
    one = {"prompt_tokens": 3, "details": {"cached": 1, "name": "x"}, "extra": None}
    assert add_usage(add_usage({}, one), one) == {
        "prompt_tokens": 6, "details": {"cached": 2, "name": "x"}, "extra": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"total_tokens": 7, "prompt_tokens": 5}, 7),
        ({"prompt_tokens": 5, "completion_tokens": 4}, 9),
        ({"total_tokens": None, "completion_tokens": 4}, 4),
        ({"total_tokens": True}, 0),
        ({"total_tokens": -3}, 0),
        ({"total_tokens": float("inf")}, 0),
        ({"total_tokens": "7"}, 0),
    ],
)
def test_tokens_of_a_usage(usage: dict[str, Any], tokens: int) -> None:
    assert count_tokens(usage) == tokens


def ask(server: FakeServer, meter: Meter, times: int = 1, **options: Any) -> list[Any]:
    """What calls in the scope of a meter give: 1, or their error."""

    async def main() -> list[Any]:
        CURRENT_METER.set(meter)
        client = AsyncClient(server.url + "/v1", clock=FakeClock().clock, **options)
        body = {"messages": [{"role": "user", "content": "one two three"}]}
        found: list[Any] = []
        async with client:
            for _ in range(times):
                try:
                    found.append(await client.ask("/chat/completions", lambda _: 1, body))
                except OverLimit as problem:
                    found.append(problem)
        return found

    return asyncio.run(main())


def test_every_attempt_is_a_call(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=500), Fault("reset"), Fault("malformed")]
    meter = Meter()
    assert ask(openai_server, meter) == [1]
    assert meter.calls == len(openai_server.received) == 4
    assert meter.usage["prompt_tokens"] == 3
    assert meter.tokens == meter.usage["total_tokens"] > 3


def test_calls_beyond_the_limit_are_refused_also_as_retries(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault(status=500)] * 9
    meter = Meter(max_calls=2)
    first, second = ask(openai_server, meter, 2, breaker=BreakerSettings(1, 60.0))
    assert "is not called: the request has used its 2 calls" in str(first)
    assert first.retryable is False
    # The server is not held to be down for what was never sent to it.
    assert isinstance(second, OverLimit)
    assert meter.calls == len(openai_server.received) == 2


def test_tokens_beyond_the_limit_are_refused(openai_server: FakeServer) -> None:
    meter = Meter(max_tokens=1)
    first, second = ask(openai_server, meter, 2, retry=RetryPolicy(attempts=1))
    assert first == 1
    assert "used its 1 tokens; raise max_tokens" in str(second)
    assert len(openai_server.received) == 1


def test_parts_count_for_the_whole() -> None:
    whole = Meter(max_calls=3)
    one = Meter(total=whole)
    other = Meter(max_calls=1, total=whole)
    other.begin("url")
    with pytest.raises(OverLimit):
        other.begin("url")
    one.begin("url")
    one.add({"usage": {"total_tokens": 5}})
    assert (whole.calls, whole.tokens, one.tokens, other.calls) == (2, 5, 5, 1)
    one.begin("url")
    with pytest.raises(OverLimit):
        one.begin("url")
    assert one.calls == 2
