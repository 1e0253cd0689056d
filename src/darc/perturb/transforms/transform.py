"""A transform: a named, seeded change of form that never touches protected spans."""

from collections.abc import Callable
from dataclasses import dataclass

from darc.perturb.drawing import Draws
from darc.perturb.spans import mask

Change = Callable[[str, Draws], str]


@dataclass(frozen=True)
class Transform:
    """`change(masked, draws)` rewrites a text whose protected spans are hidden.

    Calling the transform itself hides them first and puts them back afterwards.
    """

    name: str
    change: Change

    def __call__(self, text: str, draws: Draws) -> str:
        """The changed text; the same text where nothing applies."""
        masked = mask(text)
        return masked.restore(self.change(masked.text, draws))


def transform(name: str) -> Callable[[Change], Transform]:
    """Decorator that makes a `Transform` of a function on masked text."""
    return lambda change: Transform(name, change)


def like(model: str, words: str) -> str:
    """The words with the model's first letter's case."""
    return words[:1].upper() + words[1:] if model[:1].isupper() else words
