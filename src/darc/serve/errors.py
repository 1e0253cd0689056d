"""Errors of the backend, told to the client as they were told to us."""

from collections.abc import Iterator
from contextlib import contextmanager

from darc.engine.failures import PartFailed
from darc.engine.outcome import Outcome
from darc.errors import DarcError
from darc.models.remote import errors as problems
from darc.models.remote.bodies import error_message, parse_object
from darc.web.problems import Problem, retry_after

# The flag of a decision that none of the answers is good, and the header that says so.
HELD = "held"
HELD_HEADER = "x-darc-held"


@contextmanager
def as_problems() -> Iterator[None]:
    """Raise what DARC raises inside as the client is told it."""
    try:
        yield
    except DarcError as problem:
        raise problem_of(problem) from None


def problem_of(problem: DarcError) -> Problem:
    """The `Problem` for a failed call: the backend's status, message, type and code where known.

    A backend that cannot be reached is 502, one that takes too long 504, and one that is left alone
    after many failures 503 with the time to come back.
    """
    match problem:
        case problems.Redirected(status=status, location=where):
            message = f"the backend answered {status}: it redirects to {where}"
            return unavailable(f"{message}; set --backend to that", "upstream_redirects", 502)
        case problems.Rejected():
            return upstream_problem(problem.status, problem.body)
        case problems.ErrorStatus():
            return upstream_problem(problem.status or 500, problem.body, problem.retry_after)
        case problems.Malformed():
            message = "the backend's answer is no chat completion"
            return unavailable(message, "upstream_malformed", 502)
        case problems.TooLarge():
            return too_large("max_answer", problem.limit)
        case problems.TimedOut():
            message = "the backend did not answer in time; raise --timeout, or ask for less"
            return unavailable(message, "upstream_timeout", 504)
        case problems.CircuitOpen():
            message = "the backend has failed again and again and is left alone for a while"
            return unavailable(message, "upstream_unavailable", after=problem.retry_after)
        case problems.OverLimit() | PartFailed(over_limit=True):
            return unavailable("the request has used up its calls or tokens", "over_limit")
        case PartFailed():
            return unavailable(str(problem), "part_failed")
        case problems.BackendError():
            message = "the backend cannot be reached; check with darc check URL that it runs"
            return unavailable(message, "upstream_unreachable", 502)
    return Problem(400, problem.message, code="invalid_request")


def held_problem(outcome: Outcome) -> Problem:
    """An error in place of an answer, where none of the answers is good.

    Its status is one that OpenAI's clients do not try again.
    """
    message = f"none of the {outcome.written} answers is good"
    decision = outcome.decision
    if decision is not None and decision.opinions is not None:
        mean = decision.opinions.answer(decision.index).mean
        limit = decision.pools.standards.poor_limit
        message += f" (the best choice among them is rated {mean:.2g} on average, below {limit:g})"
    return Problem(422, message, HELD, HELD, headers={HELD_HEADER: "true"})


def unavailable(message: str, code: str, status: int = 503, after: float | None = None) -> Problem:
    """An error that is not the client's."""
    return Problem(status, message, "server_error", code, headers=retry_after(after))


def too_large(limit: str, size: int) -> Problem:
    """A 502 for an answer beyond a limit of ours."""
    message = f"the backend's answer is larger than {limit}, which is {size} bytes"
    return unavailable(message, "upstream_too_large", 502)


def upstream_problem(status: int, body: str, after: float | None = None) -> Problem:
    """An error of the backend with its status, and what its body says in any usual shape."""
    found = parse_object(body)
    inner = found["error"] if isinstance(found.get("error"), dict) else found
    kind, code, param = (inner.get(name) for name in ("type", "code", "param"))
    default = "server_error" if status >= 500 else "invalid_request_error"
    return Problem(
        status,
        error_message(body) or f"the backend answered {status}",
        kind if isinstance(kind, str) and kind else default,
        None if code is None else str(code),
        None if param is None else str(param),
        retry_after(after, 0),
    )
