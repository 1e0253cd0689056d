"""Specs as users write them: a name, an argument and options."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from darc.errors import InputError

_LAST_OPTION = re.compile(r",\s*([a-z][a-z0-9_]*)\s*=\s*([^,]*)\Z")
_WORDS = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class Spec:
    """A name, what follows its colon, and options, as they were written."""

    name: str
    argument: str
    options: dict[str, str]


def parse_spec(text: str) -> Spec:
    """Read "NAME[:ARGUMENT][,KEY=VALUE...]"; the argument may have commas and colons.

    Args:
        text: What a user wrote, such as "judge:MODEL@URL,passes=2".

    Returns:
        The name, the argument (empty without one) and the options as texts.
    """
    options: dict[str, str] = {}
    rest = text.strip()
    option = _LAST_OPTION.search(rest)
    while option is not None:
        options[option[1]] = option[2].strip()
        rest = rest[: option.start()]
        option = _LAST_OPTION.search(rest)
    name, _, argument = rest.partition(":")
    # They were found from the last to the first.
    return Spec(name.strip(), argument.strip(), dict(reversed(options.items())))


def parse_value(text: str) -> Any:
    """The value of a parameter: a number, true or false, none, or the text itself."""
    word = text.lower()
    if word in _WORDS:
        return _WORDS[word]
    try:
        return float(text)
    except ValueError:
        return text


def split_pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Split texts such as "key=value".

    Args:
        texts: The texts.
        option: The option that takes them, for messages.

    Raises:
        InputError: If a text has another form.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        value = value.strip()
        if not equals or not key or not value:
            raise InputError(f"{option} {text!r} is not KEY=VALUE", "write it without spaces")
        if key in pairs:
            raise InputError(f"{option} {key} is given twice", "give it once")
        pairs[key] = value
    return pairs


def parse_pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """Split texts such as "key=value", and parse the values."""
    return {key: parse_value(value) for key, value in split_pairs(texts, option).items()}
