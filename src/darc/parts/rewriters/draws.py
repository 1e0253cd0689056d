"""Reproducible random choices."""

from collections.abc import Callable, Sequence
from itertools import chain, count
from typing import TypeVar

from darc.decide.statistics.draws import prompt_seeds, uniforms

Item = TypeVar("Item")
_BLOCK_SIZE = 128


class Draws:
    """A stream of uniform numbers in [0, 1); the same seed and key give the same stream."""

    def __init__(self, seed: int, key: str = "") -> None:
        """Prepare a stream.

        Args:
            seed: The seed.
            key: A text; streams of different keys are independent.
        """
        blocks = (
            uniforms(prompt_seeds(seed, [f"{key}\0{number}"]), _BLOCK_SIZE)[0] for number in count()
        )
        numbers = chain.from_iterable(block[::-1].tolist() for block in blocks)
        #: Returns the next number.
        self.uniform: Callable[[], float] = numbers.__next__

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.uniform() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items, each with the same probability."""
        return items[int(self.uniform() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order."""
        keys = [(self.uniform(), index) for index in range(len(items))]
        return [items[index] for _, index in sorted(keys)]
