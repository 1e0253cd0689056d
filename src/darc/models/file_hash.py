"""A hash that identifies the files of a model."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from darc.files import file_sha256

# Larger files are not read.
_MAX_BYTES_READ = 1_000_000_000


def hash_files(paths: Sequence[Path]) -> str:
    """Hash the names and contents of files.

    Args:
        paths: The files. If they are large, their sizes and times stand for their contents.

    Returns:
        16 hexadecimal digits.
    """
    digest = hashlib.sha256()
    stats = [path.stat() for path in paths]
    is_small = sum(stat.st_size for stat in stats) < _MAX_BYTES_READ
    for path, stat in zip(paths, stats, strict=True):
        digest.update(f"{path.name}\0{stat.st_size}\0".encode())
        if is_small:
            digest.update(bytes.fromhex(file_sha256(path)))
        else:
            digest.update(f"{stat.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]
