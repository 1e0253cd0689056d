"""What every rewriter offers."""

from collections.abc import Container
from typing import Protocol, runtime_checkable

from darc.types import Prompt


class Rewriter(Protocol):
    """Proposes rewrites of an answer; filters decide which are accepted."""

    @property
    def name(self) -> str:
        """The name that rewrites carry."""

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Propose rewrites of a text.

        Args:
            prompt: The prompt that the text answers.
            text: The answer to rewrite.
            count: The largest number of proposals.
            family: The family of rewrites: "style", "targeted" or "hybrid".
            seed: The same arguments and seed give the same proposals.

        Returns:
            Up to `count` proposals.
        """


class Drawing(Protocol):
    """Proposals for one text under one family, made in small steps; it can be pickled."""

    @property
    def exhausted(self) -> bool:
        """Whether nothing new is to be expected."""

    def start_round(self, count: int, seed: int) -> None:
        """Begin a round for up to `count` proposals."""

    def step(self, seen: Container[str]) -> list[str] | None:
        """Do a small part of the round's work.

        Args:
            seen: The texts that were proposed before, with normalised white space; they are not
                proposed again.

        Returns:
            The round's proposals, or None if it needs further steps.
        """


@runtime_checkable
class DrawingRewriter(Rewriter, Protocol):
    """A rewriter that can also propose in small steps, and remembers what it proposed."""

    def drawing(self, prompt: Prompt, text: str, family: str) -> Drawing:
        """Prepare proposals for a text under a simple family."""
