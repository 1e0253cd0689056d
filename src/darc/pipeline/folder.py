"""A run folder: plain files, one line a prompt and stage, that a killed run can go on from."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from darc.errors import InputError
from darc.tables import atomic_writer

SCHEMA = 1
STAGES = ("prompts", "candidates", "variants", "scores", "decisions")
FILES = {
    "prompts": ("prompts.jsonl",),
    "candidates": ("candidates.jsonl",),
    "variants": ("variants.jsonl", "rejected.jsonl"),
    "scores": ("scores.jsonl",),
    "decisions": ("decisions.jsonl", "timings.jsonl"),
}


class RunFolder:
    """The files of a run. A line is written whole and flushed; a torn last line is cut off."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}

    def open(self, manifest: Mapping[str, Any]) -> None:
        """Begin the run, or go on with the same one; a different one is refused."""
        self.path.mkdir(parents=True, exist_ok=True)
        known = self.manifest() if (self.path / "manifest.json").exists() else None
        if known is None:
            if any(self.path.iterdir()):
                raise InputError(f"{self.path} is not empty and no run", "choose a new folder")
            self.write_manifest({**manifest, "complete": False})
        else:
            for key, value in manifest.items():
                if known.get(key) != value:
                    raise InputError(
                        f"{self.path} holds another run: its {key} is {known.get(key)!r}, "
                        f"not {value!r}",
                        "use the same settings, or another folder",
                    )
        for names in FILES.values():
            for name in names:
                self._mend(name)

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
            json.dump({"schema": SCHEMA, **data}, file, indent=2, sort_keys=True)
            file.write("\n")

    def rows(self, name: str) -> dict[str, dict[str, Any]]:
        """The rows of a file by prompt id, in order."""
        if name not in self._rows:
            self._rows[name] = {row["prompt_id"]: row for row in self._read(name)}
        return self._rows[name]

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row in one write."""
        self.rows(name)[row["prompt_id"]] = row
        line = json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        with (self.path / name).open("ab") as file:
            file.write(line.encode("utf-8"))

    def restart(self, stage: str) -> None:
        """Forget a stage and all that follow it."""
        for later in STAGES[STAGES.index(stage) :]:
            for name in FILES[later]:
                (self.path / name).unlink(missing_ok=True)
                self._rows.pop(name, None)

    def _read(self, name: str) -> Iterator[dict[str, Any]]:
        path = self.path / name
        if not path.exists():
            return
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield json.loads(line)
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
