"""A source made from a file of ratings, and of the texts beside it."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import TableError
from darc.evaluation.source import NOBODY, Source
from darc.files import json_lines
from darc.tables import Batch, read_ratings
from darc.typing import Array, Integers

SUFFIXES = (".gz", ".zst", ".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx")

Texts = Mapping[tuple[str, str], tuple[str, str]]


def read_source(
    path: Any,
    texts: str | os.PathLike[str] | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Source:
    """The `Source` of a file of ratings in any layout that `darc select` reads, or of a data frame.

    `columns` says what the file calls a column. Systems are what the column `system` says, or else
    the candidates' ids; `system` "none" leaves them out.

    Texts come from `texts`, or from NAME.texts.jsonl(.gz) beside the file: JSON lines with
    prompt_id, candidate_id, prompt and response. Lengths are then numbers of words. Everything is
    held in memory.
    """
    with read_ratings(path, columns=columns) as table:
        batch = table.batch(0, table.prompts)
        if isinstance(path, str | os.PathLike):
            name, texts = name or stem(Path(path)), texts or texts_beside(Path(path))
        known = {} if texts is None else read_texts(Path(texts))
        made = _source(name or "ratings", batch, known)
        systems = table.systems(batch) if system != "none" else []
        return replace(made, systems=systems, groups=table.groups())


def _source(name: str, batch: Batch, texts: Texts) -> Source:
    prompt_ids, candidate_ids = batch.prompt_ids, batch.candidate_ids
    givers, names = _renumbered(batch.raters, batch.rater_names)
    responses = [
        [texts.get((prompt, candidate), ("", ""))[1] for candidate in row]
        for prompt, row in zip(prompt_ids, candidate_ids, strict=True)
    ]
    questions = [
        next((q for c in row if (q := texts.get((prompt, c), ("", ""))[0])), "")
        for prompt, row in zip(prompt_ids, candidate_ids, strict=True)
    ]
    return Source(
        name=name,
        kind="rater",
        prompt_ids=prompt_ids,
        candidate_ids=candidate_ids,
        scorers=batch.scorer_ids,
        samples=batch.scores,
        givers=givers,
        giver_names=names,
        tokens=count_words(responses, batch.scores.shape[2]),
        questions=questions,
        texts=responses if texts else (),
        length_unit="words",
    )


def _renumbered(givers: Integers, names: list[str]) -> tuple[Integers, list[str]]:
    """Givers numbered by first appearance in the prompts, and their names in that order."""
    used, first = np.unique(givers[givers != NOBODY], return_index=True)
    order = used[np.argsort(first)]
    place = np.full(len(names) + 1, NOBODY)
    place[order] = np.arange(len(order))
    return place[givers], [names[rater] for rater in order.tolist()]


def count_words(texts: list[list[str]], candidates: int) -> Array:
    """Words of each text, (P, K), NaN where there is no text."""
    result = np.full((len(texts), candidates), np.nan)
    for row, each in zip(result, texts, strict=True):
        row[: len(each)] = [len(text.split()) if text else np.nan for text in each]
    return result


def stem(path: Path) -> str:
    """A file's name without the endings that tables have."""
    name = path.name
    while name.lower().endswith(SUFFIXES):
        name = name[: name.rfind(".")]
    return name or path.name


def texts_beside(path: Path) -> Path | None:
    """NAME.texts.jsonl or NAME.texts.jsonl.gz in the folder of the ratings."""
    names = (f"{stem(path)}.texts.jsonl{zipped}" for zipped in ("", ".gz"))
    return next((p for p in (path.with_name(name) for name in names) if p.is_file()), None)


def read_texts(path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """(prompt, response) by (prompt_id, candidate_id), "" for what is null or absent."""
    result = {}
    for line, row in json_lines(path, "write one JSON object a line"):
        if not isinstance(row, dict) or "prompt_id" not in row or "candidate_id" not in row:
            raise TableError(
                str(path),
                "a line without prompt_id or candidate_id",
                "write prompt_id, candidate_id, prompt and response",
                line,
            )
        words = (str(row.get("prompt") or ""), str(row.get("response") or ""))
        result[str(row["prompt_id"]), str(row["candidate_id"])] = words
    return result
