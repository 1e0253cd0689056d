import pytest

from darc.models.remote.endpoints import Breaker, Retry, is_passing, retry_after


def test_pauses_double_up_to_the_longest_and_are_drawn_from_zero() -> None:
    retry = Retry(first=0.5, longest=3.0)
    assert [retry.pause(i, None, 1.0) for i in (1, 2, 3, 4, 500)] == [0.5, 1.0, 2.0, 3.0, 3.0]
    assert retry.pause(3, None, 0.25) == 0.5
    assert retry.pause(3, None, 0.0) == 0.0


def test_a_time_named_by_the_server_is_the_least() -> None:
    assert Retry().pause(1, 7.0, 0.0) == 7.0
    assert Retry(first=0.5).pause(1, 7.0, 1.0) == 7.5


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
    breaker = Breaker(threshold=2, cooldown=10.0)
    breaker.failed(0.0)
    breaker.succeeded()
    breaker.failed(1.0)
    assert breaker.waiting(1.0) is None
    breaker.failed(2.0)
    assert breaker.waiting(5.0) == 7.0
    assert breaker.waiting(12.0) is None
    assert breaker.begin()
    assert breaker.waiting(12.0) == 0.0
    breaker.failed(13.0)
    assert breaker.waiting(14.0) == 9.0
    assert breaker.begin()
    breaker.left()
    assert breaker.waiting(23.0) is None
    assert breaker.begin()
    breaker.succeeded()
    assert breaker.waiting(23.0) is None
    assert not breaker.begin()
