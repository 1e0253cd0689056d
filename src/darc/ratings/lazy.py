"""Sequences and mappings whose items are made when they are looked at."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


class LazySequence(Sequence[Any]):
    """A sequence of a known length whose items are made from their index on every access."""

    def __init__(self, size: int, make_item: Callable[[int], Any]) -> None:
        self._size = size
        self._make_item = make_item

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: Any) -> Any:
        positions = range(self._size)[index]
        if isinstance(index, slice):
            return [self._make_item(position) for position in positions]
        return self._make_item(positions)


class LazyMapping(Mapping[str, Any]):
    """A mapping with known keys whose values are made on first access, then remembered."""

    def __init__(self, keys: Sequence[str], make_value: Callable[[str], Any]) -> None:
        self._keys = tuple(keys)
        self._make_value = make_value
        self._values: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        if key not in self._values:
            self._values[key] = self._make_value(key)
        return self._values[key]
