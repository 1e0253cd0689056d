"""Families of rewrites, and the seeds of their draws."""

from typing import NamedTuple

from darc.decide.statistics.draws import prompt_seeds
from darc.errors import UnknownName

#: The families; "hybrid" is half "style" and half "targeted".
FAMILIES = ("hybrid", "style", "targeted")


class FamilyShare(NamedTuple):
    """A simple family, and how many rewrites it contributes."""

    family: str
    number: int


def split_family(family: str, count: int) -> list[FamilyShare]:
    """Split a number of rewrites between the simple families of a family.

    Args:
        family: One of `FAMILIES`.
        count: The number of rewrites.

    Returns:
        The simple families with their shares of the number.

    Raises:
        UnknownName: If there is no such family.
    """
    if family not in FAMILIES:
        raise UnknownName("family", family, FAMILIES)
    if family == "hybrid":
        return [FamilyShare("style", count - count // 2), FamilyShare("targeted", count // 2)]
    return [FamilyShare(family, count)]


def derive_seed(seed: int, *parts: object) -> int:
    """Compute a 64-bit seed that depends on the seed and all the parts."""
    text = "\0".join(map(str, parts))
    return int(prompt_seeds(seed, [text])[0])
