"""Who rated and which system wrote: names as users give them, as numbers that arrays can hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class Ids:
    """Names by number: `codes` (P, K, n) of raters or (P, K) of systems, -1 where not known."""

    codes: NDArray[np.int64]
    names: tuple[str, ...]

    def part(self, rows: slice | NDArray[np.int64]) -> "Ids":
        """The ids of some prompts."""
        return replace(self, codes=self.codes[rows])

    def numbers(self, table: Mapping[str, Any], nothing: Any) -> Array:
        """What the table has for each id, `nothing` where it has not, or the id is not known."""
        found = np.array([*(table.get(name, nothing) for name in self.names), nothing], dtype=float)
        return np.asarray(found[self.codes])


def as_ids(given: Any, shape: tuple[int, ...], noun: str) -> Ids:
    """The `Ids` of nested lists or an array; shorter lists are filled with unknown ids.

    Names are texts or whole numbers. None, NaN and an empty text are not known, nor is a negative
    number in an array of whole numbers, which has no room for None.
    """
    array = given if isinstance(given, np.ndarray) else None
    if array is not None and array.shape == shape and array.dtype.kind in "iuU":
        names, codes = np.unique(array, return_inverse=True)
        unknown = names < 0 if array.dtype.kind != "U" else names == ""
        kept = np.where(unknown, -1, np.cumsum(~unknown) - 1)
        texts = tuple(str(name) for name in names[~unknown])
        return Ids(kept[codes].reshape(shape).astype(np.int64), texts)
    codes, found = np.full(shape, -1, dtype=np.int64), dict[str, int]()
    _fill(codes, given, found, f"{noun}_ids")
    return Ids(codes, tuple(found))


def _fill(codes: NDArray[np.int64], given: Any, found: dict[str, int], name: str) -> None:
    """Write the numbers of nested ids into `codes`, and new names into `found`."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise InputError(
            f"{name} has {given!r} where a list is expected",
            "give them in the shape of the scores: one a sample for raters, one a candidate for "
            "systems",
        )
    if len(given) > len(codes):
        raise InputError(f"{name} has {len(given)} entries where the scores have {len(codes)}")
    for place, item in enumerate(given):
        if codes.ndim > 1:
            _fill(codes[place], item, found, name)
        elif not _unknown(item):
            codes[place] = found.setdefault(_text(item, name), len(found))


def _unknown(item: Any) -> bool:
    return item is None or item == "" or (isinstance(item, float | np.floating) and item != item)


def _text(item: Any, name: str) -> str:
    if isinstance(item, float | np.floating) and item.is_integer():
        item = int(item)
    if isinstance(item, bool) or not isinstance(item, str | int | np.integer):
        raise InputError(f"{name} has {item!r}", "an id is a text or a whole number, or None")
    return str(item)
