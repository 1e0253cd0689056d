"""A run folder: plain files, one line a prompt and stage, that a killed run can go on from."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.tables import atomic_writer

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

    Where a prompt has two lines in a file, the later one counts.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        self._lock: int | None = None

    def open(self, manifest: Mapping[str, Any], restart: str | None = None) -> None:
        """Begin the run, or go on with the same one; a different one is refused.

        `restart` forgets a stage and the later ones, whose settings may then be others.
        """
        self.path.mkdir(parents=True, exist_ok=True)
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
        for names in FILES.values():
            for name in names:
                self._mend(name)
        self._mend(TIMINGS)

    def close(self) -> None:
        """Let others work in the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def manifest(self) -> dict[str, Any]:
        """What the run was made of; a newer schema is refused."""
        try:
            data = json.loads((self.path / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InputError(f"{self.path} is no run folder", "make one with: darc run") from None
        if not isinstance(data, dict) or int(data.get("schema", 0)) > SCHEMA:
            raise InputError(
                f"{self.path} has schema {data.get('schema')}, newer than {SCHEMA}",
                "upgrade DARC to read it",
            )
        return data

    def write_manifest(self, data: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        with atomic_writer(self.path / "manifest.json") as file:
            json.dump({**data, "schema": SCHEMA}, file, indent=2, sort_keys=True)
            file.write("\n")

    def rows(self, name: str) -> dict[str, dict[str, Any]]:
        """The rows of a file by prompt id, in order."""
        if name not in self._rows:
            self._rows[name] = {row["prompt_id"]: row for row in self._read(name)}
        return self._rows[name]

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row in one write."""
        self.rows(name)[row["prompt_id"]] = row
        self._write(name, row)

    def note(self, row: dict[str, Any]) -> None:
        """Add a row of timings."""
        self._write(TIMINGS, row)

    def notes(self) -> list[dict[str, Any]]:
        """The rows of timings."""
        return list(self._read(TIMINGS))

    def drop(self, prompt_id: str) -> None:
        """Forget everything about a prompt."""
        for names in FILES.values():
            for name in names:
                if self.rows(name).pop(prompt_id, None) is not None:
                    self._replace(name, list(self.rows(name)))

    def settle(self, order: Sequence[str]) -> None:
        """Put the rows of every file in order, one a prompt, where they are not."""
        for names in FILES.values():
            for name in names:
                ids = [row["prompt_id"] for row in self._read(name)]
                if ids != [prompt_id for prompt_id in order if prompt_id in self.rows(name)]:
                    self._replace(name, order)

    def _replace(self, name: str, order: Sequence[str]) -> None:
        rows = self.rows(name)
        with atomic_writer(self.path / name) as file:
            file.writelines(line(rows[prompt_id]) for prompt_id in order if prompt_id in rows)

    def _write(self, name: str, row: dict[str, Any]) -> None:
        with (self.path / name).open("ab") as file:
            file.write(line(row).encode("utf-8"))

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
        for later in STAGES[STAGES.index(stage) :]:
            for name in FILES[later]:
                (self.path / name).unlink(missing_ok=True)
                self._rows.pop(name, None)

    def _read(self, name: str) -> Iterator[dict[str, Any]]:
        path = self.path / name
        if not path.exists():
            return
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, text in enumerate(file, 1):
                if not text.endswith("\n"):
                    return
                try:
                    yield json.loads(text)
                except ValueError:
                    raise InputError(
                        f"{path}, line {number}: it is not valid JSON", "remove the line"
                    ) from None

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
        try:
            import fcntl
        except ImportError:
            return
        self._lock = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise InputError(f"another run is at work in {self.path}", "wait for it") from None


ANOTHER = "use the same settings, or another folder"


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
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "..."
