"""Questions to ask, from text, JSON lines, alpaca_eval and MT-Bench files; answers of one's own."""

import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from darc.decide.statistics.draws import prompt_seeds
from darc.errors import InputError, TableError
from darc.files import output_files, read_entries
from darc.types import Candidate, Message, Prompt

TEXTS = ("prompt", "instruction", "question", "text")
ANSWERS = ("text", "answer", "response", "output", "content")
WHOLE = ("", ".txt", ".md")
EXAMPLES = "examples"
NAMES = ("prompt_id", "id", "question_id")
CALLED = ("name", "system", "model")


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


class Questions:
    """The questions of a file, read anew each time they are gone through.

    `count` and `turns` are how many there are, and `digest` identifies them. A `sample` of them, in
    their order, depends on their ids and the `seed` alone. Raises for a file that cannot be used.
    """

    def __init__(self, path: Path, sample: int | None = None, seed: int = 0) -> None:
        self.path, self._kept = path, None if sample is None else _sampled(path, sample, seed)
        self.count = self.turns = 0
        digest, seen = hashlib.sha256(b"["), set[str]()
        for line, question in self._numbered():
            if question.id in seen:
                problem = f"the id {question.id!r} is used twice"
                raise TableError(str(path), problem, "use it once", line)
            seen.add(question.id)
            text = json.dumps(asdict(question), ensure_ascii=False)
            digest.update((", " if self.count else "").encode())
            digest.update(text.encode("utf-8", "surrogatepass"))
            self.count += 1
            self.turns += len(question.turns)
        if not self.count:
            raise TableError(str(path), "there are no prompts", "give one a line")
        digest.update(b"]")
        self.digest = digest.hexdigest()

    def __iter__(self) -> Iterator[Question]:
        return (question for _, question in self._numbered())

    def _numbered(self) -> Iterator[tuple[int | None, Question]]:
        every = enumerate(iter_questions(self.path))
        return (each for place, each in every if self._kept is None or place in self._kept)


def find_questions(place: str, sample: int | None = None, seed: int = 0) -> Questions:
    """The questions of a file, or those that come with DARC for "examples"."""
    if place == EXAMPLES and not Path(place).is_file():
        with as_file(files("darc.runs") / "prompts.jsonl") as path:
            return Questions(path, sample, seed)
    return Questions(Path(place), sample, seed)


def iter_questions(path: Path) -> Iterator[tuple[int | None, Question]]:
    """The questions one after the other, each with its line where it has one of its own.

    Those of a file of answers (prompt_id, candidate_id, response and often prompt) have none.
    """
    answers, seen = False, dict[int, int]()
    for place, (line, row) in enumerate(read_entries(path)):
        answer = isinstance(row, Mapping) and {"prompt_id", "candidate_id", "response"} <= set(row)
        answers = answer if place == 0 else answers
        if not answers:
            yield line, _question(path, place, row, line)
            continue
        if not answer:
            raise TableError(str(path), "an answer lacks prompt_id or response", "add it", line)
        text = row.get("prompt") or ""
        made = Question(str(row["prompt_id"]), (str(text),), str(row.get("category") or ""))
        # By hashes: the texts of many prompts would fill the memory.
        if (name := hash(made.id)) not in seen:
            seen[name] = hash(made)
            yield None, made
        elif seen[name] != hash(made):
            problem = f"prompt {made.id!r} has two texts"
            raise TableError(str(path), problem, "give it one text", line)


def _sampled(path: Path, count: int, seed: int) -> set[int]:
    """The places of a sample of the questions."""
    if count < 1:
        raise InputError(f"a sample of {count} questions cannot be drawn", "give 1 or more")
    drawn = prompt_seeds(seed, [question.id for _, question in iter_questions(path)])
    return set(np.argsort(drawn, kind="stable")[:count].tolist())


