"""A stream of seeded random choices, made of the project's stateless draws."""

from collections.abc import Sequence
from typing import TypeVar

from darc.core.draws import prompt_seeds, uniforms

Item = TypeVar("Item")

_BLOCK = 128


class Draws:
    """Uniform numbers one after another; the same (seed, key) gives the same stream."""

    def __init__(self, seed: int, key: object = "") -> None:
        self._seed = seed
        self._key = key
        self._block = 0
        self._numbers: list[float] = []

    def uniform(self) -> float:
        """The next number in [0, 1)."""
        if not self._numbers:
            seeds = prompt_seeds(self._seed, [f"{self._key}\0{self._block}"])
            self._numbers = uniforms(seeds, _BLOCK)[0].tolist()
            self._block += 1
        return self._numbers.pop()

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.uniform() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, each as likely."""
        return items[int(self.uniform() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in random order."""
        return [item for _, _, item in sorted((self.uniform(), i, x) for i, x in enumerate(items))]


def derived(seed: int, *parts: object) -> int:
    """A 64-bit seed that depends on the seed and all the parts."""
    return int(prompt_seeds(seed, ["\0".join(map(str, parts))])[0])
