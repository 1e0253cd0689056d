"""A table of ratings that has been read and found good."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from darc.errors import TableError
from darc.registry import Closing
from darc.tables.batch import Batch, SampleBatch
from darc.tables.database import MISSING, RawRows, quoted
from darc.tables.schema import Schema
from darc.typing import Integers

# Padded cells for each rating that a batch may hold.
PADDING = 2
MISSING_SQL = ", ".join(map(quoted, sorted(MISSING)))
_SPACE = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"


class Sizes(NamedTuple):
    """Rows, candidates, and samples of the most rated candidate, for each of some prompts."""

    rows: Integers
    candidates: Integers
    samples: Integers


class Assembler(Protocol):
    """The samples of a table, sorted by candidate."""

    scorer_ids: list[str]
    rater_names: list[str]

    def sizes(self) -> Sizes:
        """How large each prompt is."""
        ...

    def check(self, start: int, stop: int) -> None:
        """Refuse what cannot be used among some of the rows."""
        ...

    def samples(self, start: int, stop: int, first: int, prompt: Integers) -> SampleBatch:
        """The samples of some rows; `prompt` is the prompt of each candidate from `first` on."""
        ...


class RatingTable(Closing):
    """The ratings of a file, in batches of whole prompts, in order of first appearance.

    `rows` counts the file's rows and `prompts` its prompts; `extra_columns` are those that say
    something about a candidate, and `system` is the one that names its system, "" where none
    does. It owns temporary files: use it as a context manager.
    """

    def __init__(
        self, loaded: RawRows, schema: Schema, assembler: Assembler, batch_rows: int
    ) -> None:
        self.layout = schema.layout
        self.rows = loaded.rows
        self.scorer_ids = assembler.scorer_ids
        self.system = schema.system
        self._loaded, self._schema, self._assembler = loaded, schema, assembler
        sizes = assembler.sizes()
        self.prompts = len(sizes.rows)
        self._rows = np.concatenate(([0], np.cumsum(sizes.rows)))
        self._candidates = np.concatenate(([0], np.cumsum(sizes.candidates)))
        self._ranges = plan(sizes, len(assembler.scorer_ids), batch_rows)
        for first, last in self._ranges:
            assembler.check(int(self._rows[first]), int(self._rows[last]))
        self.extra_columns = _kept(loaded, schema)

    def batches(self) -> Iterator[Batch]:
        """All prompts, a batch at a time; may be called again."""
        for first, last in self._ranges:
            sizes = np.diff(self._candidates[first : last + 1])
            samples = self._assembler.samples(
                int(self._rows[first]),
                int(self._rows[last]),
                int(self._candidates[first]),
                np.repeat(np.arange(last - first), sizes),
            )
            low, high = int(self._candidates[first]), int(self._candidates[last])
            yield Batch(
                prompt_ids=self._words("prompts", "id", first, last),
                candidate_ids=_split(self._words("candidates", "id", low, high), sizes),
                scorer_ids=self.scorer_ids,
                scores=samples.packed(),
                rater_names=self._assembler.rater_names,
                _samples=samples,
                _extras=self.extra_columns,
                _read=partial(self._extra, low, high),
            )

    def systems(self, batch: Batch) -> list[list[str]]:
        """The system of each candidate of a batch, its own id where no column says.

        A system that varies within a candidate is refused.
        """
        if not self.system:
            return batch.candidate_ids
        if self.system not in self.extra_columns:
            ids = " AND ".join(
                f"{self._loaded.text(self._schema.columns[part])} = candidates.{name}"
                for part, name in (("prompt_id", "prompt_id"), ("candidate_id", "id"))
            )
            column = self._loaded.column(self.system)
            (row,) = self._loaded.row(
                f"""SELECT min(raw.rowid) FROM raw JOIN candidates ON {ids}
                JOIN raw AS other ON other.rowid = first
                WHERE raw.{column} IS DISTINCT FROM other.{column}"""
            )
            raise self._loaded.fault(
                row,
                f"the {self.system} of this candidate is not that of its first row",
                "give every candidate one system, or use --system none",
            )
        return batch.cells(self.system)

    def groups(self) -> dict[str, str]:
        """The group of each rater where a tidy file has the column rater_group, the first given."""
        columns = self._schema.columns
        if "rater_group" not in columns:
            return {}
        rater, group = (self._loaded.text(columns[p]) for p in ("rater_id", "rater_group"))
        rows = self._loaded.run(
            f"""SELECT {rater}, arg_min({group}, rowid) FROM raw WHERE {group} != ''
            GROUP BY ALL ORDER BY min(rowid)"""
        )
        return dict(rows.fetchall())

    def close(self) -> None:
        """Remove the temporary files."""
        self._loaded.close()

    def _words(self, table: str, column: str, low: int, high: int) -> list[str]:
        sql = f"SELECT {column} AS word FROM {table} WHERE n >= {low} AND n < {high} ORDER BY n"
        return list(self._loaded.arrays(sql)["word"].tolist())

    def _extra(self, low: int, high: int, name: str) -> list[str]:
        table = "candidates JOIN raw ON raw.rowid = first"
        return self._words(table, self._loaded.text(name), low, high)


def plan(sizes: Sizes, scorers: int, limit: int) -> list[tuple[int, int]]:
    """Ranges of prompts (first, last + 1) of about `limit` rows, cut where padding would pile up.

    A range holds several prompts only while their rows stay within `limit` and the padded array
    (P, M, K, n) within `PADDING` times that.
    """
    ranges = []
    first = rows = most = depth = 0
    for index, (count, candidates, samples) in enumerate(zip(*map(list, sizes), strict=True)):
        most, depth = max(most, candidates), max(depth, samples)
        padded = (index + 1 - first) * scorers * most * depth
        if index > first and (rows + count > limit or padded > PADDING * limit):
            ranges.append((first, index))
            first, rows, most, depth = index, 0, candidates, samples
        rows += count
    ranges.append((first, len(sizes.rows)))
    return ranges


def number_items(loaded: RawRows, table: str, column: str) -> list[str]:
    """The distinct texts of a column by first appearance, and a table (n, id) of them."""
    loaded.run(
        f"""CREATE TABLE {table} AS
        SELECT (row_number() OVER (ORDER BY first) - 1)::INTEGER AS n, id
        FROM (SELECT {loaded.column(column)} AS id, min(rowid) AS first FROM raw GROUP BY 1)
        ORDER BY n"""
    )
    return [word for (word,) in loaded.run(f"SELECT id FROM {table} ORDER BY n").fetchall()]


def number_candidates(loaded: RawRows, schema: Schema, rated: str) -> None:
    """Tables `prompts` (n, id) and `candidates` (n, prompt, prompt_id, id, first, rated).

    Both are numbered by first appearance. A candidate also has, for each extra column, whether it
    varies among its rows; that alone is told by a hash, since texts may be long.
    """
    prompt, candidate = (loaded.column(schema.columns[p]) for p in ("prompt_id", "candidate_id"))
    varies = "".join(
        f", min(hash({loaded.text(name)})) != max(hash({loaded.text(name)})) AS v{i}"
        for i, name in enumerate(schema.extras)
    )
    number_groups(
        loaded,
        f"""SELECT {prompt} AS prompt_id, {candidate} AS id, min(rowid) AS first,
        {rated} AS rated{varies} FROM raw GROUP BY 1, 2""",
    )


def number_groups(loaded: RawRows, groups: str) -> None:
    """The tables of prompts and candidates made of rows (prompt_id, id, first, rated, ...)."""
    loaded.run(f"CREATE TEMP TABLE groups AS {groups}")
    loaded.run(
        """CREATE TABLE prompts AS SELECT (row_number() OVER (ORDER BY first) - 1)::INTEGER AS n, id
        FROM (SELECT prompt_id AS id, min(first) AS first FROM groups GROUP BY 1) ORDER BY n"""
    )
    loaded.run(
        """CREATE TABLE candidates AS SELECT
        (row_number() OVER (ORDER BY prompts.n, first) - 1)::INTEGER AS n, prompts.n AS prompt,
        groups.* FROM groups JOIN prompts ON prompts.id = prompt_id ORDER BY n"""
    )
    loaded.run("DROP TABLE groups")


def trimmed(text: str) -> str:
    """The SQL for a text in small letters without white space around it."""
    return f"lower(trim({text}, {_SPACE}))"


def refuse_first(loaded: RawRows, ids: Iterable[str], faults: Mapping[str, Any]) -> None:
    """Raise the error of the first row without an id, or with one of some faults in it.

    `faults` are conditions, each with a column and what makes the error of a row and that column.
    """

    def blank(row: int, name: str) -> TableError:
        return loaded.fault(row, f"no {name}", "give every row its ids")

    every = {f"{loaded.text(name)} = ''": (name, blank) for name in ids} | dict(faults)
    rows = loaded.row(
        f"SELECT {', '.join(f'min(rowid) FILTER ({each})' for each in every)} FROM raw"
    )
    found = [(row, place) for place, row in enumerate(rows) if row is not None]
    if found:
        row, place = min(found)
        name, error = list(every.values())[place]
        raise error(row, name)


def _kept(loaded: RawRows, schema: Schema) -> tuple[str, ...]:
    """The extra columns that do not vary within any candidate."""
    if not schema.extras:
        return ()
    each = ", ".join(f"bool_or(v{i})" for i in range(len(schema.extras)))
    varies = loaded.row(f"SELECT {each} FROM candidates")
    return tuple(name for name, other in zip(schema.extras, varies, strict=True) if not other)


def _split(words: list[str], sizes: Integers) -> list[list[str]]:
    ends = np.cumsum(sizes).tolist()
    return [words[low:high] for low, high in zip([0, *ends], ends, strict=False)]
