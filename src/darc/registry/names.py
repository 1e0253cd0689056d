"""Items by name, in the tree or in other packages."""

import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from darc.errors import UnknownName

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Items of one kind by name; entry points are read when a name is unknown or all are listed.

    An extension is one decorated function or class. In another package it is found through an entry
    point of the registry's group; one that cannot be loaded is skipped with a warning. `aliases`
    are other names that users know items by, in any case.
    """

    def __init__(
        self, kind: str, group: str, expected: type[Item], aliases: Mapping[str, str] | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self._expected = expected
        self._aliases = aliases or {}
        self._items: dict[str, Item] = {}
        self._loaded = False

    def add(self, name: str, item: Item) -> Item:
        """Register an item; a name that is taken by another item is refused."""
        if self._items.setdefault(name, item) is not item:
            raise ValueError(f"there is already a {self.kind} named {name!r}")
        return item

    def get(self, name: str) -> Item:
        """The item of this name; raises `UnknownName` with the nearest one."""
        name = self._aliases.get(name.lower(), name)
        if name not in self._items:
            self._load()
        if name not in self._items:
            raise UnknownName(self.kind, name, self._items)
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._items))

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        for point in entry_points(group=self.group):
            try:
                self._accept(point.name, point.load())
            except Exception as problem:
                warnings.warn(
                    f"{self.kind} {point.name!r} of {point.value} was skipped: {problem}",
                    RuntimeWarning,
                    stacklevel=3,
                )

    def _accept(self, name: str, loaded: Any) -> None:
        """Take what an entry point names; its decorator may have registered it already."""
        if name in self._items:
            return
        if not isinstance(loaded, self._expected):
            raise TypeError(f"it is no {self._expected.__name__}")
        self._items[name] = loaded
