"""Questions to ask, from text, JSON lines, alpaca_eval and MT-Bench files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from darc.core.draws import prompt_seeds
from darc.errors import InputError, TableError
from darc.tables.entries import read_entries
from darc.types import Message, Prompt

TEXTS = ("prompt", "instruction", "question", "text")
EXAMPLES = "examples"
NAMES = ("prompt_id", "id", "question_id")


@dataclass(frozen=True)
class Question:
    """A question of one or more turns; `before` holds messages that come before the first."""

    id: str
    turns: tuple[str, ...]
    category: str = ""
    before: tuple[Message, ...] = ()

    def prompt(self, answers: Sequence[str] = ()) -> Prompt:
        """The prompt of the turn after the given answers to the earlier ones."""
        messages = list(self.before)
        for turn, answer in zip(self.turns, answers, strict=False):
            messages += [Message("user", turn), Message("assistant", answer)]
        messages.append(Message("user", self.turns[len(answers)]))
        return Prompt(self.turn_id(len(answers)), tuple(messages), self.category)

    def turn_id(self, turn: int) -> str:
        """The prompt id of a turn: the question's own, then with #2, #3, ..."""
        return self.id if turn == 0 else f"{self.id}#{turn + 1}"


def find_questions(place: str) -> list[Question]:
    """The questions of a file, or those that come with DARC for "examples"."""
    if place == EXAMPLES and not Path(place).is_file():
        with as_file(files("darc") / "data" / "prompts.jsonl") as path:
            return read_questions(path)
    return read_questions(Path(place))


def read_questions(path: Path) -> list[Question]:
    """The questions of a file: JSON lines, a JSON list (alpaca_eval), or one text a line."""
    rows = read_entries(path)
    if rows and is_answer(rows[0][1]):
        return _answered(path, rows)
    questions = [_question(path, place, row, line) for place, (line, row) in enumerate(rows)]
    if not questions:
        raise TableError(str(path), "there are no prompts", "give one a line")
    seen: set[str] = set()
    for (line, _), question in zip(rows, questions, strict=True):
        if question.id in seen:
            raise TableError(
                str(path), f"the id {question.id!r} is used twice", "use it once", line
            )
        seen.add(question.id)
    return questions


def is_answer(row: Any) -> bool:
    """Whether a row is an answer to a prompt, several of which share the prompt."""
    return isinstance(row, Mapping) and {"prompt_id", "candidate_id", "response"} <= set(row)


def _answered(path: Path, rows: Sequence[tuple[int | None, Any]]) -> list[Question]:
    """The questions of a file of answers (prompt_id, candidate_id, response and often prompt)."""
    questions: dict[str, Question] = {}
    for line, row in rows:
        if not is_answer(row):
            raise TableError(str(path), "an answer lacks prompt_id or response", "add it", line)
        text = row.get("prompt") or ""
        made = Question(str(row["prompt_id"]), (str(text),), str(row.get("category") or ""))
        if questions.setdefault(made.id, made) != made:
            raise TableError(
                str(path), f"prompt {made.id!r} has two texts", "give it one text", line
            )
    return list(questions.values())


def sampled(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    """A sample of the questions, in their order, that depends on their ids and the seed alone."""
    if count < 1:
        raise InputError(f"a sample of {count} questions cannot be drawn", "give 1 or more")
    drawn = prompt_seeds(seed, [question.id for question in questions])
    kept = set(np.argsort(drawn, kind="stable")[:count].tolist())
    return [question for place, question in enumerate(questions) if place in kept]


def _question(path: Path, place: int, row: Any, line: int | None) -> Question:
    if isinstance(row, str):
        row = {"prompt": row}
    if not isinstance(row, Mapping):
        raise TableError(str(path), f"entry {place + 1} is no object", "write {...}", line)
    name = next((str(row[key]) for key in NAMES if row.get(key) is not None), f"{place + 1}")
    category = str(row.get("category") or row.get("dataset") or "")
    if isinstance(row.get("messages"), list):
        *before, last = [_message(path, part, line) for part in row["messages"]]
        if last.role != "user":
            raise TableError(str(path), "the last message is not the user's", "end with it", line)
        return Question(name, (last.content,), category, tuple(before))
    turns = row.get("turns")
    if turns is None:
        found = next((row[key] for key in TEXTS if isinstance(row.get(key), str)), None)
        turns = None if found is None else [found]
    if not isinstance(turns, list) or not turns or not all(isinstance(t, str) for t in turns):
        raise TableError(
            str(path),
            f"entry {place + 1} has no prompt",
            f"give one of {', '.join(TEXTS)}, turns or messages",
            line,
        )
    return Question(name, tuple(turns), category)


def _message(path: Path, part: Any, line: int | None) -> Message:
    if not isinstance(part, Mapping) or not isinstance(part.get("content"), str):
        raise TableError(str(path), "a message has no content", "write {role, content}", line)
    return Message(str(part.get("role", "user")), part["content"])
