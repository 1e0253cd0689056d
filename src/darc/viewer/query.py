"""Which decisions a list shows, and in which order."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from darc.viewer.words import match_expression

#: The filters of a list by name: what they are called, and their condition.
FILTERS: Mapping[str, tuple[str, str]] = {
    "": ("All decisions", "TRUE"),
    "differs": ("Differs from Best-of-K", "differs = 1"),
    "divided": ("Most divided (a tenth)", "divided = 1"),
    "held": ("Held back", "held = 1"),
    "flagged": ("Flagged", "flagged = 1"),
}
#: Further filters where two sources are compared.
CHANGE_FILTERS: Mapping[str, tuple[str, str]] = {
    "changed": ("Another answer now", "change = 'changed'"),
    "same": ("The same answer", "change = 'same'"),
    "first": ("Only in the first", "change = 'first'"),
    "second": ("Only in the second", "change = 'second'"),
}
#: The orders of a list by name: what they are called, and their SQL.
ORDERS: Mapping[str, tuple[str, str]] = {
    "": ("Most disagreement first", "disagreement DESC NULLS LAST, number"),
    "unhappy": ("Most unhappy first", "unhappy_share DESC NULLS LAST, number"),
    "mean": ("Lowest average first", "mean ASC NULLS LAST, number"),
    "file": ("As in the file", "number"),
}
#: Further orders where two sources are compared.
CHANGE_ORDERS: Mapping[str, tuple[str, str]] = {
    "worse": ("Largest loss of average first", "mean_change ASC NULLS LAST, number"),
    "better": ("Largest gain of average first", "mean_change DESC NULLS LAST, number"),
}
_ALL_FILTERS = {**FILTERS, **CHANGE_FILTERS}
_ALL_ORDERS = {**ORDERS, **CHANGE_ORDERS}
_MAX_LENGTH = 400


@dataclass(frozen=True)
class Query:
    """What a reader has chosen: a search, filters and an order; empty for all."""

    q: str = ""
    show: str = ""
    system: str = ""
    group: str = ""
    sort: str = ""

    @classmethod
    def parse(cls, parameters: Mapping[str, str]) -> "Query":
        """Read the parameters of a URL; what is not known counts as empty."""
        values = {field.name: parameters.get(field.name, "")[:_MAX_LENGTH] for field in fields(cls)}
        if values["show"] not in _ALL_FILTERS:
            values["show"] = ""
        if values["sort"] not in _ALL_ORDERS:
            values["sort"] = ""
        return cls(**values)

    def parameters(self) -> dict[str, str]:
        """The parameters of a URL, without those that are empty."""
        return {name: value for name, value in asdict(self).items() if value}

    def condition(self) -> tuple[str, tuple[Any, ...]]:
        """The condition of the list's rows in SQL, with its values."""
        conditions = [_ALL_FILTERS[self.show][1]]
        values: list[Any] = []
        expression = match_expression(self.q)
        if expression:
            conditions.append(_of_decisions("SELECT rowid FROM words WHERE words MATCH ?"))
            values.append(expression)
        if self.system:
            conditions.append(_of_decisions("SELECT number FROM decisions WHERE system = ?"))
            values.append(self.system)
        if self.group:
            conditions.append(_of_decisions("SELECT number FROM unhappy_groups WHERE name = ?"))
            values.append(self.group)
        return " AND ".join(conditions), tuple(values)

    def order(self) -> str:
        """The order of the list's rows in SQL."""
        return f"ORDER BY {_ALL_ORDERS[self.sort][1]}"


def _of_decisions(numbers: str) -> str:
    """The condition that one of an entry's decisions is among some."""
    return f"number IN (SELECT entry FROM decisions WHERE number IN ({numbers}))"
