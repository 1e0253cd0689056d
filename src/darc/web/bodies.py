"""Reading the bodies of requests."""

import json
import re
import sys
from typing import Any

from starlette.requests import ClientDisconnect, Request

from darc.web.body_memory import BodyShare
from darc.web.problems import Problem

_MAX_DEPTH = 64
_MAX_NUMBER = sys.float_info.max
_MAX_NAME_LENGTH = 80
# A text in JSON; the end is optional so that one without an end is not searched again and again.
_JSON_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


async def read_body(request: Request, limit: int, share: BodyShare | None = None) -> bytes:
    """Read the body of a request.

    Args:
        request: The request.
        limit: The most bytes that the body may have. A larger one is refused before it is read.
        share: What the body takes of the memory for all bodies; None to count nothing.

    Raises:
        Problem: With status 413 for a body that is too large, 400 for one that was cut off, 429 if
            there is no memory left for it.
    """
    too_large = Problem(413, f"the body is larger than {limit} bytes", code="request_too_large")
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > limit:
                raise too_large
            if share is not None:
                share.grow(len(part))
    except ClientDisconnect:
        raise Problem(400, "the body was cut off", code="incomplete_body") from None
    return bytes(body)


def require_json(request: Request) -> None:
    """Refuse a body that does not claim to be JSON, because pages of other sites can send those.

    Raises:
        Problem: With status 415.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0]
    if content_type.strip().lower() != "application/json":
        message = "send the body as Content-Type: application/json"
        raise Problem(415, message, code="unsupported_media_type")


def check_value_count(content: bytes, limit: int) -> int:
    """Refuse JSON with more values than a limit, before any of them is made.

    Args:
        content: The body.
        limit: The most texts, numbers, lists and objects.

    Returns:
        At most how many values there are.

    Raises:
        Problem: With status 400 if there are more.
    """
    count = _count_separators(content)
    if count > limit:
        # Commas and brackets in texts are not separators.
        count = _count_separators(_JSON_TEXT.sub(b"", content))
    if count > limit:
        message = f"the body has more than {limit} values (max_values)"
        raise Problem(400, message, code="max_values")
    return count


def _count_separators(content: bytes) -> int:
    return 1 + sum(map(content.count, (b",", b"[", b"{")))


def parse_json_object(content: bytes) -> dict[str, Any]:
    """Read a body as a JSON object that can be sent on as JSON.

    Args:
        content: The body.

    Raises:
        Problem: With status 400 for a body that is not a JSON object, has numbers that are not
            finite, texts that are not Unicode, or is nested too deeply. It names the field.
    """
    too_deep = Problem(400, f"the body is nested deeper than {_MAX_DEPTH}", code="invalid_json")
    try:
        body = _parse_json(content)
    except RecursionError:
        raise too_deep from None
    except ValueError:
        raise Problem(400, "the body is not valid JSON", code="invalid_json") from None
    if not isinstance(body, dict):
        raise Problem(400, "the body is not a JSON object", code="invalid_json")
    if nesting_depth(body) > _MAX_DEPTH:
        deep_fields = (name for name, value in body.items() if nesting_depth(value) >= _MAX_DEPTH)
        too_deep.param = next(deep_fields)
        raise too_deep
    if not _is_encodable(body):
        raise _unencodable_problem(body)
    return body


def _parse_json(content: bytes) -> Any:
    try:
        return json.loads(content, parse_constant=float)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # Python does not read integers of thousands of digits. As floats they are infinite, and
        # refused as such.
        return json.loads(content, parse_constant=float, parse_int=float)


def _is_encodable(value: Any) -> bool:
    """Whether all numbers are finite and all texts, names included, can be encoded."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _SURROGATE.search(value) is None
    if kind is float or kind is int:
        return -_MAX_NUMBER <= value <= _MAX_NUMBER
    if kind is list:
        return all(map(_is_encodable, value))
    if kind is dict:
        return all(map(_is_encodable, value)) and all(map(_is_encodable, value.values()))
    return True


def _unencodable_problem(value: Any) -> Problem:
    """The error about the first number or text inside a value that cannot be encoded."""
    path: list[str] = []
    while isinstance(value, dict | list):
        name = _first_unencodable_key(value)
        path.append(str(name)[:_MAX_NAME_LENGTH])
        value = value[name] if _is_encodable(name) else name
    param = ".".join(path).encode("utf-8", "replace").decode()
    if isinstance(value, int | float):
        reason = "is not a finite number"
    else:
        reason = "is not valid Unicode text"
    return Problem(400, f"{param} {reason}", code="invalid_value", param=param)


def _first_unencodable_key(container: dict[Any, Any] | list[Any]) -> Any:
    """The first key or index whose name or value cannot be encoded."""
    keys = container if isinstance(container, dict) else range(len(container))
    for key in keys:
        if not (_is_encodable(key) and _is_encodable(container[key])):
            return key
    raise ValueError("everything can be encoded")


def nesting_depth(value: Any) -> int:
    """Return how deeply lists and objects are nested, without recursion."""
    if not isinstance(value, dict | list):
        return 1
    depth = 0
    level: list[Any] = [value]
    while level:
        depth += 1
        next_level = []
        for container in level:
            items = container.values() if isinstance(container, dict) else container
            next_level += [item for item in items if isinstance(item, dict | list)]
        level = next_level
    return depth
