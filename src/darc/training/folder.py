"""The folder of a training run: what it is made of, its checkpoints, and whether it is done."""

import json
from pathlib import Path
from typing import Any

from darc.errors import InputError, TableError
from darc.files import json_lines, read_json

NOTE = "training.json"
HISTORY = "history.jsonl"
CHECKPOINTS = "checkpoints"
STATE = "trainer_state.json"
BEFORE = "before.json"
AGAIN = "remove the folder to train again, or give another --out"


def open_folder(path: Path, settings: dict[str, Any]) -> bool:
    """Begin or go on with a run of these settings; True if it is complete already.

    A folder with other settings, or with something else in it, is refused.
    """
    note = path / NOTE
    if note.is_file():
        found = read_note(path)
        theirs = found.get("settings")
        if theirs != settings:
            known = theirs if isinstance(theirs, dict) else {}
            differ = sorted(k for k in {*known, *settings} if known.get(k) != settings.get(k))
            raise InputError(
                f"{path} holds a training run with other settings ({', '.join(differ)})",
                "give the same ones to go on, or another --out",
            )
        return bool(found.get("complete"))
    if path.exists() and any(path.iterdir()):
        raise InputError(f"{path} is not empty and holds no training run", "give another --out")
    path.mkdir(parents=True, exist_ok=True)
    write_note(path, settings, None)
    return False


def write_note(path: Path, settings: dict[str, Any], complete: dict[str, Any] | None) -> None:
    """Write what the run is made of and, at its end, what came out."""
    text = json.dumps({"schema": 1, "settings": settings, "complete": complete}, indent=2)
    temporary = path / (NOTE + ".new")
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(path / NOTE)


def read_note(path: Path) -> dict[str, Any]:
    """What `write_note` wrote."""
    try:
        note = read_json(path / NOTE)
    except InputError:
        note = None
    if not isinstance(note, dict) or note.get("schema") != 1:
        raise InputError(f"{path / NOTE} cannot be read", "give another --out")
    return note


def read_complete(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What came out of a complete run (before, after and steps), and the trainer's log."""
    done = read_note(path)["complete"]
    if not isinstance(done, dict) or not {"before", "after", "steps"} <= set(done):
        raise TableError(str(path / NOTE), "complete lacks before, after or steps", AGAIN)
    history = []
    for line, row in json_lines(path / HISTORY, AGAIN):
        if not isinstance(row, dict):
            raise TableError(str(path / HISTORY), "not a JSON object", AGAIN, line)
        history.append(row)
    return done, history


def read_before(path: Path) -> dict[str, float]:
    """The held-out measures of the untrained policy, as the run kept them."""
    found = read_json(path / BEFORE, "remove it to measure again")
    if not isinstance(found, dict) or not all(
        isinstance(value, int | float) for value in found.values()
    ):
        raise TableError(str(path / BEFORE), "not numbers by name", "remove it to measure again", 1)
    return found


def last_checkpoint(path: Path) -> Path | None:
    """The latest checkpoint that was written whole: its state is the last of its files."""
    best: tuple[int, Path] | None = None
    for folder in (path / CHECKPOINTS).glob("checkpoint-*"):
        number = folder.name.rpartition("-")[2]
        if not number.isdecimal():
            continue
        try:
            whole = read_json(folder / STATE)["global_step"] == int(number)
        except (InputError, KeyError, TypeError):
            continue
        if whole and (best is None or int(number) > best[0]):
            best = (int(number), folder)
    return best[1] if best else None
