"""The ids of a study's units by kind and number; they never change."""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from sqlalchemy import select

from darc.study import schema
from darc.study.store import Store

KINDS = ("item", "attention", "gold", "training", "calibration")


@dataclass(frozen=True)
class Numbering:
    """`units[kind]` are ids in the order of their numbers, `number` is the way back for items."""

    units: dict[str, list[int]]
    number: dict[int, int]

    def due(
        self, checks: Sequence[Sequence[int]], rated: int, seen: set[int]
    ) -> list[tuple[int, str, bool]]:
        """The planned checks, (unit, kind, flipped), due after `rated` items and not seen yet."""
        found = []
        for after, check, flip in checks:
            if after > rated:
                break
            first = len(self.units["attention"])
            kind = "attention" if check < first else "gold"
            unit = self.units[kind][check if check < first else check - first]
            if unit not in seen:
                found.append((unit, kind, bool(flip)))
        return found


_KNOWN: WeakKeyDictionary[Store, Numbering] = WeakKeyDictionary()


def numbering(store: Store) -> Numbering:
    """The numbering of a store, read once."""
    if store not in _KNOWN:
        units: dict[str, list[int]] = {kind: [] for kind in KINDS}
        table = schema.units
        query = select(table.c.id, table.c.kind).order_by(table.c.kind, table.c.number)
        with store.read() as connection:
            for unit_id, kind in connection.execute(query):
                units[kind].append(unit_id)
        number = {unit_id: place for place, unit_id in enumerate(units["item"])}
        _KNOWN[store] = Numbering(units, number)
    return _KNOWN[store]
