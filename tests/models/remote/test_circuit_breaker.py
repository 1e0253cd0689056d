import asyncio

from darc.models.remote.circuit_breaker import BreakerSettings, CircuitBreaker
from darc.models.remote.errors import Unreachable


def test_breaker_opens_after_failures_in_a_row_and_lets_one_call_try() -> None:
    breaker = CircuitBreaker(BreakerSettings(threshold=2, cooldown=10.0))
    failure = Unreachable("")
    breaker.record(failure, is_probe=False, now=0.0)
    breaker.record(None, is_probe=False, now=0.0)
    breaker.record(failure, is_probe=False, now=1.0)
    assert breaker.seconds_until_ready(1.0) is None
    breaker.record(failure, is_probe=False, now=2.0)
    assert breaker.seconds_until_ready(5.0) == 7.0
    assert breaker.seconds_until_ready(12.0) is None
    assert breaker.begin_call()
    assert breaker.seconds_until_ready(12.0) == 0.0
    breaker.record(failure, is_probe=True, now=13.0)
    assert breaker.seconds_until_ready(14.0) == 9.0
    assert breaker.begin_call()
    # A call that was begun before says nothing about the probe.
    breaker.record(asyncio.CancelledError(), is_probe=False, now=23.0)
    assert breaker.seconds_until_ready(23.0) == 0.0
    breaker.record(asyncio.CancelledError(), is_probe=True, now=23.0)
    assert breaker.seconds_until_ready(23.0) is None
    breaker.record(None, is_probe=True, now=23.0)
    assert not breaker.begin_call()
