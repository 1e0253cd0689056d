"""A part of a run: plain files with one line per prompt and stage, sealed when they are done."""

import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from darc.errors import InputError, TableError
from darc.files import (
    PACKED_SUFFIX,
    RESTORE_HINT,
    append_private,
    atomic_path,
    atomic_writer,
    file_sha256,
    open_input,
    private_folder,
    zstandard,
)
from darc.json_files import json_lines
from darc.runs.row_links import check_links
from darc.runs.row_schemas import RowError, check_row
from darc.runs.seals import checksum, read_sealed, write_sealed

logger = logging.getLogger(__name__)

STAGES = ("prompts", "candidates", "variants", "scores", "side", "decisions")
#: The stage of each file, in the order in which they are written for a prompt: a prompt that has a
#: line in one of them has a line in each before it.
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
TIMINGS = "timings.jsonl"
TIMINGS_SEAL = "timings.json"
SEAL = "shard.json"
#: The files that are left of a finished shard, by what `--keep` says.
KEEP = {
    "all": ORDER,
    "scores": tuple(name for name in ORDER if STAGE_OF[name] != "variants"),
    "decisions": ("prompts.jsonl", "decisions.jsonl"),
}
_REMOVE_HINT = "restore it, or remove the line and run again"
_RESUME_HINT = "go on with: darc run"


class DamagedFile(InputError):
    """A file of a sealed shard is not what the run wrote.

    Args:
        path: The file.
        change: What happened to it, such as "was removed".
    """

    def __init__(self, path: Path, change: str) -> None:
        super().__init__(
            f"{path} {change} since the run wrote it", "repair it with: darc run, again"
        )
        self.path = path


