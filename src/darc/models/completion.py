"""What a language model is asked, and what it says."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from darc.types import Message

Report = Callable[[int, int], None]

THOUGHT = "<think>"
# A template may have opened the thought itself: then it ends on a line of its own.
_ENDED = re.compile(
    r"\s*<think>.*?</think>\s*|(?:(?!<think>).)*?^[ \t]*</think>[ \t]*$\s*",
    re.DOTALL | re.MULTILINE,
)


def without_thoughts(text: str) -> str | None:
    """What a model says after thinking aloud; None where its thought has no end."""
    while "</think>" in text and (found := _ENDED.match(text)):
        text = text[found.end() :]
    return None if text.lstrip().startswith(THOUGHT) else text


@dataclass(frozen=True)
class Request:
    """A conversation to be continued by at most `max_tokens` tokens.

    Temperature 0 takes the likeliest token each time. The answer ends before the first of the
    `stop` strings.
    """

    messages: Sequence[Message]
    max_tokens: int = 320
    temperature: float = 0.8
    top_p: float = 0.98
    seed: int = 0
    stop: Sequence[str] = ()


@dataclass(frozen=True)
class Completion:
    """An answer of a model.

    `finish_reason` is "stop" or "length" (the token limit). `log_likelihood` is the mean per
    generated token under the model at temperature 1, None where nothing was generated;
    `milliseconds` is the time from asking to answering.
    """

    text: str
    tokens: int
    finish_reason: str
    log_likelihood: float | None
    milliseconds: float

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut off by the token limit."""
        return self.finish_reason == "length"


class ChatModel(Protocol):
    """Something that continues conversations: in this process, on a server, on a GPU."""

    @property
    def name(self) -> str:
        """What the model is called in files and messages."""
        ...

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""
        ...
