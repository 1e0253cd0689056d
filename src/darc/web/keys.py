"""Keys of clients: random, shown once, hashed at rest."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from darc.errors import InputError
from darc.files import append_private, json_lines

PREFIX = "darc-"
BYTES = 32


@dataclass(frozen=True)
class Key:
    """A client's key as it is kept: its name, its SHA-256, and its limits (0: the service's own).

    A key is 32 random bytes, which no search finds; a slow hash would add nothing.
    """

    name: str
    digest: str
    rate: float = 0.0
    active: int = 0


class Keys:
    """The keys that a service takes; without any it takes every client."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self._keys = tuple(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def find(self, token: str) -> Key | None:
        """The key of a token; the time taken does not depend on which one it is, or how near."""
        given = digest_of(token)
        found = None
        for key in self._keys:
            if hmac.compare_digest(given, key.digest):
                found = key
        return found


def digest_of(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def read_keys(path: Path) -> Keys:
    """The keys of a file, one JSON object a line: name, sha256, and rate and active if they are."""
    keys = []
    for number, row in json_lines(path, "darc serve --make-key NAME makes it"):
        try:
            digest = str(row["sha256"]).lower()
            key = Key(
                str(row["name"]), digest, float(row.get("rate", 0)), int(row.get("active", 0))
            )
            if len(digest) != 64 or int(digest, 16) < 0:
                raise ValueError
        except (ValueError, KeyError, TypeError, OverflowError):
            raise InputError(
                f"{path}, line {number}: it is no key",
                'a line is {"name": ..., "sha256": ..., "rate": ..., "active": ...}',
            ) from None
        keys.append(key)
    if not keys:
        raise InputError(f"{path} has no keys", "add one with: darc serve --make-key NAME")
    return Keys(keys)


def make_key(path: Path, name: str, rate: float = 0.0, active: int = 0) -> str:
    """A new key, which is returned and never written; its hash is added to the file."""
    known = read_keys(path) if path.exists() and path.stat().st_size else Keys()
    if any(key.name == name for key in known):
        raise InputError(f"{path} has a key named {name!r} already", "take another name")
    token = PREFIX + secrets.token_urlsafe(BYTES)
    row: dict[str, object] = {"name": name, "sha256": digest_of(token)}
    row |= {"rate": rate} if rate else {}
    row |= {"active": active} if active else {}
    append_private(path, (json.dumps(row) + "\n").encode())
    return token
