"""Bodies of requests, read up to a limit; work that ends when its client leaves."""

import asyncio
import json
import re
import sys
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

from darc.web.problems import Problem

Result = TypeVar("Result")

DEEPEST = 64
LARGEST = sys.float_info.max
LONGEST_NAME = 80
_SURROGATE = re.compile("[\ud800-\udfff]")


async def read_body(request: Request, limit: int) -> bytes:
    """The body; one of more than `limit` bytes is refused before it is read to the end."""
    told, body = request.headers.get("content-length", ""), bytearray()
    too_large = Problem(413, f"the body is larger than {limit} bytes", code="request_too_large")
    if told.isdecimal() and int(told) > limit:
        raise too_large
    try:
        async for part in request.stream():
            body += part
            if len(body) > limit:
                raise too_large
    except ClientDisconnect:
        raise Problem(400, "the body was cut off", code="incomplete_body") from None
    return bytes(body)


def check_json(request: Request) -> None:
    """Refuse a body that is not said to be JSON; a page of another site could send such a one."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        message = "send the body as Content-Type: application/json"
        raise Problem(415, message, code="unsupported_media_type")


def read_object(content: bytes) -> dict[str, Any]:
    """A body as a JSON object that can be sent on as JSON.

    Numbers that are not finite, texts that are no Unicode and anything nested too deeply are
    refused with the place where they stand.
    """
    deep = Problem(400, f"the body is nested deeper than {DEEPEST}", code="invalid_json")
    try:
        try:
            found = json.loads(content, parse_constant=float)
        except json.JSONDecodeError:
            raise
        except ValueError:
            # Python reads no whole number of thousands of digits; as another it is infinite.
            found = json.loads(content, parse_constant=float, parse_int=float)
    except RecursionError:
        raise deep from None
    except ValueError:
        raise Problem(400, "the body is not valid JSON", code="invalid_json") from None
    if not isinstance(found, dict):
        raise Problem(400, "the body is no JSON object", code="invalid_json")
    if depth(found) > DEEPEST:
        deep.param = next(name for name, each in found.items() if depth(each) >= DEEPEST)
        raise deep
    if not _is_sound(found):
        raise _unsound(found)
    return found


def _is_sound(value: Any) -> bool:
    """Whether all numbers are finite and all texts, names too, can be encoded."""
    kind = type(value)
    if kind is str:
        return value.isascii() or _SURROGATE.search(value) is None
    if kind is float or kind is int:
        return -LARGEST <= value <= LARGEST
    if kind is list:
        return all(map(_is_sound, value))
    if kind is dict:
        return all(map(_is_sound, value)) and all(map(_is_sound, value.values()))
    return True


def _unsound(value: Any) -> Problem:
    """The error about the first number or text in a value that is not sound."""
    place: list[str] = []
    while isinstance(value, dict | list):
        names = value if isinstance(value, dict) else range(len(value))
        name = next(name for name in names if not (_is_sound(name) and _is_sound(value[name])))
        place.append(str(name)[:LONGEST_NAME])
        value = value[name] if _is_sound(name) else name
    param = ".".join(place).encode("utf-8", "replace").decode()
    what = "is no finite number" if isinstance(value, int | float) else "is no text of Unicode"
    return Problem(400, f"{param} {what}", code="invalid_value", param=param)


def depth(value: Any) -> int:
    """How deeply lists and objects are nested; the stack does not grow with it."""
    deepest = 0
    level: list[Any] = [value if isinstance(value, dict | list) else ()]
    while level:
        deepest += 1
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [v for values in inside for v in values if isinstance(v, dict | list)]
    return deepest


async def unless_gone(
    request: Request, work: "asyncio.Task[Result]", seconds: float | None = None
) -> bool:
    """Wait for work; whether it is done after at most `seconds`.

    Where the client leaves first, the work is cancelled and a `Problem` with 499 is raised, which
    nobody hears; where the waiting itself is cancelled, the work is too. The body must have been
    read.
    """

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    gone = asyncio.ensure_future(left())
    try:
        await asyncio.wait((work, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return True
        if gone.done():
            await ended(work)
            raise Problem(499, "the client has left", code="client_left")
        return False
    except asyncio.CancelledError:
        await ended(work)
        raise
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)


async def ended(work: "asyncio.Task[Any]") -> None:
    """Cancel work and wait until it has let go of everything."""
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
