import pytest

from darc.models.remote.retry import RetryPolicy, is_retryable_status, parse_retry_after


def test_pauses_double_up_to_the_longest_and_are_drawn_from_zero() -> None:
    retry = RetryPolicy(first=0.5, longest=3.0)
    assert [retry.pause([None] * i, 1.0) for i in (0, 1, 2, 3, 4, 500)] == [0, 0.5, 1, 2, 3, 3]
    assert retry.pause([None] * 3, 0.25) == 0.5
    assert retry.pause([7.0, None], 0.0) == 0.0


def test_a_time_named_by_the_server_is_the_least() -> None:
    assert RetryPolicy().pause([7.0], 0.0) == 7.0
    assert RetryPolicy(first=0.5).pause([None, 7.0], 1.0) == 7.5


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
    assert parse_retry_after(header, wall=100.0) == seconds


def test_which_statuses_pass() -> None:
    assert all(is_retryable_status(s) for s in (408, 409, 425, 429, 500, 502, 503, 504, 529))
    assert not any(is_retryable_status(s) for s in (400, 401, 403, 404, 413, 422, 501, 505))
