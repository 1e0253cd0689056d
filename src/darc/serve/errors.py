"""Errors of models and parts as the client receives them."""

from collections.abc import Iterator
from contextlib import contextmanager

from darc.engine.failures import PartFailed
from darc.engine.outcome import Outcome
from darc.errors import DarcError
from darc.models.remote import errors
from darc.models.remote.bodies import error_message, parse_object
from darc.web.problems import Problem, retry_after

#: The flag of a decision that none of the answers is good.
HELD = "held"
#: The header that says the same.
HELD_HEADER = "x-darc-held"


@contextmanager
def as_problems() -> Iterator[None]:
    """Raise errors of DARC as problems for the client.

    Raises:
        Problem: In place of a `DarcError`.
    """
    try:
        yield
    except DarcError as error:
        raise problem_for(error) from None


def problem_for(error: DarcError) -> Problem:
    """Make the problem for an error.

    The backend's own status, message, type and code are kept where they are known. A backend that
    cannot be reached is a 502, one that takes too long a 504, and one that is not called because it
    failed too often a 503 with the time to try again.
    """
    match error:
        case errors.Redirected(status=status, location=location):
            message = f"the backend answered {status}: it redirects to {location}"
            return unavailable(f"{message}; set --backend to that", "upstream_redirects", 502)
        case errors.Rejected():
            return upstream_problem(error.status, error.body)
        case errors.ErrorStatus():
            return upstream_problem(error.status or 500, error.body, error.retry_after)
        case errors.Malformed():
            message = "the backend's answer is not a chat completion"
            return unavailable(message, "upstream_malformed", 502)
        case errors.TooLarge():
            return answer_too_large("max_answer", error.limit)
        case errors.TimedOut():
            message = "the backend did not answer in time; raise --backend-timeout, or ask for less"
            return unavailable(message, "upstream_timeout", 504)
        case errors.CircuitOpen():
            message = "the backend has failed too often and is not called for a while"
            return unavailable(message, "upstream_unavailable", retry_seconds=error.retry_after)
        case errors.OverLimit() | PartFailed(over_limit=True):
            # A status after which OpenAI's clients do not try again, and spend as much again.
            message = "the request has used up its calls or tokens"
            return Problem(422, message, code="over_limit", param="darc.budget")
        case PartFailed():
            return unavailable(str(error), "part_failed")
        case errors.BackendError():
            message = "the backend cannot be reached; check with darc check URL that it runs"
            return unavailable(message, "upstream_unreachable", 502)
    return Problem(400, error.message, code="invalid_request")


def held_problem(outcome: Outcome) -> Problem:
    """Make the error in place of an answer if none of the answers is good.

    Its status is one after which OpenAI's clients do not try again.
    """
    message = f"none of the {outcome.written} answers is good"
    decision = outcome.decision
    if "below_promise" in outcome.flags:
        message = f"none of the {outcome.written} answers is sure enough to be good"
    elif decision is not None and decision.opinions is not None:
        mean = decision.opinions.answer(decision.index).mean
        limit = decision.pools.standards.poor_limit
        message += f" (the best choice among them is rated {mean:.2g} on average, below {limit:g})"
    return Problem(422, message, HELD, HELD, headers={HELD_HEADER: "true"})


def unavailable(
    message: str, code: str, status: int = 503, retry_seconds: float | None = None
) -> Problem:
    """Make an error that is not the client's fault.

    Args:
        message: What is wrong.
        code: The same in a word.
        status: The HTTP status.
        retry_seconds: After how many seconds to try again, if that is known.
    """
    headers = retry_after(retry_seconds)
    return Problem(status, message, "server_error", code, headers=headers)


def answer_too_large(limit: str, size: int) -> Problem:
    """Make the error for an answer of the backend above a limit.

    Args:
        limit: The name of the limit.
        size: The limit, in bytes.
    """
    message = f"the backend's answer is larger than {limit}, which is {size} bytes"
    return unavailable(message, "upstream_too_large", 502)


def upstream_problem(status: int, body: str, retry_seconds: float | None = None) -> Problem:
    """Make a problem of a backend's error response, whatever usual shape it has.

    Args:
        status: Its status, which is kept.
        body: Its body.
        retry_seconds: After how many seconds it says to try again.
    """
    fields = parse_object(body)
    if isinstance(fields.get("error"), dict):
        fields = fields["error"]
    kind = fields.get("type")
    if not isinstance(kind, str) or not kind:
        kind = "server_error" if status >= 500 else "invalid_request_error"
    return Problem(
        status,
        error_message(body) or f"the backend answered {status}",
        kind,
        _text_or_none(fields.get("code")),
        _text_or_none(fields.get("param")),
        retry_after(retry_seconds, minimum=0),
    )


def _text_or_none(value: object) -> str | None:
    if value is None:
        return None
    return str(value)
