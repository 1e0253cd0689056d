"""Texts that a spreadsheet would run."""

import re

# What a spreadsheet takes for the start of a formula.
_FORMULA_START = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run a text as a formula; numbers are not formulas."""
    return _FORMULA_START.match(text) is not None and _NUMBER.fullmatch(text) is None
