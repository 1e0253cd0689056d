"""A table of ratings that has been read and found good."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from darc.closing import Closing
from darc.ratings.batch import PADDING, Batch, packed, plan
from darc.ratings.columns import Schema
from darc.ratings.comparisons import fit_samples, game_faults, outcome
from darc.ratings.database import quoted
from darc.ratings.raw_rows import Faults, RawRows


class RatingTable(Closing):
    """The ratings of a file, in batches of whole prompts, in order of first appearance.

    `rows` counts the file's rows and `prompts` its prompts; `extra_columns` are those that say
    something about a candidate, and `system` is the one that names its system, "" where none
    does. It owns temporary files: use it as a context manager.

    In the database, `long` has a row for each judgement of a candidate; prompts, raters and scorers
    (n, id) and candidates (n, prompt, prompt_id, id, ...) are numbered by first appearance; and
    `samples` (candidate, scorer, rater, value) is sorted by candidate, scorer and row.
    """

    def __init__(self, loaded: RawRows, schema: Schema, method: str, batch_rows: int) -> None:
        self.layout, self.rows, self.system = schema.layout, loaded.rows, schema.system
        self._loaded, self._schema, self._db = loaded, schema, loaded.db
        self._make_long()
        self._number_candidates()
        self._number("raters", "rater")
        self._number("scorers", "scorer")
        self.rater_names, self.scorer_ids = (self._words(each) for each in ("raters", "scorers"))
        self._make_samples(method)
        counts = self._db.arrays(
            """SELECT sum(count)::BIGINT AS rows, count(DISTINCT candidate) AS candidates,
            max(count) AS depth FROM
            (SELECT candidate, scorer, count(*) AS count FROM samples GROUP BY ALL)
            JOIN candidates ON n = candidate GROUP BY prompt ORDER BY prompt"""
        )
        self.prompts = len(counts["rows"])
        self._starts = np.concatenate(([0], np.cumsum(counts["rows"])))
        self._candidates = np.concatenate(([0], np.cumsum(counts["candidates"])))
        self._sizes = counts["candidates"] * len(self.scorer_ids), counts["depth"]
        self._ranges = plan(counts["rows"], *self._sizes, batch_rows, PADDING * batch_rows)
        if self.layout != "pairwise":
            for first, last in self._ranges:
                self._check_once(first, last)

    def batches(self) -> Iterator[Batch]:
        """All prompts, a batch at a time; may be called again."""
        return (self.batch(first, last) for first, last in self._ranges)

    def head(self, cells: int) -> Batch:
        """The first prompts, as many as have that many padded scores at most, or one."""
        widest, deepest = map(np.maximum.accumulate, self._sizes)
        padded = np.arange(1, self.prompts + 1) * widest * deepest
        return self.batch(0, max(1, int(np.searchsorted(padded, cells, side="right"))))

    def batch(self, first: int, last: int) -> Batch:
        """The prompts from `first` to before `last`, which are padded to the largest of them."""
        found, scorers = self._db.arrays(f"FROM {self._samples(first, last)}"), len(self.scorer_ids)
        sizes = np.diff(self._candidates[first : last + 1])
        low, high = (int(self._candidates[place]) for place in (first, last))
        cell = (found["candidate"].astype(np.int64) - low) * scorers + found["scorer"]
        scores, raters = packed(cell, sizes, scorers, found["value"], found["rater"])
        words = iter(self._words("candidates", low, high))
        return Batch(
            prompt_ids=self._words("prompts", first, last),
            candidate_ids=[[next(words) for _ in range(size)] for size in sizes.tolist()],
            scorer_ids=self.scorer_ids,
            scores=scores,
            raters=raters,
            rater_names=self.rater_names,
            _extras=self.extra_columns,
            _read=partial(self._extra, low, high),
        )

    def systems(self, batch: Batch) -> list[list[str]]:
        """The system of each candidate of a batch, its own id where no column says.

        A system that varies within a candidate is refused.
        """
        if not self.system:
            return batch.candidate_ids
        if self.system in self.extra_columns:
            return batch.cells(self.system)
        place = self._schema.extras.index(self.system)
        (row,) = self._db.row(
            f"""SELECT min(long.row) FROM long JOIN candidates USING (prompt_id, id)
            JOIN long AS other ON other.row = first WHERE long.h{place} != other.h{place}"""
        )
        raise self._loaded.fault(
            row // self._width,
            f"the {self.system} of this candidate is not that of its first row",
            "give every candidate one system, or use --system none",
        )

    def groups(self) -> dict[str, str]:
        """The group of each rater where a tidy file has the column rater_group, the first given."""
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

    def _make_long(self) -> None:
        """The view `long` (row, prompt_id, id, scorer, rater, value, and a hash for each extra).

        A row of the file is as many of its rows as it has raters (wide) or candidates (pairwise).
        Faults of single rows are refused.
        """
        loaded, columns = self._loaded, self._schema.columns
        known = {part: loaded.column(name) for part, name in columns.items()}
        faults: Faults = {}
        for part, name in columns.items():
            if part.endswith("_id"):
                faults[f"{loaded.text(name)} = ''"] = (f"no {name}", "give every row its ids")
            elif part in ("rating", "winner"):
                faults[f"{known[part]} IS NULL"] = (f"no {name}", "write null if it is missing")
        ids, raters = [known.get("candidate_id", "")], [known.get("rater_id", "")]
        if self.layout == "pairwise":
            ids, values = [known["left_id"], known["right_id"]], [outcome(known)] * 2
            faults |= game_faults(loaded, columns)
        else:
            rated = self._schema.raters or (columns["rating"],)
            values = [loaded.number(name) for name in rated]
            raters = [quoted(name) for name in self._schema.raters] or raters
            faults |= loaded.number_faults(rated)
        loaded.refuse_first(faults)
        self._width = len(values)
        parts = {
            "row": [f"rowid * {self._width} + {place}" for place in range(self._width)],
            "prompt_id": [known["prompt_id"]],
            "id": ids,
            "scorer": [known.get("scorer_id", "''")],
            "rater": raters,
            "value": values,
        }
        for place, name in enumerate(self._schema.extras):
            parts[f"h{place}"] = [f"hash({loaded.text(name)})"]
        cells = (
            f"{each[0]} AS {name}" if len(each) == 1 else f"unnest([{', '.join(each)}]) AS {name}"
            for name, each in parts.items()
        )
        self._db.run(f"CREATE VIEW long AS SELECT {', '.join(cells)} FROM raw")

    def _number_candidates(self) -> None:
        """The tables of prompts and candidates, and which extra columns are the candidates' own.

        Whether an extra column varies is told by a hash, since texts may be long.
        """
        places = range(len(self._schema.extras))
        varies = "".join(f", min(h{i}) != max(h{i}) AS v{i}" for i in places)
        self._db.run(
            f"""CREATE TEMP TABLE pools AS SELECT prompt_id, id, min(row) AS first,
            count(value) AS rated{varies} FROM long GROUP BY ALL"""
        )
        self._number("prompts", "prompt_id", "first", "pools")
        self._db.run(
            """CREATE TABLE candidates AS SELECT
            (row_number() OVER (ORDER BY prompts.n, first) - 1)::INTEGER AS n, prompts.n AS prompt,
            pools.* FROM pools JOIN prompts ON prompts.id = prompt_id ORDER BY n"""
        )
        self._db.run("DROP TABLE pools")
        found = self._db.row(
            "SELECT first, id, prompt_id FROM candidates WHERE rated = 0 ORDER BY n LIMIT 1"
        )
        if found:
            row, candidate, prompt = found
            pairwise = self.layout == "pairwise"
            noun, verb = ("comparison", "compare") if pairwise else ("rating", "rate")
            raise self._loaded.fault(
                row // self._width,
                f"every {noun} of candidate {candidate!r} of prompt {prompt!r} is missing",
                f"leave the candidate out, or {verb} it",
            )
        flags = ", ".join(f"bool_or(v{place})" for place in places)
        varying = self._db.row(f"SELECT {flags} FROM candidates") if flags else ()
        named = zip(self._schema.extras, varying, strict=True)
        self.extra_columns = tuple(name for name, varies in named if not varies)

    def _number(self, table: str, part: str, row: str = "row", rows: str = "long") -> None:
        """The table (n, id) of the distinct texts of a part, by first appearance."""
        self._db.run(
            f"""CREATE TABLE {table} AS
            SELECT (row_number() OVER (ORDER BY min({row})) - 1)::INTEGER AS n, {part} AS id
            FROM {rows} GROUP BY {part} ORDER BY n"""
        )

    def _make_samples(self, method: str) -> None:
        pairwise = self.layout == "pairwise"
        scorer, join = "0::INTEGER", ""
        if "scorer_id" in self._schema.columns:
            scorer, join = "scorers.n", "JOIN scorers ON scorers.id = scorer"
        order = "prompt, row" if pairwise else "candidates.n, scorer, row"
        self._db.run(
            f"""CREATE TABLE {"games" if pairwise else "samples"} AS
            SELECT candidates.n AS candidate, {scorer} AS scorer, raters.n AS rater, value
            FROM long JOIN candidates USING (prompt_id, id) JOIN raters ON raters.id = rater {join}
            WHERE value IS NOT NULL ORDER BY {order}"""
        )
        if pairwise:
            fit_samples(self._db, method, len(self.rater_names))

    def _check_once(self, first: int, last: int) -> None:
        """Refuse a rater who rates a candidate twice, among some prompts."""
        samples, scorers, raters = self._samples(first, last), self.scorer_ids, self.rater_names
        key = f"(candidate::BIGINT * {len(scorers)} + scorer) * {len(raters)} + rater"
        if not self._db.row(f"SELECT count(*) > count(DISTINCT {key}) FROM {samples}")[0]:
            return
        prompt, candidate, rater, scorer = self._db.row(
            f"""SELECT prompt_id, candidates.id, raters.id, scorers.id FROM
            (SELECT candidate, scorer, rater FROM {samples}
            GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL LIMIT 1) JOIN raters ON raters.n = rater
            JOIN scorers ON scorers.n = scorer JOIN candidates ON candidates.n = candidate"""
        )
        lines = self._db.words(
            f"""SELECT row // {self._width} FROM long WHERE prompt_id = {quoted(prompt)} AND
            id = {quoted(candidate)} AND rater = {quoted(rater)} AND scorer = {quoted(scorer)}
            AND value IS NOT NULL ORDER BY row LIMIT 2"""
        )
        raise self._loaded.fault(
            int(lines[1]),
            f"rater {rater!r} rates candidate {candidate!r} of prompt {prompt!r}"
            f"{scorer and f' under scorer {scorer!r}'} twice, first on line "
            f"{self._loaded.place(int(lines[0]))[1]}",
            "keep one of the two",
        )

    def _samples(self, first: int, last: int) -> str:
        """The SQL for the samples of the prompts from `first` to before `last`."""
        low, high = self._starts[first], self._starts[last]
        return f"samples WHERE rowid >= {low} AND rowid < {high}"

    def _words(self, table: str, low: int = 0, high: int = 2**62, column: str = "id") -> list[str]:
        sql = f"SELECT {column} AS word FROM {table} WHERE n >= {low} AND n < {high} ORDER BY n"
        return list(self._db.arrays(sql)["word"].tolist())

    def _extra(self, low: int, high: int, name: str) -> list[str]:
        table = f"candidates JOIN raw ON raw.rowid = first // {self._width}"
        return self._words(table, low, high, self._loaded.text(name))
