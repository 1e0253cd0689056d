"""Lists of words and phrases as sets and patterns."""

import re
import tomllib
from importlib.resources import files
from typing import Any


def one_of(words: str) -> str:
    """A pattern of one of the words of a string, in which an underscore stands for a space."""
    return f"(?:{'|'.join(word.replace('_', ' ') for word in words.split())})"


def any_of(*phrases: str) -> re.Pattern[str]:
    """A pattern that finds any of the phrases, each a pattern itself, as whole words.

    For text in lower case: ignoring case would take twice as long.
    """
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b")


def stored(name: str) -> dict[str, Any]:
    """The lists of a TOML file of this folder."""
    return tomllib.loads(files("darc.scorers").joinpath(name).read_text(encoding="utf-8"))


def word_set(*lines: str) -> frozenset[str]:
    """The distinct words of some lines."""
    return frozenset(word for line in lines for word in line.split())
