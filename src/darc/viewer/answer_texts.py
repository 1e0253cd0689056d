"""The texts of rated answers, for one batch of prompts after the other."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from darc.closing import Closing
from darc.field_names import RATED_TEXT_COLUMNS
from darc.json_files import json_lines
from darc.ratings.ratings import Ratings
from darc.ratings.texts import text_row


@dataclass(frozen=True)
class PromptTexts:
    """The texts of one prompt, empty where they are not known."""

    question: str
    #: The text of each candidate, in their order.
    answers: list[str]


class AnswerTexts(Closing):
    """Texts from a file beside the ratings, or from columns of the ratings.

    The texts of a file are held in a database on the disk, since there may be any number of them.
    """

    def __init__(self, path: Path | None, folder: Path) -> None:
        """Read the file of texts.

        Args:
            path: JSON lines with prompt_id, candidate_id, prompt and response; None for no file.
            folder: Where the database is written.

        Raises:
            TableError: A line has no ids.
        """
        self._database: sqlite3.Connection | None = None
        if path is None:
            return
        self._database = sqlite3.connect(folder / "texts.sqlite")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            """CREATE TABLE texts (prompt_id TEXT, candidate_id TEXT, prompt TEXT, response TEXT,
            PRIMARY KEY (prompt_id, candidate_id)) WITHOUT ROWID"""
        )
        self._database.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)", _rows(path))

    def of(self, ratings: Ratings, prompt: int) -> PromptTexts:
        """The texts of one prompt of a batch."""
        candidate_ids = ratings.candidate_ids[prompt]
        if self._database is not None:
            rows = self._database.execute(
                "SELECT candidate_id, prompt, response FROM texts WHERE prompt_id = ?",
                (ratings.prompt_ids[prompt],),
            ).fetchall()
            questions = [question for _, question, _ in rows if question]
            answers = {candidate_id: answer for candidate_id, _, answer in rows}
            return PromptTexts(
                question=questions[0] if questions else "",
                answers=[answers.get(candidate_id, "") for candidate_id in candidate_ids],
            )
        questions = _column(ratings, "prompt", prompt)
        answers_in_order = _column(ratings, "response", prompt)
        return PromptTexts(
            question=questions[0] if questions else "",
            answers=answers_in_order or [""] * len(candidate_ids),
        )

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()


def _rows(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for line, row in json_lines(path, "write one JSON object per line"):
        (prompt_id, candidate_id), (question, answer) = text_row(row, path, line)
        yield prompt_id, candidate_id, question, answer


def _column(ratings: Ratings, role: str, prompt: int) -> list[str]:
    """The cells of the column that holds the prompts or the responses, none without one."""
    names = {name.lower(): name for name in ratings.extra_columns}
    for name in RATED_TEXT_COLUMNS[role]:
        if name in names:
            return list(ratings.extra_columns[names[name]][prompt])
    return []
