import pytest

from darc.web.problems import Problem, retry_after, too_many_requests


def test_a_problem_has_the_shape_that_clients_read() -> None:
    problem = Problem(400, "k is 0", code="invalid_value", param="k")
    error = {
        "message": "k is 0", "type": "invalid_request_error", "param": "k", "code": "invalid_value"
    }  # fmt: skip
    assert problem.body() == {"error": error}


@pytest.mark.parametrize(("after", "told"), [(0.0, "1"), (1.2, "2"), (30.0, "30")])
def test_who_comes_too_early_is_told_when_to_come_back(after: float, told: str) -> None:
    problem = too_many_requests("too many requests", "rate_limit_exceeded", after)
    assert (problem.status, problem.headers) == (429, {"Retry-After": told})


def test_nobody_is_told_what_nobody_knows() -> None:
    assert retry_after(None) == {}
    assert retry_after(0.0, minimum=0) == {"Retry-After": "0"}
