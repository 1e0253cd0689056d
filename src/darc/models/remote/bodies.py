"""Reading the bodies of a server's answers."""

import json
import re
from html import unescape
from typing import Any

_MAX_MESSAGE_LENGTH = 300
_MAX_TITLE_POSITION = 10_000
_HTML_PAGE = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]{1,300})", re.IGNORECASE)


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Parse a JSON object.

    Args:
        text: Anything that a server may answer.

    Returns:
        The object, or an empty one if the text is something else.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    return value


def error_message(body: str, key: str = "") -> str:
    """Find the server's own message in the body of an error.

    Args:
        body: The body: JSON in one of the usual shapes, an HTML page, or plain text.
        key: The key of the request, which is replaced by "***" should the server repeat it.

    Returns:
        The message on one line, cut if it is long.
    """
    message = " ".join(_find_message(body).split())
    if key:
        message = message.replace(key, "***")
    if len(message) > _MAX_MESSAGE_LENGTH:
        message = message[: _MAX_MESSAGE_LENGTH - 3] + "..."
    return message


def _find_message(body: str) -> str:
    if _HTML_PAGE.match(body):
        return _page_title(body)
    fields = parse_object(body)
    for name in ("error", "message", "detail"):
        value = fields.get(name)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, list):
            value = "; ".join(_describe_fault(fault) for fault in value)
        if isinstance(value, str) and value:
            return value
    return body


def _page_title(page: str) -> str:
    title = _TITLE.search(page[:_MAX_TITLE_POSITION])
    if title is None:
        return "a page that is not meant for programs"
    return unescape(title[1])


def _describe_fault(fault: Any) -> str:
    """One entry of a list of validation faults: the field and what is wrong with it."""
    if not isinstance(fault, dict):
        return str(fault)
    field = ".".join(str(part) for part in fault.get("loc", ()))
    if not field:
        return str(fault.get("msg", fault))
    return f"{field}: {fault.get('msg', '')}"
