"""What can go wrong while candidates are rewritten and scored: all are kinds of `DarcError`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from darc.errors import DarcError
from darc.models.remote.errors import OverLimit

#: The place of the rewriter among the causes of `PartFailed`; scorers have places from 0 on.
REWRITER = -1
#: The flag of a decision that a budget of calls to other servers ended.
UPSTREAM = "budget_upstream"


class PartFailed(DarcError):
    """Some scorers or the rewriter failed.

    Args:
        causes: Why, by the place of each scorer; the rewriter's place is `REWRITER`.
        names: What the failed parts are called in the message.
    """

    def __init__(self, causes: Mapping[int, Exception], names: Sequence[str]) -> None:
        super().__init__(f"{' and '.join(names)} failed")
        self.causes = causes
        self.over_limit = any(isinstance(cause, OverLimit) for cause in causes.values())


class OutOfCalls(DarcError):
    """A budget is used up.

    Args:
        flag: The flag of the decision that is made on the scores that exist.
    """

    def __init__(self, flag: str = "budget_calls") -> None:
        super().__init__("a budget is used up")
        self.flag = flag


class JobTimedOut(DarcError):
    """A job took longer than it may."""


@contextmanager
def raise_cause() -> Iterator[None]:
    """Raise why a part failed in place of `PartFailed`."""
    try:
        yield
    except PartFailed as failure:
        first_cause = next(iter(failure.causes.values()))
        raise first_cause from None


def error_text(error: BaseException) -> str:
    """The message of an error, or the name of its class where it has none."""
    return str(error) or type(error).__name__
