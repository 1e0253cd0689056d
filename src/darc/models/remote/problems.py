"""What can go wrong with a call, and how it is told."""

import json
import re
from collections.abc import Sequence
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from darc.errors import DarcError, InputError

LONGEST = 300
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]{1,300})", re.IGNORECASE)


class Refused(InputError):
    """The server will not do what it was asked, now or later; `said` is its own message.

    `body` is all that it answered.
    """

    def __init__(self, message: str, hint: str, status: int, said: str, body: str = "") -> None:
        super().__init__(message, hint)
        self.status, self.said, self.body = status, said, body


class Moved(Refused):
    """The server sends its callers elsewhere, to `where`, which is not followed.

    It is told without what a link may carry along.
    """

    def __init__(self, url: str, status: int, location: str | None, body: str = "") -> None:
        self.where = "elsewhere"
        try:
            parts = urlsplit(urljoin(url, location or ""))
            plain = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
        except ValueError:
            location = None
        if location:
            self.where = plain.geturl()[:LONGEST]
        said = f"it has moved to {self.where}"
        super().__init__(f"{url} answered {status}: {said}", "check the URL", status, said, body)


class Failed(DarcError):
    """The server did not answer, or not sensibly, after all attempts; its kind is its type.

    `status` is the server's, where it has one, `after` when it said to come back, in seconds, and
    `body` what it answered last. `passing` says that another attempt may do better.
    """

    passing = True

    def __init__(
        self,
        message: str,
        hint: str = "",
        status: int | None = None,
        after: float | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.status, self.after, self.body = status, after, body

    def tried(self, urls: Sequence[str]) -> None:
        """Add to the message how often it was tried, and where if at several URLs."""
        if len(urls) > 1:
            places = dict.fromkeys(urls)
            where = f" at {' and '.join(places)}" if len(places) > 1 else ""
            self.message += f" ({len(urls)} attempts{where})"
            self.args = (self.message, self.hint)


class Unreachable(Failed):
    """There is no connection, or it broke before the answer had come."""


class TimedOut(Failed):
    """The answer did not come in time."""


class ErrorStatus(Failed):
    """The server answered with an error that may pass."""


class Malformed(Failed):
    """An answer that is not what the protocol says.

    Whoever reads an answer raises it with what completes "answered with ...".
    """


class TooLarge(Failed):
    """The server answered, with more than `limit` bytes."""

    passing = False

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(f"{url} answered with more than {limit} bytes", "ask it for less")
        self.limit = limit


class LeftAlone(Failed):
    """Nothing was sent: the server has failed again and again, and `after` is when it is asked."""

    passing = False


class OverLimit(Failed):
    """Nothing was sent: what was asked for on behalf of a request has reached its limit."""

    passing = False


def json_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object that a text is, empty where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def said(body: str, key: str = "") -> str:
    """The server's own message in the body of an error, on one line, without the key."""
    text = " ".join(_message(body).split())
    if key:
        text = text.replace(key, "***")
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _message(body: str) -> str:
    if _PAGE.match(body):
        title = _TITLE.search(body[:10_000])
        return unescape(title[1]) if title else "a page that is not meant for programs"
    found = json_object(body)
    for name in ("error", "message", "detail"):
        inner = found.get(name)
        if isinstance(inner, dict):
            inner = inner.get("message")
        if isinstance(inner, list):
            inner = "; ".join(map(_detail, inner))
        if isinstance(inner, str) and inner:
            return inner
    return body


def _detail(entry: Any) -> str:
    """One entry of a list of faults: the field and what is wrong with it."""
    if not isinstance(entry, dict):
        return str(entry)
    place = ".".join(str(part) for part in entry.get("loc", ()))
    return f"{place}: {entry.get('msg', '')}" if place else str(entry.get("msg", entry))
