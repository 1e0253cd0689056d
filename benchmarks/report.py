"""A titled table, printed as text or as JSON lines."""

import json
from dataclasses import dataclass

from darc.views.text_table import text_table


@dataclass(frozen=True)
class Table:
    """What a benchmark measured, and a sentence about it."""

    title: str
    header: list[str]
    rows: list[list[object]]
    note: str = ""

    def numbers(self, column: str) -> list[float]:
        """The numbers of one column, top to bottom."""
        place = self.header.index(column)
        return [float(str(row[place])) for row in self.rows]

    def text(self) -> str:
        """The table for people."""
        note = f"\n{self.note}" if self.note else ""
        return f"{self.title}\n\n{text_table(self.header, self.rows)}{note}\n"

    def json(self) -> str:
        """The table for programs, one object per row."""
        lines = [
            json.dumps({"table": self.title, **dict(zip(self.header, row, strict=True))})
            for row in self.rows
        ]
        return "\n".join(lines)
