"""Items that other packages offer through entry points."""

import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Any, TypeVar

Item = TypeVar("Item")


def load_plugins(
    group: str, kind: str, as_item: Callable[[str, Any], Item]
) -> Iterator[tuple[str, Item]]:
    """Load the items of a group of entry points; one that fails is skipped with a warning.

    Args:
        group: The group, such as "darc.rules".
        kind: What an item is called in warnings.
        as_item: Makes an item of a name and a loaded object, or raises.

    Yields:
        The name and the item of every entry point.
    """
    for point in entry_points(group=group):
        try:
            item = as_item(point.name, point.load())
        # Whatever somebody else's package raises must not stop ours.
        except Exception as problem:
            warnings.warn(
                f"{kind} {point.name!r} of {point.value} was skipped: {problem}",
                RuntimeWarning,
                stacklevel=4,
            )
        else:
            yield point.name, item
