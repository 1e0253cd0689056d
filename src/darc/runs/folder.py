"""A run folder: a manifest that identifies the run, and shards that a stopped run continues."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from darc.errors import InputError, TableError
from darc.files import private_folder
from darc.json_files import read_json
from darc.runs.records import read_candidates, read_prompt
from darc.runs.row_schemas import RowError, check_manifest
from darc.runs.seals import checksum, write_sealed
from darc.runs.shard import STAGES, Shard
from darc.types import Candidate, Prompt

#: The newest schema of run folders. Those of schema 1 have no shards.
SCHEMA = 2
RESTORE_HINT = "restore it, or run into another folder"
_SHARDS = "shards"
# The stage that depends on each part of the manifest's settings.
_STAGE_OF_SETTINGS = {
    "generator": "candidates",
    "sampling": "candidates",
    "rewrites": "variants",
    "scorers": "scores",
    "panel": "scores",
    "side": "side",
    "decision": "decisions",
}
_OTHER_FOLDER_HINT = "use the same settings, or another folder"
_LONGEST_VALUE = 80
# How many prompt ids an error lists.
_LISTED_IDS = 8


class RunFolder:
    """A manifest and numbered shards; the files of a folder of schema 1 are its only shard."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path / ".lock", mode=0o600, thread_local=False)

    def open(self, manifest: Mapping[str, Any], restart: str | None = None) -> None:
        """Begin the run, or continue the same one.

        Args:
            manifest: What the run is made of.
            restart: A stage that is done again, together with the later ones. Their settings may
                then be others.

        Raises:
            InputError: If the folder holds a different run, or something else.
        """
        private_folder(self.path)
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise InputError(f"another run is at work in {self.path}", "wait for it") from None
        unfinished = {"complete": False, "finished": False}
        if not (self.path / "manifest.json").exists():
            if any(path.name != ".lock" for path in self.path.iterdir()):
                raise InputError(f"{self.path} is not empty and no run", "choose a new folder")
            self.write_manifest({**manifest, **unfinished})
            return
        old_manifest = self.manifest()
        self._check_same_run(old_manifest, manifest, restart)
        if restart is not None:
            for shard in self.shards():
                shard.forget(restart)
            self.write_manifest({**old_manifest, **manifest, **unfinished})

    def close(self) -> None:
        """Let others work in the folder."""
        self._lock.release()

    def manifest(self) -> dict[str, Any]:
        """Read what the run was made of.

        Raises:
            InputError: If there is no manifest, or it has a newer schema.
            TableError: If it was damaged or changed.
        """
        path = self.path / "manifest.json"
        if not path.exists():
            raise InputError(f"{self.path} is not a run folder", "make one with: darc run")
        data = read_json(path, RESTORE_HINT)
        schema = None
        if isinstance(data, dict):
            schema = data.get("schema")
        if not isinstance(schema, int):
            raise InputError(f"{path} is not the manifest of a run", RESTORE_HINT)
        if schema > SCHEMA:
            raise InputError(
                f"{self.path} has schema {schema}, newer than {SCHEMA}", "upgrade DARC to read it"
            )
        try:
            check_manifest(data)
        except RowError as problem:
            raise TableError(str(path), str(problem), RESTORE_HINT) from None
        seal = data.pop("seal", None)
        must_have_seal = schema > 1
        if seal != checksum(data) and (must_have_seal or seal is not None):
            raise TableError(str(path), "it was changed since the run wrote it", RESTORE_HINT)
        return dict(data)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        write_sealed(self.path / "manifest.json", {"schema": SCHEMA, **manifest}, sort_keys=True)

    def shard(self, number: int) -> Shard:
        """The shard of a number."""
        return self._shard(self.manifest(), f"{number:05d}")

    def shards(self) -> Iterator[Shard]:
        """The shards that there are, in order; each is read as it is used."""
        manifest = self.manifest()
        if manifest["schema"] == 1:
            names = [""]
        else:
            paths = (self.path / _SHARDS).glob("[0-9]*")
            names = [path.name for path in paths if path.is_dir()]
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield self._shard(manifest, name)

    def find(self, prompt_id: str) -> Shard:
        """The shard that has a prompt.

        Raises:
            InputError: If none has it.
        """
        other_ids: list[str] = []
        for shard in self.shards():
            ids = shard.rows("prompts.jsonl")
            if prompt_id in ids:
                return shard
            other_ids += list(ids)[: _LISTED_IDS + 1 - len(other_ids)]
        listed_ids = ", ".join(other_ids[:_LISTED_IDS])
        if len(other_ids) > _LISTED_IDS:
            listed_ids += ", ..."
        raise InputError(f"{self.path} has no prompt {prompt_id!r}", f"it has {listed_ids}")

    def candidates(self) -> Iterator[tuple[Prompt, Candidate]]:
        """All candidates in order, each with its prompt."""
        for shard in self.shards():
            for prompt_id in shard.rows("candidates.jsonl"):
                prompt = read_prompt(shard, prompt_id)
                for candidate in read_candidates(shard, prompt_id):
                    yield prompt, candidate

    def resume_command(self, complete: bool = False) -> str:
        """The command that continues the run.

        Args:
            complete: Whether the command makes what a lazy run left out.
        """
        command = f"darc run --config {self.path / 'run.toml'} --out {self.path}"
        if complete:
            return f"{command} --complete"
        return command

    def _check_same_run(
        self, old: Mapping[str, Any], new: Mapping[str, Any], restart: str | None
    ) -> None:
        """Refuse a run that differs in a stage that is not done again."""
        if old["input"] != new["input"]:
            raise InputError(
                f"{self.path} holds another run: its prompts differ", _OTHER_FOLDER_HINT
            )
        kept_stages: tuple[str, ...] = STAGES
        if restart is not None:
            kept_stages = STAGES[: STAGES.index(restart)]
        for key, stage in _STAGE_OF_SETTINGS.items():
            old_value = old["settings"].get(key)
            new_value = new["settings"].get(key)
            if old_value != new_value and stage in kept_stages:
                difference = _difference(old_value, new_value)
                raise InputError(
                    f"{self.path} holds another run: its {key} differs ({difference})",
                    f"{_OTHER_FOLDER_HINT}, or add --from {stage}",
                )

    def _shard(self, manifest: Mapping[str, Any], name: str) -> Shard:
        if manifest["schema"] == 1:
            return Shard(self.path, manifest)
        return Shard(self.path / _SHARDS / name, manifest, name)


