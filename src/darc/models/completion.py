"""What a chat model is asked, and what it answers."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from darc.types import Message

#: Called with how many are done, and how many there are.
Report = Callable[[int, int], None]

#: How a model begins its reasoning.
THOUGHT = "<think>"
_THOUGHT_END = "</think>"
# A template may have opened the reasoning itself: then it ends on a line of its own.
_ENDED_THOUGHT = re.compile(
    r"\s*<think>.*?</think>\s*|(?:(?!<think>).)*?^[ \t]*</think>[ \t]*$\s*",
    re.DOTALL | re.MULTILINE,
)


def strip_reasoning(text: str) -> str | None:
    """Remove the reasoning before an answer.

    Args:
        text: What a model wrote.

    Returns:
        The answer; None if the reasoning never ends.
    """
    while _THOUGHT_END in text:
        match = _ENDED_THOUGHT.match(text)
        if match is None:
            break
        text = text[match.end() :]
    if text.lstrip().startswith(THOUGHT):
        return None
    return text


@dataclass(frozen=True)
class Request:
    """A conversation to be continued."""

    messages: Sequence[Message]
    #: The most tokens of the answer.
    max_tokens: int = 320
    #: 0 takes the likeliest token each time.
    temperature: float = 0.8
    top_p: float = 0.98
    seed: int = 0
    #: The answer ends before the first of these strings.
    stop: Sequence[str] = ()
    #: How many of the likeliest tokens a server returns at each place.
    top: int = 0
    #: Whether a server is asked for the log-probabilities of the answer's tokens.
    log_probabilities: bool = True
    #: The JSON schema of the answer; None for plain text. A server that does not know schemas
    #: leaves it out, so that the conversation has to describe the form as well.
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Completion:
    """An answer of a model."""

    text: str
    #: How many tokens were generated.
    tokens: int
    #: Whether it was cut off by the token limit.
    truncated: bool
    #: The mean per generated token under the model at temperature 1; None if nothing was generated.
    log_likelihood: float | None
    #: The likeliest tokens at each place with their log-probabilities. Empty unless they were asked
    #: for and given, and if the model wrote reasoning first.
    alternatives: tuple[dict[str, float], ...] = ()
    #: How far the likeliest tokens are from equally likely, the mean over places in nats; None
    #: unless they were asked for and given.
    certainty: float | None = None


def make_counter(report: Report | None, total: int) -> Callable[[object], None]:
    """Make a function that counts its calls.

    Args:
        report: Called with the number of calls so far and the total.
        total: How many calls there will be.

    Returns:
        A function to be called with each result.
    """
    numbers = itertools.count(1)

    def count(_: object) -> None:
        if report is not None:
            report(next(numbers), total)

    return count


class ChatModel(Protocol):
    """Something that continues conversations: in this process, on a server, on a GPU."""

    @property
    def name(self) -> str:
        """What the model is called in files and messages."""

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """Complete conversations.

        Args:
            requests: The conversations.
            report: Called with how many are done, and how many there are.

        Returns:
            One completion per request, in their order.
        """
