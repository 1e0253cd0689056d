"""Who runs and who counts the calls that are made on behalf of something larger.

Both are context variables: a service sets them for one of its requests, and every call made in that
context, in threads that were given it too, runs in the service's own loop and is told to its meter.
"""

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

Result = TypeVar("Result")
Meter = Callable[[str, Any], None]


class Host(Protocol):
    """Runs coroutines for threads that wait for them."""

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The coroutine's result."""
        ...


HOST: ContextVar[Host | None] = ContextVar("darc_host", default=None)
METER: ContextVar[Meter | None] = ContextVar("darc_meter", default=None)


def tell_meter(url: str, answer: Any) -> None:
    """Tell the meter in scope, if any, of a call: its URL and the answer, None where it failed."""
    meter = METER.get()
    if meter is not None:
        meter(url, answer)
