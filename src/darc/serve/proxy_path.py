"""Checking the paths of requests that are passed on."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from darc.web.problems import Problem

_PREFIX = b"/v1"
_MAX_DECODINGS = 4
_CONTROL_CHARACTERS = re.compile(rb"[\x00-\x1f\x7f]")


def path_below_v1(scope: Mapping[str, Any]) -> str:
    """Return the path below /v1 as it was sent.

    Servers differ in how often they decode a path and in what separates its parts. So no reading
    of the path may have a part that leads upwards.

    Args:
        scope: The scope of the request.

    Raises:
        Problem: With status 404 or 400 if some server might read the path as one outside of /v1.
    """
    sent: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    if not sent.startswith(_PREFIX + b"/"):
        raise Problem(404, "there is no such path", code="not_found")
    path = sent
    for _ in range(_MAX_DECODINGS):
        _check_reading(path)
        decoded = unquote_to_bytes(path)
        if decoded == path:
            return sent.removeprefix(_PREFIX).decode("latin-1")
        path = decoded
    raise Problem(400, "the path is encoded too many times", code="bad_path")


def _check_reading(path: bytes) -> None:
    """Refuse a path that leads upwards, or has characters that do not belong into one."""
    for part in re.split(rb"[/\\]", path):
        name = re.split(rb"[;?#]", part)[0]
        if name.strip() in (b".", b".."):
            raise Problem(404, "the path leads out of /v1", code="not_found")
    is_utf8 = path.decode(errors="ignore").encode() == path
    if not is_utf8 or b"\\" in path or _CONTROL_CHARACTERS.search(path):
        raise Problem(400, "the path has characters that are not allowed", code="bad_path")
