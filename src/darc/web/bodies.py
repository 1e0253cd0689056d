"""Bodies of requests, read up to a limit."""

import json
from typing import Any

from starlette.requests import ClientDisconnect, Request

from darc.web.problems import Problem

DEEPEST = 64


async def read_body(request: Request, limit: int) -> bytes:
    """The body; one of more than `limit` bytes is refused before it is read to the end."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > limit:
        raise _too_large(limit)
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise _too_large(limit)
            parts.append(part)
    except ClientDisconnect:
        raise Problem(400, "the body was cut off", code="incomplete_body") from None
    return b"".join(parts)


def check_json(request: Request) -> None:
    """Refuse a body that is not said to be JSON; a page of another site could send such a one."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(
            415, "send the body as Content-Type: application/json", code="unsupported_media_type"
        )


def read_object(content: bytes) -> dict[str, Any]:
    """A body as a JSON object; NaN, infinities and anything nested too deeply are refused."""
    try:
        found = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Problem(400, "the body is not valid JSON", code="invalid_json") from None
    if not isinstance(found, dict):
        raise Problem(400, "the body is no JSON object", code="invalid_json")
    if depth(found) > DEEPEST:
        raise Problem(400, f"the body is nested deeper than {DEEPEST}", code="invalid_json")
    return found


def depth(value: Any) -> int:
    """How deeply lists and objects are nested; the stack does not grow with it."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += [v for v in each.values() if isinstance(v, dict | list)]
            elif isinstance(each, list):
                inner += [v for v in each if isinstance(v, dict | list)]
        level = inner
    return deepest


def _too_large(limit: int) -> Problem:
    return Problem(413, f"the body is larger than {limit} bytes", code="request_too_large")


def _refuse(name: str) -> None:
    raise ValueError(name)
