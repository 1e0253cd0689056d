"""Registries: items of one kind by name, in this package or in others."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from darc.errors import UnknownName
from darc.registry.plugins import load_plugins

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Items of one kind by name.

    An extension is one decorated function or class. In another package it is found through an entry
    point of the registry's group; entry points are read when a name is unknown or all names are
    listed.
    """

    def __init__(
        self, kind: str, group: str, expected: type[Item], aliases: Mapping[str, str] | None = None
    ) -> None:
        """Make an empty registry.

        Args:
            kind: What an item is called in messages, such as "rule".
            group: The group of entry points, such as "darc.rules".
            expected: The class of the items.
            aliases: Other names that users know items by, in lower case.
        """
        self.kind = kind
        self.group = group
        self._expected = expected
        self._aliases = aliases or {}
        self._items: dict[str, Item] = {}
        self._plugins_loaded = False

    def add(self, name: str, item: Item) -> Item:
        """Register an item.

        Args:
            name: Its name.
            item: The item.

        Raises:
            ValueError: If another item has this name.
        """
        if self._items.setdefault(name, item) is not item:
            raise ValueError(f"there is already a {self.kind} named {name!r}")
        return item

    def get(self, name: str) -> Item:
        """Return the item of a name or alias.

        Args:
            name: The name or alias.

        Raises:
            UnknownName: If there is none; it names the nearest one.
        """
        name = self._aliases.get(name.lower(), name)
        if name not in self._items:
            self._load_plugins()
        if name not in self._items:
            raise UnknownName(self.kind, name, self._items)
        return self._items[name]

    def __repr__(self) -> str:
        return f"{self.kind}s: {', '.join(self)}"

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(sorted(self._items))

    def _load_plugins(self) -> None:
        """Add the items of other packages, once."""
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        for name, item in load_plugins(self.group, self.kind, self._plugin_item):
            # Its decorator may have registered it already.
            self._items.setdefault(name, item)

    def _plugin_item(self, name: str, loaded: Any) -> Item:
        """The item that the object of an entry point is or stands for."""
        item = self._as_item(name, loaded)
        if not isinstance(item, self._expected):
            raise TypeError(f"it is not a {self._expected.__name__}")
        return item

    def _as_item(self, name: str, loaded: Any) -> Any:
        """The object of an entry point as an item."""
        return loaded
