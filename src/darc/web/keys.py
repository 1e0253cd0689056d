"""API keys of clients: made once, kept as hashes in a file of JSON lines."""

import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from darc.errors import InputError
from darc.files import append_private
from darc.json_files import json_lines
from darc.settings.model import SettingsModel
from darc.settings.validation import validate_settings

_TOKEN_PREFIX = "darc-"
_TOKEN_BYTES = 32


class Key(SettingsModel):
    """A client's key as the file keeps it.

    Only the hash is kept. A token has 32 random bytes, which no search finds, so a slow hash would
    add nothing.
    """

    #: The client's name in logs and limits.
    name: str
    #: The SHA-256 of the token, in hexadecimal.
    sha256: Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{64}$", to_lower=True)]
    #: Requests per minute; 0 for the service's own limit.
    rate: float = Field(default=0.0, ge=0)
    #: Requests at a time; 0 for no limit.
    active: int = Field(default=0, ge=0)


class Keys(tuple[Key, ...]):
    """The keys that a service accepts. An empty tuple accepts every client."""

    def find(self, token: str) -> Key | None:
        """Return the key of a token, None if there is none.

        The time taken does not depend on which key matches, nor on how much of one does.
        """
        token_hash = hash_token(token)
        matching = [key for key in self if hmac.compare_digest(token_hash, key.sha256)]
        if not matching:
            return None
        return matching[-1]


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_keys(path: Path) -> Keys:
    """Read a file of keys, one JSON object per line.

    Args:
        path: The file. A line has `name` and `sha256`, and optionally `rate` and `active`.

    Returns:
        The keys, at least one.

    Raises:
        InputError: The file cannot be read, has a line that is not a key, or has no keys.
    """
    keys = []
    for number, row in json_lines(path, "darc serve --make-key NAME makes it"):
        fields = row if isinstance(row, dict) else {}
        keys.append(validate_settings(Key, fields, f"{path}, line {number}"))
    if not keys:
        raise InputError(f"{path} has no keys", "add one with: darc serve --make-key NAME")
    return Keys(keys)


def make_key(path: Path, name: str, rate: float = 0.0) -> str:
    """Make a key and add its hash to a file.

    Args:
        path: The file, which is made if it does not exist.
        name: The client's name, which no other key in the file may have.
        rate: Requests per minute; 0 for the service's own limit.

    Returns:
        The token, which is not written anywhere.

    Raises:
        InputError: The name is taken, or the file cannot be read.
    """
    existing = Keys()
    if path.exists() and path.stat().st_size:
        existing = read_keys(path)
    if any(key.name == name for key in existing):
        raise InputError(f"{path} already has a key named {name!r}", "choose another name")
    token = _TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
    key = validate_settings(Key, {"name": name, "sha256": hash_token(token), "rate": rate})
    line = key.model_dump_json(exclude_defaults=True) + "\n"
    append_private(path, line.encode())
    return token
