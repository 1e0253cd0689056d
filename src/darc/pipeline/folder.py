"""A run folder: plain files, one line a prompt and stage, that a killed run can go on from."""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from darc.errors import InputError, TableError
from darc.files import append_private, json_lines, private_folder, read_json
from darc.pipeline.checking import Fault, check_links, check_manifest, check_row
from darc.tables import atomic_writer

logger = logging.getLogger(__name__)

SCHEMA = 1
STAGES = ("prompts", "candidates", "variants", "scores", "side", "decisions")
FILES = {
    "prompts": ("prompts.jsonl",),
    "candidates": ("candidates.jsonl",),
    "variants": ("variants.jsonl", "rejected.jsonl"),
    "scores": ("scores.jsonl",),
    "side": ("side.jsonl",),
    "decisions": ("decisions.jsonl",),
}
# As the files are written for a prompt: a line in one of them has one in each before it.
ORDER = (
    "prompts.jsonl",
    "candidates.jsonl",
    "rejected.jsonl",
    "variants.jsonl",
    "scores.jsonl",
    "side.jsonl",
    "decisions.jsonl",
)
TIMINGS = "timings.jsonl"
STAGE_OF = {
    "generator": "candidates",
    "sampling": "candidates",
    "rewrites": "variants",
    "scorers": "scores",
    "side": "side",
    "decision": "decisions",
}


