"""Settings as users write them: key=value."""

from collections.abc import Sequence
from typing import Any

from darc.errors import InputError


def parse_value(text: str) -> Any:
    """A parameter's value: a number, true or false, none, or the text itself."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def split_pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """The pairs of texts such as "key=value"."""
    result = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise InputError(f"{option} {text!r} is no KEY=VALUE", "write it without spaces")
        result[key] = value
    return result


def parse_pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """The pairs of texts such as "key=value", with the values parsed."""
    return {key: parse_value(value) for key, value in split_pairs(texts, option).items()}