class Shard:
    """Some prompts of a run.

    Lines are appended whole, and a last line that a killed run left incomplete is cut off. If a
    prompt has two lines in a file, the later one counts. Whatever is read is checked. A row that no
    run would write is refused by its file and line and, in a sealed shard, so is any change.

    Args:
        path: The folder of the shard.
        manifest: The manifest of the run.
        name: The name of the shard, for messages.
    """

    def __init__(self, path: Path, manifest: Mapping[str, Any], name: str = "") -> None:
        self.path = path
        self.name = name
        #: The settings of the manifest.
        self.settings: Mapping[str, Any] = manifest["settings"]
        self._run_checksum = checksum([manifest[key] for key in ("input", "seed", "settings")])
        self._rows: dict[str, dict[str, dict[str, Any]]] = {}
        self._seal_checked = False

    @property
    def seal_data(self) -> dict[str, Any] | None:
        """The data of the seal; None if there is none, or it is broken."""
        return read_sealed(self.path / SEAL)

    @property
    def kept(self) -> tuple[str, ...]:
        """The files that there are, or will be when the shard is sealed."""
        data = self.seal_data
        if data is None:
            return ORDER
        return KEEP.get(str(data.get("keep")), ORDER)

    def damage(self) -> DamagedFile | None:
        """The first file, in the order of the stages, that is not as it was sealed."""
        data = self.seal_data
        if data is None:
            if (self.path / SEAL).exists():
                return DamagedFile(self.path / SEAL, "was changed")
            return None
        if data["run"] != self._run_checksum:
            return DamagedFile(self.path / "manifest.json", "was changed")
        for name, details in data["files"].items():
            path = self.path / name
            if not path.is_file():
                return DamagedFile(path, "was removed")
            if file_sha256(path) != details["sha256"]:
                return DamagedFile(path, "was changed")
        return None

    def finished(self, lazy: bool) -> bool:
        """Whether the shard is sealed, undamaged, and as complete as is wanted.

        A shard that was changed since it was sealed loses the changed file and all that follows
        from it.

        Args:
            lazy: Whether the shard of a lazy run is complete enough.
        """
        self._remove_damaged_timings()
        data = self.seal_data
        has_all_files = data is not None and data.get("keep", "all") == "all"
        problem = self.damage()
        if problem is not None:
            logger.warning("%s; shard %s is done again", problem.message, self.name)
            stage = "prompts"
            if has_all_files:
                # The earlier files are there, so that only this stage has to be done again.
                stage = STAGE_OF.get(problem.path.name.removesuffix(PACKED_SUFFIX), "prompts")
            self.forget(stage)
            return False
        if data is None:
            return False
        if data.get("lazy") and not lazy:
            if not has_all_files:
                shutil.rmtree(self.path)
            return False
        return True

    def begin(self) -> None:
        """Make ready to go on: unpack, unseal, and cut off what a killed run left incomplete."""
        private_folder(self.path)
        for name in ORDER:
            self._unpack(name)
        (self.path / SEAL).unlink(missing_ok=True)
        for name in (*ORDER, TIMINGS):
            path = self.path / name
            if path.exists():
                _cut_incomplete_line(path)
        self._load(ORDER, repair=True)

    def seal(
        self,
        order: Sequence[str],
        keep: str = "all",
        pack: bool = False,
        totals: Mapping[str, Any] | None = None,
        cost: Mapping[str, Any] | None = None,
    ) -> None:
        """Put the rows of every file in order, remove what is not kept, and note the hashes.

        Args:
            order: The ids of the prompts, in order.
            keep: Which files are left; a key of `KEEP`.
            pack: Whether to compress them.
            totals: Sums over the rows. They are noted so that a finished run can be summed up
                without being read.
            cost: The cost by stage, likewise.
        """
        for name in ORDER:
            ids = [row["prompt_id"] for _, row in self._read(name)]
            if ids != [prompt_id for prompt_id in order if prompt_id in self.rows(name)]:
                self._rewrite_file(name, order)
        lazy = any(row.get("lazy") for row in self.rows("scores.jsonl").values())
        files = {}
        for name in ORDER:
            path = self.path / name
            if name not in KEEP[keep]:
                path.unlink(missing_ok=True)
                continue
            # A file without rows is written too.
            append_private(path)
            if pack:
                path = _pack(path)
            files[path.name] = {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
        timings_path = self.path / TIMINGS
        if timings_path.exists():
            timings = {"cost": cost, "sha256": file_sha256(timings_path)}
            write_sealed(self.path / TIMINGS_SEAL, timings)
        seal = {
            "files": files,
            "keep": keep,
            "lazy": lazy,
            "prompts": len(order),
            "run": self._run_checksum,
            "totals": totals,
        }
        write_sealed(self.path / SEAL, seal)
        self._rows.clear()

    def forget(self, stage: str) -> None:
        """Remove the files of a stage and of the later ones, the last first."""
        (self.path / SEAL).unlink(missing_ok=True)
        for name in reversed(ORDER):
            if STAGES.index(STAGE_OF[name]) >= STAGES.index(stage):
                (self.path / name).unlink(missing_ok=True)
                (self.path / (name + PACKED_SUFFIX)).unlink(missing_ok=True)
                self._rows.pop(name, None)

    def rows(self, name: str) -> dict[str, dict[str, Any]]:
        """The rows of a file by prompt id, in order."""
        if name not in self._rows:
            self._load(ORDER[: ORDER.index(name) + 1])
        return self._rows[name]

    def append(self, name: str, row: dict[str, Any]) -> None:
        """Add one row in one write, unless a killed run has written the same row already."""
        rows = self.rows(name)
        if rows.get(row["prompt_id"]) != row:
            rows[row["prompt_id"]] = row
            append_private(self.path / name, _line(row).encode("utf-8"))

    def append_timing(self, row: dict[str, Any]) -> None:
        """Add a row of timings."""
        append_private(self.path / TIMINGS, _line(row).encode("utf-8"))

    def timings(self) -> list[dict[str, Any]]:
        """The rows of timings."""
        self.sealed_cost()
        return [row for _, row in self._read(TIMINGS)]

    def sealed_cost(self) -> dict[str, Any] | None:
        """The cost that was noted when the shard was sealed; None if it is not sealed.

        Raises:
            DamagedFile: If the timings were changed since.
        """
        if not (self.path / SEAL).exists():
            return None
        path = self.path / TIMINGS
        seal_path = self.path / TIMINGS_SEAL
        data = read_sealed(seal_path) or {}
        unchanged = path.is_file() and data.get("sha256") == file_sha256(path)
        if not unchanged and (path.exists() or seal_path.exists()):
            raise DamagedFile(path, "was changed")
        return data.get("cost")

    def drop(self, prompt_id: str) -> None:
        """Forget everything about a prompt, the last stage first."""
        for name in reversed(ORDER):
            removed = self.rows(name).pop(prompt_id, None)
            if removed is not None:
                self._rewrite_file(name, list(self.rows(name)))

    def _remove_damaged_timings(self) -> None:
        try:
            self.sealed_cost()
        except DamagedFile as problem:
            logger.warning("%s; the times of shard %s are left out", problem.message, self.name)
            for path in (self.path / TIMINGS, self.path / TIMINGS_SEAL):
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)

    def _unpack(self, name: str) -> None:
        """Decompress a file in place, if it is compressed."""
        packed = self.path / (name + PACKED_SUFFIX)
        if not packed.exists():
            return
        with (
            atomic_path(self.path / name, private=True) as temporary,
            open_input(packed, RESTORE_HINT) as source,
            temporary.open("wb") as target,
        ):
            shutil.copyfileobj(source, target)
        packed.unlink()

    def _rewrite_file(self, name: str, order: Sequence[str]) -> None:
        """Write a file anew, with its rows in an order."""
        rows = self.rows(name)
        with atomic_writer(self.path / name, private=True) as file:
            file.writelines(_line(rows[prompt_id]) for prompt_id in order if prompt_id in rows)

    def _load(self, names: Sequence[str], repair: bool = False) -> None:
        """Read some files, and check that each prompt has its lines in the earlier ones.

        Args:
            names: The files, in order.
            repair: Whether to remove lines without earlier ones, in place of refusing them.
        """
        if not self._seal_checked and not repair:
            problem = self.damage()
            if problem is not None:
                raise problem
            self._seal_checked = (self.path / SEAL).exists()
        data = self.seal_data
        if data is not None:
            kept = self.kept
            if names[-1] not in kept:
                raise InputError(
                    f"{self.path} has no {names[-1]}: the run was made with --keep {data['keep']}",
                    "make the run again with --keep all",
                )
            names = [name for name in names if name in kept]
        # The later files first: a run that is at work meanwhile writes the earlier ones first, so
        # that every line that is read here has its earlier lines.
        numbered_rows = {}
        for name in reversed(names):
            if name not in self._rows:
                numbered_rows[name] = {
                    row["prompt_id"]: (number, row) for number, row in self._read(name)
                }
        for place, name in enumerate(names):
            if name in numbered_rows:
                self._rows[name] = self._linked_rows(
                    name, names[:place], numbered_rows[name], repair
                )
                if len(self._rows[name]) < len(numbered_rows[name]):
                    self._rewrite_file(name, list(self._rows[name]))

    def _linked_rows(
        self,
        name: str,
        earlier_names: Sequence[str],
        numbered_rows: Mapping[str, tuple[int, dict[str, Any]]],
        repair: bool,
    ) -> dict[str, dict[str, Any]]:
        """The rows of a file that agree with those of the earlier files."""
        path = str(self.path / name)
        rows = {}
        for prompt_id, (number, row) in numbered_rows.items():
            if earlier_names and prompt_id not in self._rows[earlier_names[-1]]:
                message = f"{earlier_names[-1]} has no line for its prompt {prompt_id[:40]!r}"
                if not repair:
                    raise TableError(path, message, _RESUME_HINT, number)
                logger.warning("%s: %s; it is done again", path, message)
                continue
            earlier_rows = {earlier: self._rows[earlier][prompt_id] for earlier in earlier_names}
            try:
                check_links(name, row, earlier_rows, self.settings)
            except RowError as problem:
                raise TableError(path, str(problem), _REMOVE_HINT, number) from None
            rows[prompt_id] = row
        return rows

    def _read(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The rows of a file with the numbers of their lines, checked."""
        path = self.path / name
        if not path.exists():
            path = path.with_name(name + PACKED_SUFFIX)
        if not path.exists():
            return
        for number, row in json_lines(path, _REMOVE_HINT, ended=True):
            try:
                check_row(name, row)
            except RowError as problem:
                raise TableError(str(path), str(problem), _REMOVE_HINT, number) from None
            yield number, row


def _line(row: dict[str, Any]) -> str:
    """A row as a line of a file."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _cut_incomplete_line(path: Path) -> None:
    """Cut off a last line that has no end."""
    with path.open("rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)
        os.fsync(file.fileno())


def _pack(path: Path) -> Path:
    """Compress a file in place, and return its new path."""
    packed = path.with_name(path.name + PACKED_SUFFIX)
    with (
        atomic_path(packed, private=True) as temporary,
        path.open("rb") as source,
        temporary.open("wb") as target,
    ):
        zstandard().ZstdCompressor(level=6, write_checksum=True).copy_stream(source, target)
    path.unlink()
    return packed
