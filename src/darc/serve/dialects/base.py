"""What the translation of an API to chat completions consists of."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from darc.serve.streaming import encode_event
from darc.serve.validation import invalid_value
from darc.web.problems import Problem

Json = dict[str, Any]


class Dialect(Protocol):
    """An API whose requests are answered as chat completions.

    Its methods that read a request raise a `Problem` with status 400 for what cannot be
    translated.
    """

    def chat_body(self, body: Mapping[str, Any]) -> Json:
        """Translate a request to the body of a chat completion."""

    def response(self, body: Mapping[str, Any], completion: Mapping[str, Any]) -> Json:
        """Translate a chat completion to the answer of a request."""

    def events(self, body: Mapping[str, Any], completion: Mapping[str, Any]) -> Iterator[bytes]:
        """Translate a chat completion to the events of a stream."""

    def error(self, problem: Problem) -> Json:
        """An error in the shape that the clients of the API read."""

    def error_event(self, problem: Problem) -> bytes:
        """An error in the middle of a stream."""


def named_event(name: str, data: Json) -> bytes:
    """One server-sent event with a name."""
    return f"event: {name}\n".encode() + encode_event(data)


def copy_fields(body: Mapping[str, Any], names: Mapping[str, str]) -> Json:
    """The fields of a request that a chat completion has under other names.

    Args:
        body: The request.
        names: The name in a chat completion of each field that is copied.

    Returns:
        The fields that are given and not null.
    """
    return {new: body[old] for old, new in names.items() if body.get(old) is not None}


def refuse_fields(body: Mapping[str, Any], reasons: Mapping[str, str]) -> None:
    """Refuse fields that ask for what the gateway cannot do, unless they are null or false.

    Args:
        body: The request.
        reasons: What to say of each field.

    Raises:
        Problem: With status 400.
    """
    for name, reason in reasons.items():
        if body.get(name):
            raise invalid_value(name, reason)


def as_list(value: Any, path: str) -> list[Any]:
    """A value that must be a list of objects.

    Raises:
        Problem: With status 400 if it is something else.
    """
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise invalid_value(path, "should be a list of objects")
    return value


def as_text(value: Any, path: str) -> str:
    """A value that must be a text.

    Raises:
        Problem: With status 400 if it is something else.
    """
    if not isinstance(value, str):
        raise invalid_value(path, "should be a text")
    return value


def joined_parts(parts: list[Json]) -> str | list[Json]:
    """The content of a message: one text where all parts are texts, otherwise the parts."""
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def json_text(value: Any) -> str:
    """A text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
