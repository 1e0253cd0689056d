"""Counting the calls and tokens of a request, and limiting them.

A service sets a meter for one of its requests: every call that is made in that context, also in
threads that run in it, is counted.
"""

import math
import threading
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from darc.models.remote.errors import OverLimit

_NUMBER_TYPES = frozenset({int, float})


@dataclass(eq=False)
class Meter:
    """Counts calls and tokens, and refuses calls beyond its limits.

    Every attempt is a call, including failed ones and retries. Tokens are those that servers
    report, so calls that are under way when the limit is reached may go beyond it.
    """

    #: The most calls; None for any number.
    max_calls: int | None = None
    #: The number of tokens from which on no call begins; None for any number.
    max_tokens: int | None = None
    #: The meter of the whole request, which counts and limits what all its stages use together.
    total: "Meter | None" = None
    #: How many calls have begun.
    calls: int = field(default=0, init=False)
    #: How many tokens servers have reported.
    tokens: int = field(default=0, init=False)
    #: The sum of the usages that servers have reported.
    usage: dict[str, Any] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def limited(self) -> bool:
        """Whether it may refuse calls."""
        if self.max_calls is not None or self.max_tokens is not None:
            return True
        return self.total is not None and self.total.limited

    def begin(self, url: str) -> None:
        """Count a call that begins.

        Args:
            url: The server that is called.

        Raises:
            OverLimit: The call is one too many.
        """
        with self._lock:
            _check_limit(url, "calls", self.calls, self.max_calls)
            _check_limit(url, "tokens", self.tokens, self.max_tokens)
            if self.total is not None:
                self.total.begin(url)
            self.calls += 1

    def add(self, answer: Any) -> None:
        """Add the usage that an answer reports, if it reports one."""
        if not isinstance(answer, Mapping):
            return
        usage = answer.get("usage")
        if not isinstance(usage, Mapping):
            return
        with self._lock:
            self.usage = add_usage(self.usage, usage)
            self.tokens += count_tokens(usage)
        if self.total is not None:
            self.total.add(answer)


def _check_limit(url: str, unit: str, used: int, limit: int | None) -> None:
    if limit is not None and used >= limit:
        raise OverLimit(
            f"{url} is not called: the request has used its {limit} {unit}",
            f"raise max_{unit}, or ask for less",
        )


#: The meter of the request in scope, if there is one.
CURRENT_METER: ContextVar[Meter | None] = ContextVar("darc_meter", default=None)


def begin_call(url: str) -> None:
    """Tell the meter in scope, if any, that a call begins; it may raise `OverLimit`."""
    meter = CURRENT_METER.get()
    if meter is not None:
        meter.begin(url)


def count_usage(answer: Any) -> None:
    """Tell the meter in scope, if any, what an answer has used."""
    meter = CURRENT_METER.get()
    if meter is not None:
        meter.add(answer)


def add_usage(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Add two usages, number by number.

    Args:
        left: The earlier usage.
        right: The later usage. Where a value is not a number in both, the later one is taken.

    Returns:
        The sum, with nested usages added as well.
    """
    total = dict(left)
    for name, value in right.items():
        before = total.get(name)
        if isinstance(value, Mapping):
            nested = before if isinstance(before, Mapping) else {}
            total[name] = add_usage(nested, value)
        elif {type(value), type(before)} <= _NUMBER_TYPES:
            total[name] = before + value
        elif value is not None or name not in total:
            total[name] = value
    return total


def count_tokens(usage: Mapping[str, Any]) -> int:
    """The tokens of a usage: its total, or else the sum of its prompt's and completion's."""
    names = ["prompt_tokens", "completion_tokens"]
    if type(usage.get("total_tokens")) in _NUMBER_TYPES:
        names = ["total_tokens"]
    tokens = 0
    for name in names:
        count = usage.get(name, 0)
        if type(count) in _NUMBER_TYPES and math.isfinite(count):
            tokens += max(0, int(count))
    return tokens
