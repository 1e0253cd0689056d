"""The folder of a training run, from which a stopped run goes on."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from darc.errors import InputError, TableError
from darc.files import atomic_writer
from darc.json_files import json_lines, read_json

Measures = dict[str, float]

CHECKPOINTS = "checkpoints"
HISTORY = "history.jsonl"
NOTE = "training.json"

_SCHEMA = 1
_CHECKPOINT_STATE = "trainer_state.json"
_TRAIN_AGAIN = "remove the folder to train again, or give another --out"


def open_folder(path: Path, settings: dict[str, Any]) -> bool:
    """Begin or go on with a run.

    Args:
        path: The folder, which is created if necessary.
        settings: The settings of the run.

    Returns:
        Whether the run is complete already.

    Raises:
        InputError: The folder holds a run with other settings, or something else.
    """
    if (path / NOTE).is_file():
        note = read_note(path)
        if note.get("settings") != settings:
            raise InputError(
                f"{path} holds a training run with other settings "
                f"({', '.join(_differences(note.get('settings'), settings))})",
                "give the same ones to go on, or another --out",
            )
        return bool(note.get("complete"))
    if path.exists() and any(path.iterdir()):
        raise InputError(f"{path} is not empty and holds no training run", "give another --out")
    path.mkdir(parents=True, exist_ok=True)
    write_note(path, settings)
    return False


def _differences(stored: Any, settings: dict[str, Any]) -> list[str]:
    """The names of the settings that differ."""
    if not isinstance(stored, dict):
        stored = {}
    names = {*stored, *settings}
    return sorted(name for name in names if stored.get(name) != settings.get(name))


def write_note(
    path: Path,
    settings: dict[str, Any],
    complete: dict[str, Any] | None = None,
    before: Measures | None = None,
) -> None:
    """Write down what a run is made of and what came out of it.

    Args:
        path: The folder.
        settings: The settings of the run.
        complete: What came out (before, after and steps), once it is complete.
        before: What the untrained policy measures.
    """
    note = {"schema": _SCHEMA, "settings": settings, "before": before, "complete": complete}
    with atomic_writer(path / NOTE) as file:
        json.dump(note, file, indent=2)


def read_note(path: Path) -> dict[str, Any]:
    """Read what `write_note` wrote.

    Args:
        path: The folder.

    Returns:
        The note.

    Raises:
        InputError: There is none that can be read.
    """
    note = None
    with suppress(InputError):
        note = read_json(path / NOTE)
    if not isinstance(note, dict) or note.get("schema") != _SCHEMA:
        raise InputError(f"{path / NOTE} cannot be read", "give another --out")
    return note


def read_complete(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read what came out of a complete run.

    Args:
        path: The folder.

    Returns:
        The results (before, after and steps), and the trainer's log.

    Raises:
        TableError: The files are damaged.
    """
    results = read_note(path)["complete"]
    if not isinstance(results, dict) or not {"before", "after", "steps"} <= set(results):
        raise TableError(str(path / NOTE), "complete lacks before, after or steps", _TRAIN_AGAIN)
    history = []
    for line, row in json_lines(path / HISTORY, _TRAIN_AGAIN):
        if not isinstance(row, dict):
            raise TableError(str(path / HISTORY), "not a JSON object", _TRAIN_AGAIN, line)
        history.append(row)
    return results, history


def last_checkpoint(path: Path) -> Path | None:
    """The latest checkpoint that was written completely: its state is the last of its files."""
    complete: dict[int, Path] = {}
    for folder in (path / CHECKPOINTS).glob("checkpoint-*"):
        with suppress(InputError, KeyError, TypeError):
            step = read_json(folder / _CHECKPOINT_STATE)["global_step"]
            if folder.name == f"checkpoint-{step}":
                complete[step] = folder
    if not complete:
        return None
    return complete[max(complete)]
