"""What scorers, rewriters and generators declare about themselves, with what holds if they do not.

| name | default | meaning |
|---|---|---|
| `version` | "" | what results depend on besides the input; empty: they are not kept |
| `licence` | "" | of the weights |
| `parallel` | 1 | how many calls may run at a time, or how many answers a generator writes at once |
| `remote` | False | it waits for a server: `score_async`, `rewrite_async` or `generate_async` is awaited |
| `batch_size` | 16 | texts a call; 1: it makes a call a text itself, and batches of prompts do not help |
| `in_process` | False | cheap to load and held back by one processor: worker processes may have their own |
| `samples` | None | stochastic passes of a scorer: samples(pairs) -> (n, T) |
| `close`, `aclose` | nothing | gives back what is held, the latter in the event loop that used it |
"""

import asyncio
from typing import Any


def _close(self: Any) -> None:
    """Nothing is held."""


async def _aclose(self: Any) -> None:
    self.close()


async def _score_async(self: Any, pairs: Any) -> Any:
    return await asyncio.to_thread(self.score, pairs)


async def _rewrite_async(self: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(self.rewrite, *arguments)


async def _generate_async(self: Any, *arguments: Any) -> Any:
    return await asyncio.to_thread(self.generate, *arguments)


DEFAULTS: dict[str, Any] = {
    "version": "",
    "licence": "",
    "parallel": 1,
    "remote": False,
    "batch_size": 16,
    "in_process": False,
    "samples": None,
    "close": _close,
    "aclose": _aclose,
}
ASYNCHRONOUS = {
    "score": ("score_async", _score_async),
    "rewrite": ("rewrite_async", _rewrite_async),
    "generate": ("generate_async", _generate_async),
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
