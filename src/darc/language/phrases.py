"""Lists of words and phrases, from the data files beside or from strings, as sets and patterns."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def read_rows(name: str) -> list[list[str]]:
    """The rows of a data file, each a list of its columns; a line that begins with # is none."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def read_lists(name: str) -> dict[str, str]:
    """The lists of a data file by name, words parted by spaces; a list may go on in more rows."""
    lists: dict[str, str] = {}
    for key, words in read_rows(name):
        lists[key] = f"{lists[key]} {words}" if key in lists else words
    return lists


@cache
def stored(name: str | Path) -> dict[str, Any]:
    """The content of a data file in TOML; also of one that stands elsewhere."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def pattern_texts(name: str, table: str) -> dict[str, str]:
    """The patterns of a table of a TOML file, %name% in them replaced by that of its fragments."""

    def text(parts: str | list[str]) -> str:
        return re.sub(r"%(\w+)%", lambda match: text(data["fragments"][match[1]]), "".join(parts))

    data = stored(name)
    return {key: text(parts) for key, parts in data[table].items()}


def patterns(name: str, table: str) -> dict[str, re.Pattern[str]]:
    """The same, compiled."""
    return {key: re.compile(text) for key, text in pattern_texts(name, table).items()}


def any_of(*phrases: str) -> re.Pattern[str]:
    """A pattern that finds any of the phrases, each a pattern itself, as whole words.

    For text in lower case: ignoring case would take twice as long.
    """
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b")


def word_set(*lines: str) -> frozenset[str]:
    """The distinct words of some lines."""
    return frozenset(word for line in lines for word in line.split())