def _question(path: Path, place: int, row: Any, line: int | None) -> Question:
    if isinstance(row, str):
        row = {"prompt": row}
    if not isinstance(row, Mapping):
        raise TableError(str(path), f"entry {place + 1} is no object", "write {...}", line)
    name = next((str(row[key]) for key in NAMES if row.get(key) is not None), f"{place + 1}")
    category = str(row.get("category") or row.get("dataset") or "")
    if isinstance(parts := row.get("messages"), list) and parts:
        if not all(isinstance(p, Mapping) and isinstance(p.get("content"), str) for p in parts):
            raise TableError(str(path), "a message has no content", "write {role, content}", line)
        *before, last = (Message(str(part.get("role", "user")), part["content"]) for part in parts)
        if last.role != "user":
            raise TableError(str(path), "the last message is not the user's", "end with it", line)
        return Question(name, (last.content,), category, tuple(before))
    turns = row.get("turns")
    if turns is None:
        turns = [row[key] for key in TEXTS if isinstance(row.get(key), str)][:1]
    if not isinstance(turns, list) or not turns or not all(isinstance(t, str) for t in turns):
        hint = f"give one of {', '.join(TEXTS)}, turns or messages"
        raise TableError(str(path), f"entry {place + 1} has no prompt", hint, line)
    return Question(name, tuple(turns), category)


def read_answers(
    paths: Sequence[Path], prompt_id: str, texts: Sequence[str] = (), question: str = ""
) -> list[Candidate]:
    """The candidates of some files, and those that are given as `texts`.

    A file is a JSON list, JSON lines, CSV with a header, or one text a line; "-" is standard input.
    An entry is a text, or an object with one of text, answer, response, output or content, and
    perhaps a name, system or model. Of several files, or those of a folder, each text is one answer
    as a whole; a file with one answer gives it its name. Of a folder of systems' answers to many
    prompts, those to the `question` count.
    """
    found: list[tuple[str, str]] = [("", text) for text in texts]
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
        elif all(file.suffix.lower() in WHOLE for file in output_files(path)):
            files += output_files(path)
        else:
            found += _to_question(path, question)
    for path in files:
        own = _answers(path, len(files) > 1)
        if not own:
            raise TableError(str(path), "there are no answers", "give one a line")
        alone = len(files) > 1 and len(own) == 1 and not own[0][0]
        found += [(path.stem, own[0][1])] if alone else own
    return [Candidate(prompt_id, i, text, name=name) for i, (name, text) in enumerate(found)]


def _to_question(folder: Path, question: str) -> list[tuple[str, str]]:
    """Names and texts of a folder's answers to a question, or of all if none names its prompt."""
    rows = [row for _, row in read_entries(folder)]
    asked = {row["prompt"].strip() for row in rows} - {""}
    if asked and question.strip() not in asked:
        raise TableError(
            str(folder),
            f"no file has an answer to {question!r}",
            f"ask what they answer, such as {min(asked)!r}, or use darc run --prompts {folder}",
        )
    return [
        (row["candidate_id"], row["response"])
        for row in rows
        if not asked or row["prompt"].strip() == question.strip()
    ]


def _answers(path: Path, whole: bool) -> list[tuple[str, str]]:
    """Names, which may be empty, and texts; a plain text is one answer if it is `whole`."""
    entries: Iterable[tuple[int | None, Any]]
    try:
        if path.suffix.lower() == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                entries = list(enumerate(csv.DictReader(file), 2))
        elif whole and path.suffix.lower() in WHOLE:
            entries = [(None, path.read_text(encoding="utf-8").strip())]
        elif str(path) == "-":
            entries = read_entries(path, (line.encode() for line in sys.stdin))
        else:
            entries = read_entries(path)
        found = []
        for line, entry in entries:
            known = entry if isinstance(entry, dict) else {"text": entry}
            name = next((str(known[key]) for key in CALLED if known.get(key)), "")
            text = next((known[key] for key in ANSWERS if isinstance(known.get(key), str)), "")
            if not text.strip():
                hint = f"give a text, or one of {', '.join(ANSWERS)}"
                raise TableError(str(path), "an answer has no text", hint, line)
            found.append((name, text))
        return found
    except OSError as problem:
        raise TableError(str(path), f"it cannot be read ({problem.strerror})") from None
    except UnicodeDecodeError:
        raise TableError(str(path), "it is not UTF-8", "save it as UTF-8") from None