def check_finished(folder: RunFolder) -> None:
    """Refuse a run that is not finished, or that has lost shards or decisions since.

    Raises:
        InputError: With the command that continues the run.
    """
    manifest = folder.manifest()
    n_decisions = 0
    n_sealed = 0
    undecided_prompt = ""
    for shard in folder.shards():
        decisions = shard.rows("decisions.jsonl")
        n_decisions += len(decisions)
        n_sealed += shard.seal_data is not None
        for prompt_id in shard.rows("prompts.jsonl"):
            if prompt_id not in decisions and not undecided_prompt:
                undecided_prompt = prompt_id
    n_missing = int(manifest.get("shards", 0)) - n_sealed
    if manifest["finished"] and n_decisions and not undecided_prompt and not n_missing:
        return
    reason = ""
    if undecided_prompt:
        reason = f": decisions.jsonl has no line for prompt {undecided_prompt[:40]!r}"
    elif manifest["finished"] and n_missing:
        reason = f": {n_missing} of its shards are not sealed"
    raise InputError(
        f"{folder.path} is not finished{reason}", f"go on with: {folder.resume_command()}"
    )


def check_complete(folder: RunFolder) -> None:
    """Refuse a run that is not finished, or that a lazy run left incomplete.

    Raises:
        InputError: With the command that continues or completes the run.
    """
    check_finished(folder)
    if not folder.manifest()["complete"]:
        raise InputError(
            f"{folder.path} has only the scores that a lazy run needed",
            f"make the rest with: {folder.resume_command(complete=True)}",
        )


def _difference(old: Any, new: Any) -> str:
    """The first place where two settings differ, in a few words."""
    if _is_list_of_objects(old) and _is_list_of_objects(new):
        # Scorers and raters are compared by their names.
        old = {row["name"]: row for row in old}
        new = {row["name"]: row for row in new}
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            if old.get(key) != new.get(key):
                return f"{key}: {_difference(old.get(key), new.get(key))}"
    return f"{_value_text(old)}, not {_value_text(new)}"


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) for row in value)


def _value_text(value: Any) -> str:
    """A value as JSON, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "..."
    if len(text) > _LONGEST_VALUE:
        return text[: _LONGEST_VALUE - 3] + "..."
    return text
