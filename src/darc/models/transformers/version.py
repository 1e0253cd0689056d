"""What a model's outputs depend on, as a short hash."""

import hashlib
from pathlib import Path

from darc.models.transformers.libraries import quiet, readable
from darc.models.transformers.source import Source

READ_BELOW = 1_000_000_000
KINDS = (".safetensors", ".bin", ".gguf", ".json", ".model", ".jinja", ".txt")


def fingerprint(source: Source) -> str:
    """A hash of local files, the commit of a hub model; empty where neither is known."""
    parts = [_of(source.weights, source.gguf)]
    if source.adapter:
        parts.append(_of(source.adapter, ""))
    return "+".join(parts) if all(parts) else ""


def _of(weights: str, gguf: str) -> str:
    folder = Path(weights)
    if gguf:
        return files_hash([folder / gguf])
    if folder.is_dir():
        found = [path for path in folder.iterdir() if path.suffix in KINDS and path.is_file()]
        return files_hash(sorted(found))
    return hub_commit(weights)


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


def hub_commit(name: str) -> str:
    """The commit of the hub model that would be loaded now; asks the hub or its cache."""
    from transformers import PretrainedConfig

    with quiet(), readable(name):
        settings, _ = PretrainedConfig.get_config_dict(name)
    return str(settings.get("_commit_hash") or "")[:16]
