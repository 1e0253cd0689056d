"""What every rewriter offers, and the families of rewrites."""

from collections.abc import Container
from typing import Protocol, runtime_checkable

from darc.errors import UnknownName
from darc.registry import Capabilities
from darc.types import Prompt

FAMILIES = ("hybrid", "style", "targeted")


def parts(family: str, count: int) -> list[tuple[str, int]]:
    """The simple families that make up a family, each with its part of the count."""
    if family not in FAMILIES:
        raise UnknownName("family", family, FAMILIES)
    if family == "hybrid":
        return [("style", count - count // 2), ("targeted", count // 2)]
    return [(family, count)]


class Rewriter(Protocol):
    """Proposes rewrites of an answer; filters decide which are kept."""

    @property
    def name(self) -> str:
        """The name that variants carry."""

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to `count` proposals; the same for the same arguments."""


class Drawing(Protocol):
    """Proposals for one text under one family, made in small steps; it can be pickled."""

    @property
    def exhausted(self) -> bool:
        """Whether there is nothing new to expect."""

    def ask(self, count: int, seed: int) -> None:
        """Begin a round for up to `count` proposals."""

    def step(self, seen: Container[str]) -> list[str] | None:
        """The round's proposals, or None if it needs further steps.

        `seen` has what was proposed before, white space normalised; it is not proposed again.
        """


@runtime_checkable
class DrawingRewriter(Rewriter, Protocol):
    """A rewriter that can also propose in small steps, remembering what it proposed."""

    def drawing(self, prompt: Prompt, text: str, family: str) -> Drawing:
        """What draws proposals for the text; `family` is a simple one."""


class ReadyRewriter(Rewriter, Capabilities, Protocol):
    """A rewriter that has declared all of its capabilities."""

    version: str

    async def rewrite_async(
        self, prompt: Prompt, text: str, count: int, family: str, seed: int
    ) -> list[str]:
        """`rewrite`, awaited."""
