"""What every rewriter offers."""

from collections.abc import Container
from typing import Protocol, runtime_checkable

from darc.types import Prompt


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
