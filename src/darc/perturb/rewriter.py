"""What every rewriter offers."""

from typing import Protocol

from darc.registry.capabilities import Capabilities
from darc.types import Prompt


class Rewriter(Protocol):
    """Proposes rewrites of an answer; filters decide which are kept."""

    @property
    def name(self) -> str:
        """The name that variants carry."""

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to `count` proposals; the same for the same arguments."""


class ReadyRewriter(Rewriter, Capabilities, Protocol):
    """A rewriter that has declared all of its capabilities."""

    version: str
