"""Errors of the backend, told to the client as they were told to us."""

from typing import Any

from darc.errors import DarcError
from darc.models.remote import problems
from darc.models.remote.problems import json_object, said
from darc.web.problems import Problem, come_back


def told(problem: DarcError) -> Problem:
    """The `Problem` for a failed call: the backend's status, message, type and code where known.

    A backend that cannot be reached is 502, one that takes too long 504, and one that is left alone
    after many failures 503 with the time to come back.
    """
    match problem:
        case problems.Moved(status=status, where=where):
            message = f"the backend answered {status}: it redirects to {where}"
            return _own(502, f"{message}; set --backend to that", "upstream_redirects")
        case problems.Refused():
            return upstream_problem(problem.status, problem.body)
        case problems.ErrorStatus():
            return upstream_problem(problem.status or 500, problem.body, problem.after)
        case problems.Malformed():
            return _own(502, "the backend's answer is no chat completion", "upstream_malformed")
        case problems.TooLarge():
            return too_large("max_answer", problem.limit)
        case problems.TimedOut():
            message = "the backend did not answer in time; raise --timeout, or ask for less"
            return _own(504, message, "upstream_timeout")
        case problems.LeftAlone():
            message = "the backend has failed again and again and is left alone for a while"
            return _own(503, message, "upstream_unavailable", problem.after)
        case problems.OverLimit():
            return _own(503, "the request has used up its calls or tokens", "over_limit")
        case problems.Failed():
            message = "the backend cannot be reached; check with darc check URL that it runs"
            return _own(502, message, "upstream_unreachable")
    return Problem(400, problem.message, code="invalid_request")


def upstream_problem(status: int, body: str, after: float | None = None) -> Problem:
    """An error of the backend with its status, and what its body says in any usual shape."""
    found = json_object(body)
    inner = found["error"] if isinstance(found.get("error"), dict) else found
    message = said(body) or f"the backend answered {status}"
    kind = inner.get("type")
    default = "server_error" if status >= 500 else "invalid_request_error"
    return Problem(
        status,
        message,
        kind if isinstance(kind, str) and kind else default,
        _text(inner.get("code")),
        _text(inner.get("param")),
        come_back(after, 0),
    )


def too_large(limit: str, size: int) -> Problem:
    """A 502 for an answer beyond a limit of ours."""
    message = f"the backend's answer is larger than {limit}, which is {size} bytes"
    return _own(502, message, "upstream_too_large")


def is_openai_error(body: str) -> bool:
    """Whether an error is in the shape that OpenAI's clients read."""
    inner = json_object(body).get("error")
    return isinstance(inner, dict) and isinstance(inner.get("message"), str)


def unavailable(message: str, code: str) -> Problem:
    """A 503 of our own."""
    return _own(503, message, code)


def _own(status: int, message: str, code: str, after: float | None = None) -> Problem:
    return Problem(status, message, "server_error", code, headers=come_back(after))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
