"""A file of ratings that has been read and checked."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from darc.closing import Closing
from darc.ratings.columns import Schema
from darc.ratings.comparisons import comparison_faults, fit_samples, left_share_sql
from darc.ratings.database import quoted
from darc.ratings.lazy import LazyMapping, LazySequence
from darc.ratings.packing import PADDING, SamplePacking, plan_batches
from darc.ratings.ratings import Ratings
from darc.ratings.raw_rows import RawRows, RowFault
from darc.ratings.repeated_ratings import (
    CopiedRatings,
    Repeats,
    average_repeats,
    copied_share,
    has_repeats,
    leave_out_copies,
)

# What `darc export` calls the samples of a run without a panel.
_REWRITE = re.compile(r"rewrite \d+")
# Copied ratings are looked for in the first prompts with about this many ratings.
_COPY_SEARCH_ROWS = 400_000


class RatingTable(Closing):
    """The ratings of a file, given out in batches of whole prompts, in order of first appearance.

    It owns temporary files: use it as a context manager.

    In the database, `long` has a row for each judgement of a candidate; `prompts`, `raters` and
    `scorers` (n, id) and `candidates` (n, prompt, prompt_id, id, ...) are numbered by first
    appearance; and `samples` (candidate, scorer, rater, value) is sorted by candidate, scorer and
    row.

    Attributes:
        name: What errors call the file.
        layout: "tidy", "wide" or "pairwise".
        rows: The number of rows of the file.
        prompts: The number of prompts.
        scorers: The names of the scorers, [""] where the file names none.
        rater_names: The names of the raters.
        extra_columns: The other columns that say something about a candidate.
        system: The other column that names a candidate's system, "" where none does.
    """

    def __init__(self, loaded: RawRows, schema: Schema, method: str, batch_rows: int) -> None:
        """Check the rows, number everything and plan the batches.

        Args:
            loaded: The rows of the file, whose database this takes over.
            schema: What the columns are.
            method: How comparisons become samples.
            batch_rows: About how many ratings a batch holds.

        Raises:
            TableError: A row is at fault.
        """
        self.name = loaded.source
        self.layout = schema.layout
        self.rows = loaded.rows
        self.system = schema.system
        self._loaded = loaded
        self._schema = schema
        self._db = loaded.db
        # A row of the file makes this many rows of `long`.
        self._width = self._make_long()
        self._number_candidates()
        self.extra_columns = self._constant_columns()
        self._number("raters", "rater")
        self._number("scorers", "scorer")
        self.rater_names = self._words("raters")
        self.scorers = self._words("scorers")
        self._make_samples(method)
        self._plan(batch_rows)
        #: Second ratings by the same rater, which are averaged; None where there are none.
        self.repeats: Repeats | None = None
        #: Ratings under two names, which are counted once; None where there are none.
        self.copies: CopiedRatings | None = None
        if self.layout != "pairwise":
            self._merge_repeats(batch_rows)

    def _plan(self, batch_rows: int) -> None:
        """Count the samples of each prompt and plan the batches."""
        counts = self._db.arrays(
            """SELECT sum(count)::BIGINT AS rows, count(DISTINCT candidate) AS candidates,
            max(count) AS depth FROM
            (SELECT candidate, scorer, count(*) AS count FROM samples GROUP BY ALL)
            JOIN candidates ON n = candidate GROUP BY prompt ORDER BY prompt"""
        )
        self.prompts = len(counts["rows"])
        self._first_sample = np.concatenate(([0], np.cumsum(counts["rows"])))
        self._first_candidate = np.concatenate(([0], np.cumsum(counts["candidates"])))
        self._widths = counts["candidates"] * len(self.scorers)
        self._depths = counts["depth"]
        self._batches = plan_batches(
            counts["rows"], self._widths, self._depths, batch_rows, PADDING * batch_rows
        )

    def _merge_repeats(self, batch_rows: int) -> None:
        """Average a rater's repeats, and count copied ratings once.

        Copies are looked for among the first prompts, since a file that has any has them all over.
        """
        if any(has_repeats(self._db, self._samples_sql(*batch)) for batch in self._batches):
            self.repeats = average_repeats(self._db)
            self._plan(batch_rows)
        if self.kind == "rewrite":
            return
        last = np.searchsorted(self._first_sample, _COPY_SEARCH_ROWS, side="right")
        searched = self._samples_sql(0, min(max(1, int(last) - 1), self.prompts))
        share = copied_share(self._db, searched)
        if share > 0:
            self.copies = leave_out_copies(self._db, share)
            self._plan(batch_rows)

    @property
    def notes(self) -> list[str]:
        """What a user should know before these ratings are counted, one sentence each."""
        return [part.note for part in (self.repeats, self.copies) if part is not None]

    def __repr__(self) -> str:
        return (
            f"RatingTable({self.name}: {self.layout}, {self.prompts} prompts, "
            f"{len(self.rater_names)} raters, {self.rows} rows)"
        )

    def batches(self) -> Iterator[Ratings]:
        """All prompts, a batch at a time; may be called again."""
        return (self.batch(first, last) for first, last in self._batches)

    def head(self, max_cells: int) -> Ratings:
        """The first prompts, as many as have at most that many padded samples, at least one."""
        widest = np.maximum.accumulate(self._widths)
        deepest = np.maximum.accumulate(self._depths)
        cells = np.arange(1, self.prompts + 1) * widest * deepest
        prompts = int(np.searchsorted(cells, max_cells, side="right"))
        return self.batch(0, max(1, prompts))

    def all_prompts(self) -> Ratings:
        """All prompts at once, in memory."""
        return self.batch(0, self.prompts)

    def batch(self, first: int, last: int) -> Ratings:
        """The prompts from `first` to before `last`, padded to the largest of them."""
        columns = self._db.arrays(f"FROM {self._samples_sql(first, last)}")
        candidate_counts = np.diff(self._first_candidate[first : last + 1])
        low = int(self._first_candidate[first])
        high = int(self._first_candidate[last])
        candidate = columns["candidate"].astype(np.int64) - low
        cells = candidate * len(self.scorers) + columns["scorer"]
        packing = SamplePacking(cells, candidate_counts, len(self.scorers))
        sizes = candidate_counts.tolist()
        candidate_ids = _nested(self._words("candidates", low, high), sizes)

        def read_column(name: str) -> list[list[str]]:
            return _nested(self._extra_words(name, low, high), sizes)

        extra_columns = LazyMapping(self.extra_columns, read_column)
        return Ratings(
            name=self.name,
            kind=self.kind,
            prompt_ids=self._words("prompts", first, last),
            candidate_ids=candidate_ids,
            scorers=self.scorers,
            samples=packing.array(columns["value"]),
            raters=packing.array(columns["rater"]),
            rater_names=self.rater_names,
            lengths=np.full((last - first, max(sizes)), np.nan),
            systems=self._systems(candidate_ids, extra_columns),
            groups=self.groups,
            extra_columns=extra_columns,
            repeats=self.repeats,
            notes=self.notes,
        )

    @cached_property
    def kind(self) -> str:
        """Whose samples these are: "rewrite" for an exported run without a panel, or "rater"."""
        names = self.rater_names
        if names and all(_REWRITE.fullmatch(name) for name in names):
            return "rewrite"
        return "rater"

    @cached_property
    def groups(self) -> dict[str, str]:
        """The first group that a tidy file has for each rater; empty without such a column."""
        if "rater_group" not in self._schema.columns:
            return {}
        group = self._loaded.text(self._schema.columns["rater_group"])
        rows = self._db.run(
            f"""SELECT rater, arg_min({group}, row) FROM long JOIN raw ON raw.rowid = row
            WHERE {group} != '' GROUP BY ALL ORDER BY min(row)"""
        )
        return dict(rows.fetchall())

    def rating_range(self) -> tuple[float, float]:
        """The lowest and the highest rating of all prompts."""
        lowest, highest = self._db.row("SELECT min(value), max(value) FROM samples")
        return float(lowest), float(highest)

    def close(self) -> None:
        """Remove the temporary files."""
        self._db.close()

    def _systems(
        self, candidate_ids: list[list[str]], extra_columns: LazyMapping
    ) -> Sequence[Sequence[str]]:
        """The system of each candidate, its own id where no column says.

        A system that varies within a candidate is refused when it is looked at.
        """
        if not self.system:
            return candidate_ids

        def systems_of(prompt: int) -> list[str]:
            if self.system not in extra_columns:
                raise self._varying_system()
            return list(extra_columns[self.system][prompt])

        return LazySequence(len(candidate_ids), systems_of)

    def _varying_system(self) -> Exception:
        """The error for a candidate with two systems."""
        column = f"h{self._schema.extras.index(self.system)}"
        (row,) = self._db.row(
            f"""SELECT min(long.row) FROM long JOIN candidates USING (prompt_id, id)
            JOIN long AS other ON other.row = first WHERE long.{column} != other.{column}"""
        )
        return self._loaded.error_at(
            row // self._width,
            f"the {self.system} of this candidate is not that of its first row",
            "give every candidate one system, or use --system none",
        )

    def _make_long(self) -> int:
        """Make the view `long` (row, prompt_id, id, scorer, rater, value, a hash for each extra).

        Returns:
            How many of its rows a row of the file makes: as many as it has raters (wide) or
            candidates (pairwise).

        Raises:
            TableError: A row is at fault.
        """
        loaded = self._loaded
        roles = self._schema.columns
        columns = {role: loaded.column(name) for role, name in roles.items()}
        faults = self._empty_cell_faults()
        ids = [columns.get("candidate_id", "")]
        raters = [columns.get("rater_id", "")]
        if self.layout == "pairwise":
            ids = [columns["left_id"], columns["right_id"]]
            values = [left_share_sql(columns)] * 2
            faults += comparison_faults(loaded, roles)
        else:
            rating_columns = self._schema.raters or (roles["rating"],)
            values = [loaded.number(name) for name in rating_columns]
            if self._schema.raters:
                raters = [quoted(name) for name in self._schema.raters]
            faults += loaded.number_faults(rating_columns)
        loaded.raise_first(faults)
        width = len(values)
        cells = {
            "row": [f"rowid * {width} + {place}" for place in range(width)],
            "prompt_id": [columns["prompt_id"]],
            "id": ids,
            "scorer": [columns.get("scorer_id", "''")],
            "rater": raters,
            "value": values,
        }
        for place, name in enumerate(self._schema.extras):
            cells[f"h{place}"] = [f"hash({loaded.text(name)})"]
        selected = ", ".join(_unnested(name, cell) for name, cell in cells.items())
        self._db.run(f"CREATE VIEW long AS SELECT {selected} FROM raw")
        return width

    def _empty_cell_faults(self) -> list[RowFault]:
        """Faults of rows without an id, a rating or a winner."""
        faults = []
        for role, name in self._schema.columns.items():
            if role.endswith("_id"):
                condition = f"{self._loaded.text(name)} = ''"
                faults.append(RowFault.plain(condition, f"no {name}", "give every row its ids"))
            elif role in ("rating", "winner"):
                condition = f"{self._loaded.column(name)} IS NULL"
                hint = "write null if it is missing"
                faults.append(RowFault.plain(condition, f"no {name}", hint))
        return faults

    def _number_candidates(self) -> None:
        """Make the tables of prompts and candidates.

        A candidate has a flag for each extra column that says whether it varies between its rows.
        That is told by a hash, since texts may be long.

        Raises:
            TableError: A candidate has no rating.
        """
        flags = "".join(
            f", min(h{place}) != max(h{place}) AS v{place}"
            for place in range(len(self._schema.extras))
        )
        self._db.run(
            f"""CREATE TEMP TABLE pools AS SELECT prompt_id, id, min(row) AS first,
            count(value) AS rated{flags} FROM long GROUP BY ALL"""
        )
        self._number("prompts", "prompt_id", "first", "pools")
        self._db.run(
            """CREATE TABLE candidates AS SELECT
            (row_number() OVER (ORDER BY prompts.n, first) - 1)::INTEGER AS n, prompts.n AS prompt,
            pools.* FROM pools JOIN prompts ON prompts.id = prompt_id ORDER BY n"""
        )
        self._db.run("DROP TABLE pools")
        unrated = self._db.row(
            "SELECT first, id, prompt_id FROM candidates WHERE rated = 0 ORDER BY n LIMIT 1"
        )
        if unrated:
            row, candidate, prompt = unrated
            noun = "rating"
            verb = "rate"
            if self.layout == "pairwise":
                noun = "comparison"
                verb = "compare"
            raise self._loaded.error_at(
                row // self._width,
                f"every {noun} of candidate {candidate!r} of prompt {prompt!r} is missing",
                f"leave the candidate out, or {verb} it",
            )

    def _constant_columns(self) -> tuple[str, ...]:
        """The extra columns that are the same in all rows of a candidate."""
        extras = self._schema.extras
        if not extras:
            return ()
        flags = ", ".join(f"bool_or(v{place})" for place in range(len(extras)))
        varies = self._db.row(f"SELECT {flags} FROM candidates")
        return tuple(name for name, flag in zip(extras, varies, strict=True) if not flag)

    def _number(self, table: str, part: str, row: str = "row", rows: str = "long") -> None:
        """Make the table (n, id) of the distinct texts of a column, by first appearance."""
        self._db.run(
            f"""CREATE TABLE {table} AS
            SELECT (row_number() OVER (ORDER BY min({row})) - 1)::INTEGER AS n, {part} AS id
            FROM {rows} GROUP BY {part} ORDER BY n"""
        )

    def _make_samples(self, method: str) -> None:
        """Make the table `samples`, by way of `games` for comparisons."""
        is_pairwise = self.layout == "pairwise"
        table = "samples"
        order = "candidates.n, scorer, row"
        if is_pairwise:
            table = "games"
            order = "prompt, row"
        scorer = "0::INTEGER"
        join = ""
        if "scorer_id" in self._schema.columns:
            scorer = "scorers.n"
            join = "JOIN scorers ON scorers.id = scorer"
        self._db.run(
            f"""CREATE TABLE {table} AS
            SELECT candidates.n AS candidate, {scorer} AS scorer, raters.n AS rater, value
            FROM long JOIN candidates USING (prompt_id, id) JOIN raters ON raters.id = rater {join}
            WHERE value IS NOT NULL ORDER BY {order}"""
        )
        if is_pairwise:
            fit_samples(self._db, method, len(self.rater_names))

    def _samples_sql(self, first: int, last: int) -> str:
        """The SQL for the samples of the prompts from `first` to before `last`."""
        low = self._first_sample[first]
        high = self._first_sample[last]
        return f"samples WHERE rowid >= {low} AND rowid < {high}"

    def _words(self, table: str, low: int = 0, high: int = 2**62, column: str = "id") -> list[str]:
        """A column of the rows of a numbered table from `low` to before `high`."""
        sql = f"SELECT {column} AS word FROM {table} WHERE n >= {low} AND n < {high} ORDER BY n"
        return list(self._db.arrays(sql)["word"].tolist())

    def _extra_words(self, name: str, low: int, high: int) -> list[str]:
        """The cells of an extra column on the first rows of some candidates."""
        table = f"candidates JOIN raw ON raw.rowid = first // {self._width}"
        return self._words(table, low, high, self._loaded.text(name))


def _nested(words: Sequence[str], sizes: Sequence[int]) -> list[list[str]]:
    """Words cut into lists of these sizes."""
    rest = iter(words)
    return [[next(rest) for _ in range(size)] for size in sizes]


def _unnested(name: str, cells: Sequence[str]) -> str:
    """The SQL for a column whose cells come one after the other for each row."""
    if len(cells) == 1:
        return f"{cells[0]} AS {name}"
    return f"unnest([{', '.join(cells)}]) AS {name}"
