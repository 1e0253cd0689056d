import json
import logging
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.responses import PlainTextResponse
from tests.web.middleware.asgi import answer_ok, request

from darc.web.middleware.errors import ErrorMiddleware
from darc.web.problems import Problem


def failing_app(error: Exception, after_start: bool = False) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if after_start:
            await answer_ok(scope, receive, send)
        raise error

    return app


def test_a_problem_is_the_response() -> None:
    problem = Problem(418, "no coffee", code="pot", headers={"X-Kind": "tea"})
    response = request(ErrorMiddleware(failing_app(problem)))
    assert (response.status, response.headers["x-kind"]) == (418, "tea")
    assert json.loads(response.body) == problem.body()


def test_other_errors_are_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "darc.web"):
        response = request(ErrorMiddleware(failing_app(ValueError("secret"))))
    assert response.status == 500
    assert b"secret" not in response.body
    assert "secret" in caplog.text


def test_a_response_that_has_begun_is_cut_off() -> None:
    with pytest.raises(Problem):
        request(ErrorMiddleware(failing_app(Problem(400, "too late"), after_start=True)))


def test_errors_may_be_pages() -> None:
    app = ErrorMiddleware(failing_app(Problem(404, "gone")), lambda p: PlainTextResponse(p.message))
    assert request(app).body == b"gone"
