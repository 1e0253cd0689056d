"""Who gave each sample and which system wrote each candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.typing import Array, Integers

#: The code of a rater or system that is not known.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Ids:
    """Names of raters or systems, stored as numbers.

    Attributes:
        codes: The place in `names` of each rater, (P, K, n), or of each system, (P, K);
            `UNKNOWN` where it is not known.
        names: The names that the codes stand for.
        groups: The group of each rater that belongs to one, by the rater's name.
    """

    codes: Integers
    names: tuple[str, ...]
    groups: Mapping[str, str] = field(default_factory=dict)

    def grouped(self) -> "Ids":
        """Replace raters by their groups.

        Returns:
            Ids whose names are the groups of the raters, sorted.
        """
        group_names = {self.groups[name] for name in self.names if name in self.groups}
        names = tuple(sorted(group_names))
        code_of_group = {name: code for code, name in enumerate(names)}
        code_of_rater = [
            code_of_group.get(self.groups.get(name, ""), UNKNOWN) for name in self.names
        ]
        # The last entry is where the code of an unknown rater points to.
        table = np.array([*code_of_rater, UNKNOWN])
        return Ids(table[self.codes], names)

    def part(self, rows: slice | Integers) -> "Ids":
        """The ids of some prompts."""
        return replace(self, codes=self.codes[rows])

    def numbers(self, table: Mapping[str, Any], default: Any) -> Array:
        """Look up a number for each id.

        Args:
            table: Numbers by name.
            default: The number of an id that is unknown or not in the table.

        Returns:
            Numbers of the shape of `codes`.
        """
        by_code = [table.get(name, default) for name in self.names]
        numbers = np.array([*by_code, default], dtype=float)
        return np.asarray(numbers[self.codes])


def as_ids(ids: Any, shape: tuple[int, ...], noun: str) -> Ids:
    """Read the ids that a user gives.

    Args:
        ids: Nested lists or an array of texts or whole numbers. None, NaN and an empty text stand
            for an unknown id, and so does a negative number in an array of whole numbers, which
            has no room for None. Lists that are too short are filled with unknown ids.
        shape: The shape that the codes will have.
        noun: What the ids are of ("rater" or "system"), for error messages.

    Raises:
        InputError: If the ids do not fit the shape, or one is neither a text nor a whole number.
    """
    if isinstance(ids, np.ndarray) and ids.shape == shape and ids.dtype.kind in "iuU":
        return _ids_of_array(ids)
    codes = np.full(shape, UNKNOWN, dtype=np.int64)
    code_of_name: dict[str, int] = {}
    _fill_codes(codes, ids, code_of_name, f"{noun}_ids")
    return Ids(codes, tuple(code_of_name))


def _ids_of_array(array: np.ndarray[Any, Any]) -> Ids:
    """Ids of an array of texts or whole numbers that has the right shape already."""
    values, places = np.unique(array, return_inverse=True)
    unknown = values == "" if array.dtype.kind == "U" else values < 0
    code_of_value = np.where(unknown, UNKNOWN, np.cumsum(~unknown) - 1)
    codes = code_of_value[places].reshape(array.shape).astype(np.int64)
    names = tuple(str(value) for value in values[~unknown])
    return Ids(codes, names)


def _fill_codes(codes: Integers, ids: Any, code_of_name: dict[str, int], argument: str) -> None:
    """Write the codes of nested ids into `codes`, and new names into `code_of_name`."""
    if isinstance(ids, np.generic):
        ids = ids.item()
    if codes.ndim == 0:
        name = _id_name(ids, argument)
        if name:
            codes[...] = code_of_name.setdefault(name, len(code_of_name))
        return
    if isinstance(ids, str) or not isinstance(ids, Sequence | np.ndarray):
        raise InputError(
            f"{argument} has {ids!r} where a list is expected",
            "give them in the shape of the scores: one per sample for raters, one per candidate "
            "for systems",
        )
    if len(ids) > len(codes):
        raise InputError(f"{argument} has {len(ids)} entries where the scores have {len(codes)}")
    for place, item in enumerate(ids):
        _fill_codes(codes[place, ...], item, code_of_name, argument)


def _id_name(value: Any, argument: str) -> str:
    """The name of one id, empty where it is not known."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_nan = value != value
    if value is None or is_nan:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        hint = "an id is a text or a whole number, or None"
        raise InputError(f"{argument} has {value!r}", hint)
    return str(value)


def rater_ids(
    codes: Integers, names: Sequence[str], groups: Mapping[str, str] | None = None
) -> Ids:
    """Merge the raters of several scorers into one rater per sample.

    Args:
        codes: The rater of each sample, (P, M, K, n), `UNKNOWN` where it is not known.
        names: The names of the raters.
        groups: The group of each rater that belongs to one.

    Returns:
        Raters (P, K, n). In a prompt where scorers disagree on who gave a sample, all raters are
        unknown.
    """
    merged = codes.max(axis=1)
    agreed = ((codes == merged[:, None]) | (codes < 0)).all(axis=(1, 2, 3))
    merged = np.where(agreed[:, None, None], merged, UNKNOWN)
    return Ids(merged, tuple(names), groups or {})


def system_ids(systems: Sequence[Sequence[str]], candidates: int) -> Ids:
    """Number the systems that wrote the candidates of each prompt.

    Args:
        systems: The names of the systems of each prompt's candidates, empty where not known.
        candidates: The largest number of candidates of a prompt.

    Returns:
        Systems (P, K).
    """
    code_of_name: dict[str, int] = {"": UNKNOWN}
    codes = np.full((len(systems), candidates), UNKNOWN, dtype=np.int64)
    for row, names in zip(codes, systems, strict=True):
        row[: len(names)] = [code_of_name.setdefault(name, len(code_of_name) - 1) for name in names]
    known_names = tuple(code_of_name)[1:]
    return Ids(codes, known_names)


def recurring_systems(systems: Ids) -> Ids | None:
    """Keep the systems that wrote for more than one prompt; nothing can be learnt of the others.

    Args:
        systems: Systems (P, K).

    Returns:
        Ids in which the other systems are unknown, or None if no system wrote for two prompts.
    """
    prompts, candidates = systems.codes.shape
    base = len(systems.names) + 1
    flat_codes = systems.codes.ravel()
    prompt_and_system = np.arange(prompts).repeat(candidates) * base + flat_codes
    system_of_pair = np.unique(prompt_and_system[flat_codes >= 0]) % base
    prompts_of_system = np.bincount(system_of_pair, minlength=len(systems.names))
    # The last entry is where the code of an unknown system points to.
    recurs = np.append(prompts_of_system > 1, False)
    if not recurs.any():
        return None
    new_codes = np.where(recurs, np.cumsum(recurs) - 1, UNKNOWN)
    names = tuple(name for name, keep in zip(systems.names, recurs, strict=False) if keep)
    return Ids(new_codes[systems.codes], names)
