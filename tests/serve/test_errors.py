import pytest

from darc.errors import DarcError, InputError
from darc.models.remote import errors as problems
from darc.serve.errors import problem_for

WORDS = "did not answer within 3 s"


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (problems.TimedOut("x"), 504, "upstream_timeout"),
        # What a message says does not count.
        (problems.Unreachable(WORDS), 502, "upstream_unreachable"),
        (problems.BackendError(WORDS), 502, "upstream_unreachable"),
        (problems.Malformed(WORDS, status=200), 502, "upstream_malformed"),
        (problems.TooLarge("http://h", 5), 502, "upstream_too_large"),
        (problems.CircuitOpen(WORDS, retry_after=2.5), 503, "upstream_unavailable"),
        (problems.OverLimit(WORDS), 422, "over_limit"),
        (problems.ErrorStatus(WORDS, status=529, retry_after=4.0), 529, None),
        (problems.Rejected(WORDS, "", 418, "no", '{"error": {"code": "pot"}}'), 418, "pot"),
        (problems.Redirected("http://h", 307, "/there?key=1"), 502, "upstream_redirects"),
        (InputError(WORDS), 400, "invalid_request"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_type_of_a_failure_decides(problem: DarcError, status: int, code: str | None) -> None:
    found = problem_for(problem)
    assert (found.status, found.code) == (status, code)


def test_times_to_come_back_are_passed_on() -> None:
    assert problem_for(problems.CircuitOpen("", retry_after=2.5)).headers == {"Retry-After": "3"}
    problem = problems.ErrorStatus("", status=503, retry_after=4.0)
    assert problem_for(problem).headers == {"Retry-After": "4"}
    assert (
        "http://h/there"
        in problem_for(problems.Redirected("http://h", 307, "/there?key=1")).message
    )
