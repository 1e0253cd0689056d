"""Judges as users name them: files of grades, run folders, audit logs, or the texts themselves."""

from collections.abc import Sequence
from pathlib import Path

from darc.analysis.reading import load_ratings
from darc.errors import InputError
from darc.ratings.candidate_judgements import (
    CandidateJudgements,
    joined_judgements,
    judgements_of_ratings,
)
from darc.ratings.text_judgements import judgements_of_texts
from darc.ratings.texts import read_texts, texts_beside

# What to name instead of a file where the texts of the answers are to be judged by.
TEXTS = "texts"


def load_judges(
    judges: Sequence[str], ratings: Path, texts: Path | None = None
) -> CandidateJudgements:
    """Load judgements of the candidates of a file of ratings.

    Args:
        judges: Files of grades, run folders and audit logs; `texts` for features of the texts.
            Several are told apart by their order.
        ratings: The file of ratings, beside which texts are looked for.
        texts: The texts of the candidates, where they are not beside the ratings.

    Raises:
        InputError: One cannot be read, or there are no texts.
    """
    parts = []
    sources = [judge for judge in judges if judge != TEXTS]
    for number, judge in enumerate(sources, start=1):
        prefix = f"{number}:" if len(sources) > 1 else ""
        parts.append(judgements_of_ratings(load_ratings(Path(judge)), prefix))
    if TEXTS in judges:
        path = texts or texts_beside(ratings)
        if path is None:
            raise InputError(
                f"there are no texts beside {ratings}",
                f"write them to {ratings.with_suffix('').name}.texts.jsonl, one line per candidate "
                "with prompt_id, candidate_id, prompt and response",
            )
        parts.append(judgements_of_texts(read_texts(path), str(path)))
    return joined_judgements(parts)
