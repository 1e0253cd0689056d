"""Reading the data files of this package: word lists, tables and regular expressions."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def read_rows(name: str) -> list[list[str]]:
    """Read a TSV data file.

    Args:
        name: The name of a file in the folder `data`.

    Returns:
        One list of columns per row. Empty lines and lines that begin with # are left out.
    """
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def read_lists(name: str) -> dict[str, str]:
    """Read a TSV data file with named lists of words.

    Args:
        name: The name of a file whose rows are a list's name and words separated by spaces. A list
            may be continued in further rows.

    Returns:
        The words of each list, separated by spaces, by the list's name.
    """
    lists: dict[str, str] = {}
    for key, words in read_rows(name):
        if key in lists:
            lists[key] += f" {words}"
        else:
            lists[key] = words
    return lists


@cache
def read_toml(name: str | Path) -> dict[str, Any]:
    """Read a TOML file once.

    Args:
        name: The name of a data file, or the absolute path of a file elsewhere.

    Returns:
        The content of the file, which must not be changed.
    """
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


def read_pattern_texts(name: str, table: str) -> dict[str, str]:
    """Read regular expressions from a table of a TOML data file.

    Args:
        name: The name of the data file.
        table: The table; each of its values is a pattern or a list of parts of one. `%name%` in a
            pattern stands for the entry of that name in the file's table `fragments`.

    Returns:
        The pattern texts by name, in the order of the file.
    """
    content = read_toml(name)

    def expand(parts: str | list[str]) -> str:
        return re.sub(r"%(\w+)%", expand_fragment, "".join(parts))

    def expand_fragment(match: re.Match[str]) -> str:
        return expand(content["fragments"][match[1]])

    return {key: expand(parts) for key, parts in content[table].items()}


def read_patterns(name: str, table: str) -> dict[str, re.Pattern[str]]:
    """Read the patterns of `read_pattern_texts`, compiled."""
    return {key: re.compile(text) for key, text in read_pattern_texts(name, table).items()}


def any_of(*phrases: str) -> re.Pattern[str]:
    """Compile a pattern that finds any of the phrases as whole words.

    Args:
        *phrases: Regular expressions in lower case. The pattern is meant for text in lower case:
            ignoring the case would take twice as long.

    Returns:
        The pattern.
    """
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b")


def word_set(*lines: str) -> frozenset[str]:
    """Collect the distinct words of some lines."""
    return frozenset(word for line in lines for word in line.split())
