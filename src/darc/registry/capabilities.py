"""What scorers, rewriters and generators declare about themselves, and what holds otherwise.

- `version`, "": what results depend on besides the input; empty, and they are not kept
- `licence`, "": of the weights
- `parallel`, 1: how many calls may run at a time, or answers a generator writes at once
- `remote`, False: it waits for a server; score_async, generate_async, rewrite_async are awaited
- `batch_size`, 16: texts a call; 1 where it makes a call a text anyway
- `in_process`, False: quick to load and busy with one processor: worker processes have their own
- `criteria`, (): names of the numbers a scorer gives each text, where they are more than one
- `samples`, None: stochastic passes of a scorer, samples(pairs) -> (n, T)
- `max_tokens`, None: a generator's own limit of an answer, 320 if None
- `continues`, False: a generator heeds `Settings.first`, and so can write candidates bit by bit
- `close` and `aclose`: give back what is held, the latter in the event loop that used it
"""

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Protocol, Self


class Closing(ABC):
    """Closes itself at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Give back what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Capabilities(Protocol):
    """What every part has once it is `declared`."""

    licence: str
    parallel: int
    remote: bool
    batch_size: int
    in_process: bool
    criteria: tuple[str, ...]
    samples: Any
    max_tokens: int | None
    continues: bool

    def close(self) -> None:
        """Give back what is held."""
        ...

    async def aclose(self) -> None:
        """Give back what is held, in the event loop that used it."""
        ...


def _close(self: Any) -> None:
    """Nothing is held."""


async def _aclose(self: Any) -> None:
    # In a thread: a model that is busy may take its time, and nothing else need wait for it.
    try:
        await asyncio.to_thread(self.close)
    except RuntimeError:  # as the interpreter exits no thread can be had
        self.close()


async def _score_async(self: Any, pairs: Any) -> Any:
    return await asyncio.to_thread(self.score, pairs)


async def _generate_async(self: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(self.generate, *arguments)


async def _rewrite_async(self: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(self.rewrite, *arguments)


DEFAULTS: dict[str, Any] = {
    "version": "",
    "licence": "",
    "parallel": 1,
    "remote": False,
    "batch_size": 16,
    "in_process": False,
    "criteria": (),
    "samples": None,
    "max_tokens": None,
    "continues": False,
    "close": _close,
    "aclose": _aclose,
}
ASYNCHRONOUS = {
    "score": ("score_async", _score_async),
    "generate": ("generate_async", _generate_async),
    "rewrite": ("rewrite_async", _rewrite_async),
}


def declared(part: Any) -> Any:
    """The part, whose class now has every capability that it did not declare, by default."""
    kind = type(part)
    for name, default in DEFAULTS.items():
        if not hasattr(part, name):
            setattr(kind, name, default)
    for method, (name, default) in ASYNCHRONOUS.items():
        if hasattr(part, method) and not hasattr(part, name):
            setattr(kind, name, default)
    return part
