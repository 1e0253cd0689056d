"""Which answers are the same, by their text, their last number or their tool calls."""

import json
import re
from collections.abc import Sequence
from typing import Any

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_MINUS_SIGN = "\u2212"


def same_answers(
    texts: Sequence[str], ignored_arguments: Sequence[str] = ()
) -> dict[str, list[float]]:
    """Find for each answer the first one that is the same.

    Args:
        texts: The answers.
        ignored_arguments: The names of arguments that do not count where tool calls are compared.

    Returns:
        The side inputs same_text, same_number and same_call: for each answer the place of the
        first answer with the same text, last number or tool calls. An answer without a number or
        a tool call is the same as itself alone.
    """
    stripped_texts = [text.strip() for text in texts]
    numbers = [last_number(text) for text in texts]
    calls = [_canonical_calls(text, ignored_arguments) for text in texts]
    return {
        "same_text": _first_places(stripped_texts),
        "same_number": _first_places(numbers),
        "same_call": _first_places(calls),
    }


def _first_places(values: Sequence[Any]) -> list[float]:
    """The place of the first equal value; of a missing value (None) its own place."""
    places = []
    for place, value in enumerate(values):
        first_place = place if value is None else values.index(value)
        places.append(float(first_place))
    return places


def last_number(text: str) -> float | None:
    """The last number in a text."""
    numbers = _NUMBER.findall(text.replace(",", "").replace(_MINUS_SIGN, "-"))
    if not numbers:
        return None
    return float(numbers[-1])


def _canonical_calls(text: str, ignored_arguments: Sequence[str]) -> str | None:
    """The tool calls on the last line of a text as JSON with sorted keys, without their ids."""
    last_line = text.strip().rpartition("\n")[2]
    try:
        entries = json.loads(last_line)
        if not isinstance(entries, list):
            entries = [entries]
        calls = [_canonical_call(entry, ignored_arguments) for entry in entries]
        return json.dumps(calls, sort_keys=True)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _canonical_call(entry: Any, ignored_arguments: Sequence[str]) -> tuple[Any, Any]:
    """The name and the arguments of a tool call."""
    call = entry.get("function", entry)
    arguments = call["arguments"]
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    for name in ignored_arguments:
        arguments.pop(name, None)
    return call["name"], arguments