class RunFolder:
    """The files of a run. A line is written whole; a torn last line is cut off.

    Where a prompt has two lines in a file, the later one counts. What is read is checked, and what
    no run would write is refused by file and line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        self._lock: FileLock | None = None

    def open(self, manifest: Mapping[str, Any], restart: str | None = None) -> None:
        """Begin the run, or go on with the same one; a different one is refused.

        `restart` forgets a stage and the later ones, whose settings may then be others. A prompt
        that lacks a line in a file loses those in the later ones, so that it goes on from there.
        """
        private_folder(self.path)
        self._take()
        if not (self.path / "manifest.json").exists():
            if any(path.name != ".lock" for path in self.path.iterdir()):
                raise InputError(f"{self.path} is not empty and no run", "choose a new folder")
            self.write_manifest({**manifest, "complete": False, "finished": False})
            return
        known = self.manifest()
        self._compare(known, manifest, restart)
        if restart is not None:
            self._forget(restart)
            self.write_manifest({**known, **manifest, "complete": False, "finished": False})
        for name in (*ORDER, TIMINGS):
            self._mend(name)
        self._load(ORDER, mending=True)

    def close(self) -> None:
        """Let others work in the folder."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def manifest(self) -> dict[str, Any]:
        """What the run was made of; a newer schema is refused."""
        path = self.path / "manifest.json"
        if not path.exists():
            raise InputError(f"{self.path} is no run folder", "make one with: darc run")
        data = read_json(path, RESTORE)
        schema = data.get("schema") if isinstance(data, dict) else None
        if not isinstance(schema, int):
            raise InputError(f"{path} is no manifest of a run", RESTORE)
        if schema > SCHEMA:
            raise InputError(
                f"{self.path} has schema {schema}, newer than {SCHEMA}", "upgrade DARC to read it"
            )
        try:
            check_manifest(data)
        except Fault as problem:
            raise TableError(str(path), str(problem), RESTORE) from None
        return dict(data)

    def write_manifest(self, data: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        with atomic_writer(self.path / "manifest.json", private=True) as file:
            json.dump({**data, "schema": SCHEMA}, file, indent=2, sort_keys=True)
            file.write("\n")

    def rows(self, name: str) -> dict[str, dict[str, Any]]:
        """The rows of a file by prompt id, in order."""
        if name not in self._rows:
            self._load(ORDER[: ORDER.index(name) + 1])
        return self._rows[name]

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row in one write."""
        self.rows(name)[row["prompt_id"]] = row
        append_private(self.path / name, line(row).encode("utf-8"))

    def note(self, row: dict[str, Any]) -> None:
        """Add a row of timings."""
        append_private(self.path / TIMINGS, line(row).encode("utf-8"))

    def notes(self) -> list[dict[str, Any]]:
        """The rows of timings."""
        return [row for _, row in self._read(TIMINGS)]

    def drop(self, prompt_id: str) -> None:
        """Forget everything about a prompt, the last stage first."""
        for name in reversed(ORDER):
            if self.rows(name).pop(prompt_id, None) is not None:
                self._replace(name, list(self.rows(name)))

    def settle(self, order: Sequence[str]) -> None:
        """Put the rows of every file in order, one a prompt, where they are not."""
        for name in ORDER:
            ids = [row["prompt_id"] for _, row in self._read(name)]
            if ids != [prompt_id for prompt_id in order if prompt_id in self.rows(name)]:
                self._replace(name, order)

    def _replace(self, name: str, order: Sequence[str]) -> None:
        rows = self.rows(name)
        with atomic_writer(self.path / name, private=True) as file:
            file.writelines(line(rows[prompt_id]) for prompt_id in order if prompt_id in rows)

    def _load(self, names: Sequence[str], mending: bool = False) -> None:
        """Read some files, and see that each has what the later ones are made of."""
        # The later ones first: a run that is at work meanwhile writes the earlier ones first.
        found = {
            name: {row["prompt_id"]: (number, row) for number, row in self._read(name)}
            for name in reversed(names)
            if name not in self._rows
        }
        for name in found and names:
            if name in found:
                self._rows[name] = self._linked(name, found[name], mending)
                if len(self._rows[name]) < len(found[name]):
                    self._replace(name, list(self._rows[name]))

    def _linked(
        self, name: str, found: Mapping[str, tuple[int, dict[str, Any]]], mending: bool
    ) -> dict[str, dict[str, Any]]:
        """The rows that agree with the files before; while mending, those without are left out."""
        before = ORDER[: ORDER.index(name)]
        settings = self.manifest()["settings"] if found and len(before) > 1 else {}
        kept = {}
        for prompt_id, (number, row) in found.items():
            if before and prompt_id not in self._rows[before[-1]]:
                problem = f"{before[-1]} has no line for its prompt {prompt_id[:40]!r}"
                if not mending:
                    raise TableError(str(self.path / name), problem, LOST, number)
                logger.warning("%s: %s; it is done again", self.path / name, problem)
                continue
            try:
                others = {each: self._rows[each][prompt_id] for each in before}
                check_links(name, row, others, settings)
            except Fault as fault:
                raise TableError(str(self.path / name), str(fault), REMOVE, number) from None
            kept[prompt_id] = row
        return kept

    def _compare(
        self, known: Mapping[str, Any], manifest: Mapping[str, Any], restart: str | None
    ) -> None:
        """Refuse settings that differ from the folder's before the stage that is done again."""
        if known.get("input") != manifest.get("input"):
            raise InputError(f"{self.path} holds another run: its prompts differ", ANOTHER)
        before, after = known.get("settings", {}), manifest.get("settings", {})
        for key in sorted({*before, *after}, key=lambda key: STAGES.index(STAGE_OF[key])):
            stage = STAGE_OF[key]
            redone = restart is not None and STAGES.index(restart) <= STAGES.index(stage)
            if before.get(key) != after.get(key) and not redone:
                where = _difference(before.get(key), after.get(key))
                raise InputError(
                    f"{self.path} holds another run: its {key} differs ({where})",
                    f"{ANOTHER}, or add --from {stage}",
                )

    def _forget(self, stage: str) -> None:
        for later in reversed(STAGES[STAGES.index(stage) :]):
            for name in FILES[later]:
                (self.path / name).unlink(missing_ok=True)
                self._rows.pop(name, None)

    def _read(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of a file with their lines, each as a run writes it."""
        path = self.path / name
        if not path.exists():
            return
        for number, row in json_lines(path, REMOVE, ended=True):
            try:
                check_row(name, row)
            except Fault as problem:
                raise TableError(str(path), str(problem), REMOVE, number) from None
            yield number, row

    def _mend(self, name: str) -> None:
        """Cut off a last line that was never finished."""
        path = self.path / name
        if not path.exists():
            return
        with path.open("rb+") as file:
            data = file.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                file.seek(whole)
                file.truncate()
                os.fsync(file.fileno())

    def _take(self) -> None:
        """Keep other processes out while this one lives."""
        lock = FileLock(self.path / ".lock", mode=0o600, thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise InputError(f"another run is at work in {self.path}", "wait for it") from None
        self._lock = lock


ANOTHER = "use the same settings, or another folder"
RESTORE = "restore it, or run into another folder"
REMOVE = "restore it, or remove the line and run again"
LOST = "go on with: darc run"


def line(row: dict[str, Any]) -> str:
    """A row as a line of a file."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _difference(before: Any, after: Any) -> str:
    """The first place where two settings differ, in a few words."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            if before.get(key) != after.get(key):
                return f"{key}: {_difference(before.get(key), after.get(key))}"
    return f"{_short(before)}, not {_short(after)}"


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "..."
    return text if len(text) <= 80 else text[:77] + "..."
