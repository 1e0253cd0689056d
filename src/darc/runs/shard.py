"""A part of a run: plain files, one line a prompt and stage, sealed when it is done."""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from darc.errors import InputError, TableError
from darc.files import (
    AGAIN,
    PACKED,
    append_private,
    atomic_path,
    atomic_writer,
    file_sha256,
    json_lines,
    private_folder,
    read_json,
    reading,
    zstandard,
)
from darc.runs.records import Fault, check_links, check_row

logger = logging.getLogger(__name__)

STAGES = ("prompts", "candidates", "variants", "scores", "side", "decisions")
# As the files are written for a prompt: a line in one of them has one in each before it.
STAGE_OF = {
    "prompts.jsonl": "prompts",
    "candidates.jsonl": "candidates",
    "rejected.jsonl": "variants",
    "variants.jsonl": "variants",
    "scores.jsonl": "scores",
    "side.jsonl": "side",
    "decisions.jsonl": "decisions",
}
ORDER = tuple(STAGE_OF)
TIMINGS, TIMINGS_SEAL, SEAL = "timings.jsonl", "timings.json", "shard.json"
# What is left of a finished shard.
KEEP = {
    "all": ORDER,
    "scores": tuple(name for name in ORDER if STAGE_OF[name] != "variants"),
    "decisions": ("prompts.jsonl", "decisions.jsonl"),
}
REMOVE = "restore it, or remove the line and run again"
LOST = "go on with: darc run"


