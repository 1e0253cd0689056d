"""A run folder: what the run is made of, and its shards, that a stopped run can go on from."""

import json
import logging
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from darc.errors import InputError, TableError
from darc.files import PACKED, private_folder, read_json
from darc.runs.checking import Fault, check_manifest
from darc.runs.shard import STAGE_OF, STAGES, Damaged, Shard, checksum
from darc.tables import atomic_writer

logger = logging.getLogger(__name__)

SCHEMA = 2
SHARDS = "shards"
# The stage that a part of the manifest's settings belongs to.
SETTINGS_OF = {
    "generator": "candidates",
    "sampling": "candidates",
    "rewrites": "variants",
    "scorers": "scores",
    "panel": "scores",
    "side": "side",
    "decision": "decisions",
}
ANOTHER = "use the same settings, or another folder"
RESTORE = "restore it, or run into another folder"


class RunFolder:
    """A manifest and numbered shards; the files of a folder of schema 1 are its only shard."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: FileLock | None = None

    def open(self, manifest: Mapping[str, Any], restart: str | None = None) -> None:
        """Begin the run, or go on with the same one; a different one is refused.

        `restart` forgets a stage and the later ones, whose settings may then be others.
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
            for shard in self.shards():
                shard.forget(restart)
            self.write_manifest({**known, **manifest, "complete": False, "finished": False})

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
        seal = data.pop("seal", None)
        if seal != checksum(data) and (schema > 1 or seal is not None):
            raise TableError(str(path), "it was changed since the run wrote it", RESTORE)
        return dict(data)

    def write_manifest(self, data: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        data = {"schema": SCHEMA, **data}
        with atomic_writer(self.path / "manifest.json", private=True) as file:
            json.dump({**data, "seal": checksum(data)}, file, indent=2, sort_keys=True)
            file.write("\n")

    def shard(self, number: int) -> Shard:
        """A shard by its number."""
        data = self.manifest()
        if data["schema"] == 1:
            return Shard(self.path, data)
        name = f"{number:05d}"
        return Shard(self.path / SHARDS / name, data, name)

    def shards(self) -> Iterator[Shard]:
        """The shards that are there, in order; one is read as it is used."""
        data = self.manifest()
        if data["schema"] == 1:
            yield Shard(self.path, data)
            return
        names = (path.name for path in (self.path / SHARDS).glob("[0-9]*") if path.is_dir())
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield Shard(self.path / SHARDS / name, data, name)

    def find(self, prompt_id: str) -> Shard:
        """The shard that has a prompt; an unknown prompt is refused."""
        known: list[str] = []
        for shard in self.shards():
            ids = shard.rows("prompts.jsonl")
            if prompt_id in ids:
                return shard
            known += list(ids)[: 9 - len(known)]
        told = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise InputError(f"{self.path} has no prompt {prompt_id!r}", f"it has {told}")

    def finished(self, number: int, lazy: bool) -> bool:
        """Whether a shard is sealed, whole, and as complete as is wanted.

        One that was changed since it was sealed loses what is changed and all that follows from it.
        """
        shard = self.shard(number)
        data = shard.seal_data
        if (problem := shard.changed_times()) is not None:
            logger.warning("%s; the times of shard %s are left out", problem.message, shard.name)
            shard.forget_times()
        problem = shard.damage()
        if problem is not None:
            logger.warning("%s; shard %s is done again", problem.message, shard.name)
            _cut(shard, problem)
            return False
        if data is None:
            return False
        if data.get("lazy") and not lazy:
            if data.get("keep", "all") != "all":
                shutil.rmtree(shard.path)
            return False
        return True

    def _compare(
        self, known: Mapping[str, Any], manifest: Mapping[str, Any], restart: str | None
    ) -> None:
        """Refuse settings that differ from the folder's before the stage that is done again."""
        if known.get("input") != manifest.get("input"):
            raise InputError(f"{self.path} holds another run: its prompts differ", ANOTHER)
        before, after = known.get("settings", {}), manifest.get("settings", {})
        for key in sorted({*before, *after}, key=lambda key: STAGES.index(SETTINGS_OF[key])):
            stage = SETTINGS_OF[key]
            redone = restart is not None and STAGES.index(restart) <= STAGES.index(stage)
            if before.get(key) != after.get(key) and not redone:
                where = _difference(before.get(key), after.get(key))
                raise InputError(
                    f"{self.path} holds another run: its {key} differs ({where})",
                    f"{ANOTHER}, or add --from {stage}",
                )

    def _take(self) -> None:
        """Keep other processes out while this one lives."""
        lock = FileLock(self.path / ".lock", mode=0o600, thread_local=False)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise InputError(f"another run is at work in {self.path}", "wait for it") from None
        self._lock = lock


def _cut(shard: Shard, problem: Damaged) -> None:
    """Remove a changed file and what was made from it; without the means to make it, everything."""
    data = shard.seal_data
    name = problem.path.name.removesuffix(PACKED)
    if data is None or data.get("keep", "all") != "all" or name not in STAGE_OF:
        shard.forget("prompts")
        return
    shard.forget(STAGE_OF[name])


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
