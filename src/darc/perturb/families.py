"""The families of rewrites and how a budget is shared among them."""

from darc.errors import UnknownName

FAMILIES = ("hybrid", "style", "targeted")


def parts(family: str, count: int) -> list[tuple[str, int]]:
    """The simple families that make up a family, each with its part of the count."""
    if family not in FAMILIES:
        raise UnknownName("family", family, FAMILIES)
    if family == "hybrid":
        return [("style", count - count // 2), ("targeted", count // 2)]
    return [(family, count)]
