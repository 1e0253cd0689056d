"""JSON files with a checksum of themselves, which show whether they were changed."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darc.errors import TableError
from darc.files import atomic_writer
from darc.json_files import read_json


def checksum(data: Any) -> str:
    """A hash of JSON data, which does not depend on its layout."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def read_sealed(path: Path) -> dict[str, Any] | None:
    """Read a sealed JSON file; None if there is none, or it is not as it was written."""
    try:
        data = read_json(path)
    except TableError:
        return None
    if not isinstance(data, dict):
        return None
    seal = data.pop("seal", "")
    if seal != checksum(data):
        return None
    return data


def write_sealed(path: Path, data: Mapping[str, Any], sort_keys: bool = False) -> None:
    """Write a JSON file with a checksum of itself."""
    with atomic_writer(path, private=True) as file:
        json.dump({**data, "seal": checksum(data)}, file, indent=2, sort_keys=sort_keys)
        file.write("\n")