class Damaged(InputError):
    """A file of a sealed shard is not what the run wrote."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(f"{path} {what} since the run wrote it", "mend it with: darc run, again")
        self.path = path


class Shard:
    """Some prompts of a run. A line is written whole; a torn last line is cut off.

    Where a prompt has two lines in a file, the later one counts. What is read is checked, and what
    no run would write is refused by file and line; once sealed, so is any change of a file.
    `manifest` is the run's.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], name: str = "") -> None:
        self.path, self.settings, self.name = path, manifest["settings"], name
        self._run = checksum([manifest[key] for key in ("input", "seed", "settings")])
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        self._checked = False

    @property
    def seal_data(self) -> dict[str, Any] | None:
        """What the seal says, None where there is none; a broken one is as good as none."""
        return _sealed(self.path / SEAL)

    @property
    def kept(self) -> tuple[str, ...]:
        """The files that there are, or will be when it is sealed."""
        data = self.seal_data
        return ORDER if data is None else KEEP.get(str(data.get("keep")), ORDER)

    def damage(self) -> Damaged | None:
        """The first file, in the order of the stages, that is not as it was sealed."""
        data = self.seal_data
        if data is None:
            broken = (self.path / SEAL).exists()
            return Damaged(self.path / SEAL, "was changed") if broken else None
        if data["run"] != self._run:
            return Damaged(self.path / "manifest.json", "was changed")
        for name, known in data["files"].items():
            path = self.path / name
            if not path.is_file():
                return Damaged(path, "was removed")
            if file_sha256(path) != known["sha256"]:
                return Damaged(path, "was changed")
        return None

    def finished(self, lazy: bool) -> bool:
        """Whether it is sealed, whole, and as complete as is wanted.

        One that was changed since it was sealed loses what is changed and all that follows from it.
        """
        data = self.seal_data
        whole = data is not None and data.get("keep", "all") == "all"
        try:
            self.noted_cost()
        except Damaged as changed:
            logger.warning("%s; the times of shard %s are left out", changed.message, self.name)
            for path in (self.path / TIMINGS, self.path / TIMINGS_SEAL):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        if (problem := self.damage()) is not None:
            logger.warning("%s; shard %s is done again", problem.message, self.name)
            # Without the means to make the file again, everything is.
            stage = STAGE_OF.get(problem.path.name.removesuffix(PACKED), "prompts")
            self.forget(stage if whole else "prompts")
            return False
        if data is not None and data.get("lazy") and not lazy:
            if not whole:
                shutil.rmtree(self.path)
            return False
        return data is not None

    def begin(self) -> None:
        """Make ready to go on: unseal, cut off what is torn, leave out what has no beginning."""
        private_folder(self.path)
        for name in ORDER:
            if (packed := self.path / (name + PACKED)).exists():
                with (
                    atomic_path(self.path / name, private=True) as temporary,
                    reading(packed, AGAIN) as source,
                    temporary.open("wb") as target,
                ):
                    shutil.copyfileobj(source, target)
                packed.unlink()
        (self.path / SEAL).unlink(missing_ok=True)
        for path in (self.path / name for name in (*ORDER, TIMINGS)):
            if path.exists():
                with path.open("rb+") as file:
                    file.truncate(file.read().rfind(b"\n") + 1)
                    os.fsync(file.fileno())
        self._load(ORDER, mending=True)

    def seal(
        self,
        order: Sequence[str],
        keep: str = "all",
        pack: bool = False,
        totals: Mapping[str, Any] | None = None,
        cost: Mapping[str, Any] | None = None,
    ) -> None:
        """Put the rows of every file in order, leave out what is not kept, and note the hashes.

        `totals` of the rows and the `cost` of the timings are noted beside them, so that a finished
        run can be summed up without being read.
        """
        for name in ORDER:
            ids = [row["prompt_id"] for _, row in self._read(name)]
            if ids != [prompt_id for prompt_id in order if prompt_id in self.rows(name)]:
                self._replace(name, order)
        lazy = any(row.get("lazy") for row in self.rows("scores.jsonl").values())
        files = {}
        for path in (self.path / name for name in ORDER):
            if path.name not in KEEP[keep]:
                path.unlink(missing_ok=True)
                continue
            append_private(path)
            if pack:
                path = _packed(path)
            files[path.name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        if (self.path / TIMINGS).exists():
            times = {"cost": cost, "sha256": file_sha256(self.path / TIMINGS)}
            write_sealed(self.path / TIMINGS_SEAL, times)
        told = {"files": files, "keep": keep, "lazy": lazy, "prompts": len(order)}
        write_sealed(self.path / SEAL, {**told, "run": self._run, "totals": totals})
        self._rows.clear()

    def forget(self, stage: str) -> None:
        """Remove the files of a stage and of the later ones, the last first."""
        (self.path / SEAL).unlink(missing_ok=True)
        for name in reversed(ORDER):
            if STAGES.index(STAGE_OF[name]) >= STAGES.index(stage):
                (self.path / name).unlink(missing_ok=True)
                (self.path / (name + PACKED)).unlink(missing_ok=True)
                self._rows.pop(name, None)

    def rows(self, name: str) -> dict[str, dict[str, Any]]:
        """The rows of a file by prompt id, in order."""
        if name not in self._rows:
            self._load(ORDER[: ORDER.index(name) + 1])
        return self._rows[name]

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row in one write, but for one that a killed run has written already."""
        if (rows := self.rows(name)).get(row["prompt_id"]) != row:
            rows[row["prompt_id"]] = row
            append_private(self.path / name, line(row).encode("utf-8"))

    def note(self, row: dict[str, Any]) -> None:
        """Add a row of timings."""
        append_private(self.path / TIMINGS, line(row).encode("utf-8"))

    def notes(self) -> list[dict[str, Any]]:
        """The rows of timings."""
        self.noted_cost()
        return [row for _, row in self._read(TIMINGS)]

    def noted_cost(self) -> dict[str, Any] | None:
        """The cost that was noted when it was sealed; changed timings are refused."""
        path, seal = self.path / TIMINGS, self.path / TIMINGS_SEAL
        if not (self.path / SEAL).exists():
            return None
        known = _sealed(seal) or {}
        same = path.is_file() and known.get("sha256") == file_sha256(path)
        if not same and (path.exists() or seal.exists()):
            raise Damaged(path, "was changed")
        return known.get("cost")

    def drop(self, prompt_id: str) -> None:
        """Forget everything about a prompt, the last stage first."""
        for name in reversed(ORDER):
            if self.rows(name).pop(prompt_id, None) is not None:
                self._replace(name, list(self.rows(name)))

    def _replace(self, name: str, order: Sequence[str]) -> None:
        rows = self.rows(name)
        with atomic_writer(self.path / name, private=True) as file:
            file.writelines(line(rows[prompt_id]) for prompt_id in order if prompt_id in rows)

    def _load(self, names: Sequence[str], mending: bool = False) -> None:
        """Read some files, and see that each has what the later ones are made of."""
        if not self._checked and not mending:
            if (problem := self.damage()) is not None:
                raise problem
            self._checked = (self.path / SEAL).exists()
        if (data := self.seal_data) is not None:
            kept = self.kept
            if names[-1] not in kept:
                what = f"{names[-1]}: the run was made with --keep {data['keep']}"
                raise InputError(f"{self.path} has no {what}", "make the run again with --keep all")
            names = [name for name in names if name in kept]
        # The later ones first: a run that is at work meanwhile writes the earlier ones first.
        found = {
            name: {row["prompt_id"]: (number, row) for number, row in self._read(name)}
            for name in reversed(names)
            if name not in self._rows
        }
        for place, name in enumerate(names):
            if name not in found:
                continue
            path, rows = str(self.path / name), {}
            for prompt_id, (number, row) in found[name].items():
                if place and prompt_id not in self._rows[names[place - 1]]:
                    lost = f"{names[place - 1]} has no line for its prompt {prompt_id[:40]!r}"
                    if not mending:
                        raise TableError(path, lost, LOST, number)
                    logger.warning("%s: %s; it is done again", path, lost)
                    continue
                try:
                    others = {each: self._rows[each][prompt_id] for each in names[:place]}
                    check_links(name, row, others, self.settings)
                except Fault as fault:
                    raise TableError(path, str(fault), REMOVE, number) from None
                rows[prompt_id] = row
            self._rows[name] = rows
            if len(rows) < len(found[name]):
                self._replace(name, list(rows))

    def _read(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of a file with their lines, each as a run writes it."""
        path = self.path / name
        if not path.exists():
            path = path.with_name(name + PACKED)
        if not path.exists():
            return
        for number, row in json_lines(path, REMOVE, ended=True):
            try:
                check_row(name, row)
            except Fault as problem:
                raise TableError(str(path), str(problem), REMOVE, number) from None
            yield number, row


def line(row: dict[str, Any]) -> str:
    """A row as a line of a file."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def checksum(data: Any) -> str:
    """A hash of what JSON says, however it is laid out."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _sealed(path: Path) -> dict[str, Any] | None:
    """What a JSON file with a checksum of itself says; None where it is not as it was written."""
    with suppress(TableError):
        data = read_json(path)
        if isinstance(data, dict) and data.pop("seal", "") == checksum(data):
            return data
    return None


def write_sealed(path: Path, data: Mapping[str, Any], sort_keys: bool = False) -> None:
    """Write a JSON file with a checksum of itself."""
    with atomic_writer(path, private=True) as file:
        json.dump({**data, "seal": checksum(data)}, file, indent=2, sort_keys=sort_keys)
        file.write("\n")


def _packed(path: Path) -> Path:
    """The file packed in place of itself."""
    packed = path.with_name(path.name + PACKED)
    with (
        atomic_path(packed, private=True) as temporary,
        path.open("rb") as source,
        temporary.open("wb") as target,
    ):
        zstandard().ZstdCompressor(level=6, write_checksum=True).copy_stream(source, target)
    path.unlink()
    return packed
