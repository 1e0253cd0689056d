"""Questions to ask, from text files, JSON lines, alpaca_eval and MT-Bench files."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.statistics.draws import prompt_seeds
from darc.entries import read_entries
from darc.errors import InputError, TableError
from darc.field_names import QUESTION_ID, QUESTION_TEXT
from darc.types import Message, Prompt

#: What users write for the questions that come with DARC.
EXAMPLES = "examples"
# The fields of a file of answers.
_ANSWER_FIELDS = {"prompt_id", "candidate_id", "response"}


@dataclass(frozen=True)
class Question:
    """A question of one or more turns."""

    id: str
    #: What the user says in each turn.
    turns: tuple[str, ...]
    category: str = ""
    #: Messages that come before the first turn.
    before: tuple[Message, ...] = ()

    def prompt(self, answers: Sequence[str] = ()) -> Prompt:
        """The prompt of the turn after the answers to the earlier turns."""
        messages = list(self.before)
        for turn, answer in zip(self.turns, answers, strict=False):
            messages += [Message("user", turn), Message("assistant", answer)]
        messages.append(Message("user", self.turns[len(answers)]))
        return Prompt(self.turn_id(len(answers)), tuple(messages), self.category)

    def turn_id(self, turn: int) -> str:
        """The prompt id of a turn: the question's id, then with #2, #3, ..."""
        if turn == 0:
            return self.id
        return f"{self.id}#{turn + 1}"


class Questions:
    """The questions of a file, which is read anew at each iteration.

    Args:
        path: The file.
        sample: How many questions to draw; None for all. The draw depends on the ids and the seed
            only, and keeps the order of the file.
        seed: The seed of the draw.

    Raises:
        TableError: If the file cannot be used.
    """

    def __init__(self, path: Path, sample: int | None = None, seed: int = 0) -> None:
        self.path = path
        self._sampled_places: set[int] | None = None
        if sample is not None:
            self._sampled_places = _draw_sample(path, sample, seed)
        #: How many questions there are.
        self.count = 0
        #: How many turns they have in all.
        self.turns = 0
        # The digest is that of a JSON list of all questions.
        digest = hashlib.sha256(b"[")
        seen_ids: set[str] = set()
        for line, question in self._numbered_questions():
            if question.id in seen_ids:
                raise TableError(
                    str(path), f"the id {question.id!r} is used twice", "use it once", line
                )
            seen_ids.add(question.id)
            if self.count:
                digest.update(b", ")
            text = json.dumps(asdict(question), ensure_ascii=False)
            digest.update(text.encode("utf-8", "surrogatepass"))
            self.count += 1
            self.turns += len(question.turns)
        if not self.count:
            raise TableError(str(path), "there are no prompts", "give one per line")
        digest.update(b"]")
        #: A hash that identifies the questions.
        self.digest = digest.hexdigest()

    def __iter__(self) -> Iterator[Question]:
        return (question for _, question in self._numbered_questions())

    def _numbered_questions(self) -> Iterator[tuple[int | None, Question]]:
        for place, numbered_question in enumerate(_read_questions(self.path)):
            if self._sampled_places is None or place in self._sampled_places:
                yield numbered_question


def find_questions(source: str, sample: int | None = None, seed: int = 0) -> Questions:
    """The questions of a file, or those that come with DARC for "examples".

    Args:
        source: The path of the file, or "examples".
        sample: How many questions to draw; None for all.
        seed: The seed of the draw.

    Returns:
        The questions.
    """
    if source == EXAMPLES and not Path(source).is_file():
        with as_file(files("darc.runs") / "prompts.jsonl") as path:
            return Questions(path, sample, seed)
    return Questions(Path(source), sample, seed)


def _read_questions(path: Path) -> Iterator[tuple[int | None, Question]]:
    """The questions of a file, each with its line where it has one of its own."""
    remaining_entries = iter(read_entries(path))
    first_entry = next(remaining_entries, None)
    if first_entry is None:
        return
    entries = chain([first_entry], remaining_entries)
    _, first_row = first_entry
    if _is_answer(first_row):
        yield from _read_questions_of_answers(path, entries)
        return
    for place, (line, row) in enumerate(entries):
        yield line, _parse_question(path, place, row, line)


def _is_answer(row: Any) -> bool:
    return isinstance(row, Mapping) and set(row) >= _ANSWER_FIELDS


def _read_questions_of_answers(
    path: Path, entries: Iterator[tuple[int | None, Any]]
) -> Iterator[tuple[None, Question]]:
    """The questions of a file of answers, each once."""
    # Hashes are remembered, because the texts of many prompts would fill the memory.
    seen: dict[int, int] = {}
    for line, row in entries:
        if not _is_answer(row):
            raise TableError(str(path), "an answer lacks prompt_id or response", "add it", line)
        text = str(row.get("prompt") or "")
        category = str(row.get("category") or "")
        question = Question(str(row["prompt_id"]), (text,), category)
        id_hash = hash(question.id)
        if id_hash not in seen:
            seen[id_hash] = hash(question)
            yield None, question
        elif seen[id_hash] != hash(question):
            raise TableError(
                str(path), f"prompt {question.id!r} has two texts", "give it one text", line
            )


def _draw_sample(path: Path, count: int, seed: int) -> set[int]:
    """The places of a sample of the questions."""
    if count < 1:
        raise InputError(f"a sample of {count} questions cannot be drawn", "give 1 or more")
    ids = [question.id for _, question in _read_questions(path)]
    order = np.argsort(prompt_seeds(seed, ids), kind="stable")
    return set(order[:count].tolist())


def _parse_question(path: Path, place: int, row: Any, line: int | None) -> Question:
    """The question of one entry of a file."""
    if isinstance(row, str):
        row = {"prompt": row}
    if not isinstance(row, Mapping):
        raise TableError(str(path), f"entry {place + 1} is not an object", "write {...}", line)
    question_id = str(place + 1)
    for name in reversed(QUESTION_ID):
        if row.get(name) is not None:
            question_id = str(row[name])
    category = str(row.get("category") or row.get("dataset") or "")
    messages = row.get("messages")
    if isinstance(messages, list) and messages:
        *before, last = _parse_messages(path, messages, line)
        if last.role != "user":
            raise TableError(str(path), "the last message is not the user's", "end with it", line)
        return Question(question_id, (last.content,), category, tuple(before))
    turns = row.get("turns")
    if turns is None:
        turns = [_with_input(row, name) for name in QUESTION_TEXT if isinstance(row.get(name), str)]
        turns = turns[:1]
    if not isinstance(turns, list) or not turns or not all(isinstance(t, str) for t in turns):
        hint = f"give one of {', '.join(QUESTION_TEXT)}, turns or messages"
        raise TableError(str(path), f"entry {place + 1} has no prompt", hint, line)
    return Question(question_id, tuple(turns), category)


def _with_input(row: Mapping[str, Any], name: str) -> str:
    """The text of a prompt; an instruction with what it is to be done to."""
    text = str(row[name])
    task_input = row.get("input")
    if name == "instruction" and isinstance(task_input, str) and task_input.strip():
        return f"{text}\n\n{task_input}"
    return text


def _parse_messages(path: Path, rows: Sequence[Any], line: int | None) -> list[Message]:
    messages = []
    for row in rows:
        if not isinstance(row, Mapping) or not isinstance(row.get("content"), str):
            raise TableError(str(path), "a message has no content", "write {role, content}", line)
        messages.append(Message(str(row.get("role", "user")), row["content"]))
    return messages
