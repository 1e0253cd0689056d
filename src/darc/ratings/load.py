"""A whole file of ratings in memory, with the texts of its candidates."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.statistics.arrays import stacked
from darc.ratings.ratings import Ratings
from darc.ratings.read import read_ratings
from darc.ratings.splitting import NOBODY
from darc.ratings.texts import read_texts, stem, texts_beside
from darc.typing import Array


def load_table(
    source: Any,
    texts: str | os.PathLike[str] | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    system: str = "auto",
) -> Ratings:
    """Load a file of ratings in any layout that `darc select` reads, or a data frame.

    Args:
        source: The file or data frame, as `read_ratings` takes it.
        texts: JSON lines with prompt_id, candidate_id, prompt and response. Without it texts come
            from NAME.texts.jsonl(.gz) beside the file, if there is one. Where there are texts,
            lengths are numbers of words.
        name: What reports call the ratings; by default the name of the file.
        columns: What the file calls a column.
        system: "none" leaves out which system wrote a candidate. Otherwise it is what the column
            `system` says, or else the candidate's id.

    Returns:
        The ratings, with texts where there are any.
    """
    if isinstance(source, str | os.PathLike):
        name = name or stem(Path(source))
        texts = texts or texts_beside(Path(source))
    with read_ratings(source, columns=columns) as table:
        ratings = table.all_prompts()
        systems: Sequence[Sequence[str]] = ()
        if system != "none":
            systems = list(ratings.systems)
    # An exported run is analysed like ratings: its rewrites stand for raters.
    ratings = replace(
        _with_used_raters(ratings),
        name=name or "ratings",
        kind="rater",
        systems=systems,
        questions=[""] * len(ratings.prompt_ids),
        length_unit="words",
        extra_columns={},
    )
    if texts is None:
        return ratings
    return _with_texts(ratings, Path(texts))


def _with_used_raters(ratings: Ratings) -> Ratings:
    """Number the raters by their first appearance in the prompts, and leave out the others."""
    used, first = np.unique(ratings.raters[ratings.raters != NOBODY], return_index=True)
    order = used[np.argsort(first)]
    # The last entry is where `NOBODY` points to.
    number = np.full(len(ratings.rater_names) + 1, NOBODY)
    number[order] = np.arange(len(order))
    return replace(
        ratings,
        raters=number[ratings.raters],
        rater_names=[ratings.rater_names[rater] for rater in order.tolist()],
    )


def _with_texts(ratings: Ratings, path: Path) -> Ratings:
    """The ratings with the questions, answers and numbers of words of a file of texts."""
    texts = read_texts(path)
    questions = []
    answers = []
    for prompt_id, candidate_ids in zip(ratings.prompt_ids, ratings.candidate_ids, strict=True):
        pairs = [texts.get((prompt_id, candidate_id), ("", "")) for candidate_id in candidate_ids]
        questions.append(next((question for question, _ in pairs if question), ""))
        answers.append([answer for _, answer in pairs])
    return replace(
        ratings,
        questions=questions,
        texts=answers if texts else (),
        lengths=stacked([_word_counts(row) for row in answers]),
    )


def _word_counts(texts: Sequence[str]) -> Array:
    """The number of words of each text, NaN for an empty one."""
    return np.array([len(text.split()) if text else np.nan for text in texts])
