"""What generators, rewriters and scorers declare about themselves."""

from collections.abc import Callable
from typing import Any, Protocol


class Capabilities(Protocol):
    """What scorers, rewriters and generators declare about themselves, and what holds otherwise.

    `version` is what results depend on besides the input (empty, and they are not kept), `licence`
    that of the weights; `parallel` is how many calls may run at a time, or answers a generator
    writes at once; what is `remote` waits for a server, and its score_async, generate_async or
    rewrite_async is awaited; `batch_size` is texts a call, 1 where it makes a call a text anyway;
    what is `in_process` is quick to load and busy with one processor, and worker processes have
    their own. `criteria` names the numbers a scorer gives each text, where they are more than one,
    and `samples` (pairs) -> (n, T) are its stochastic passes; `embeddings` names those that it
    rests on. `max_tokens` is a generator's own
    limit of an answer, 320 if None; one that `continues` heeds `Settings.first`, and so can write
    candidates bit by bit.
    """

    licence: str = ""
    parallel: int = 1
    remote: bool = False
    batch_size: int = 16
    in_process: bool = False
    criteria: tuple[str, ...] = ()
    samples: Any = None
    embeddings: str = ""
    max_tokens: int | None = None
    continues: bool = False

    def close(self) -> None:
        """Give back what is held."""

    async def aclose(self) -> None:
        """Give back what is held, in the event loop that used it."""
        from asyncio import to_thread

        # In a thread: a model that is busy may take its time, and nothing else need wait for it.
        try:
            await to_thread(self.close)
        except RuntimeError:  # as the interpreter exits no thread can be had
            self.close()


def declared(part: Any) -> Any:
    """The part, whose class now has every capability that it did not declare, by default."""
    for name in ("version", *Capabilities.__annotations__, "close", "aclose"):
        if not hasattr(part, name):
            setattr(type(part), name, getattr(Capabilities, name, ""))
    for method in ("score", "generate", "rewrite"):
        if hasattr(part, method) and not hasattr(part, f"{method}_async"):
            setattr(type(part), f"{method}_async", _in_thread(method))
    return part


def _in_thread(method: str) -> Callable[..., Any]:
    async def call(self: Any, *arguments: Any) -> Any:
        from asyncio import to_thread

        return await to_thread(getattr(self, method), *arguments)

    return call
