"""What a language model is asked, what it says, and the models as users write them."""

import asyncio
import itertools
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from darc.errors import InputError
from darc.types import Message

Report = Callable[[int, int], None]

EMBEDDED = ("", "embedded")
TRANSFORMERS = "transformers:"
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
    `stop` strings. A server is asked for the `top` likeliest tokens at each place.
    """

    messages: Sequence[Message]
    max_tokens: int = 320
    temperature: float = 0.8
    top_p: float = 0.98
    seed: int = 0
    stop: Sequence[str] = ()
    top: int = 0


@dataclass(frozen=True)
class Completion:
    """An answer of a model; `truncated` is one that was cut off by the token limit.

    `log_likelihood` is the mean per generated token under the model at temperature 1, None where
    nothing was generated. `alternatives` are the likeliest tokens at each place with their
    log-probabilities: empty unless asked for and given, and where the model thought first.
    """

    text: str
    tokens: int
    truncated: bool
    log_likelihood: float | None
    alternatives: tuple[dict[str, float], ...] = ()


def counter(report: Report | None, total: int) -> Callable[[object], None]:
    """A function that counts what has come, and reports it."""
    done = itertools.count(1)
    return lambda _: None if report is None else report(next(done), total)


class ChatModel(Protocol):
    """Something that continues conversations: in this process, on a server, on a GPU."""

    @property
    def name(self) -> str:
        """What the model is called in files and messages."""

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""


def chat_model(text: str = "", **options: Any) -> ChatModel:
    """The model that "embedded" (or nothing), "transformers:MODEL" or "MODEL@URL" stands for.

    The options are a server's: `key_env`, `timeout`, `concurrency`. Nothing is loaded or asked yet,
    but the embedded model must be installed.
    """
    if text in EMBEDDED:
        from darc.models.embedded import EmbeddedModel
        from darc.models.installed import require

        found = require()
        return EmbeddedModel(found.path, version=found.sha256)
    if text.startswith(TRANSFORMERS):
        from darc.models.transformers import MODELS

        made: ChatModel = MODELS.make(text)
        return made
    from darc.models.remote.address import BASE_URL_ENV, KEY_ENV
    from darc.models.remote.openai import OpenAIModel

    if not ("@" in text or os.environ.get(BASE_URL_ENV) or os.environ.get(KEY_ENV)):
        raise InputError(
            f"there is no chat model {text!r}", "write embedded, transformers:MODEL or MODEL@URL"
        )
    return OpenAIModel(text, **options)


class ChatUser:
    """What asks a chat model, given as it is or as users write it."""

    def __init__(self, model: ChatModel | str, **options: Any) -> None:
        self.model = chat_model(model, **options) if isinstance(model, str) else model
        self.remote: bool = getattr(self.model, "remote", False)

    @cached_property
    def served(self) -> str:
        """What the model's answers depend on: the hash of its weights, or its name and URL."""
        return str(getattr(self.model, "version", "") or self.model.name)

    def close(self) -> None:
        """Close the model, where it can be closed."""
        getattr(self.model, "close", lambda: None)()

    async def aclose(self) -> None:
        """Close the model, from the loop that used it."""
        own = getattr(self.model, "aclose", None)
        await (own() if own is not None else asyncio.to_thread(self.close))
