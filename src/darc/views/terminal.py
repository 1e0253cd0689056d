"""Bold and coloured text on terminals that show it."""

import os
import sys
from typing import TextIO


def bold(text: str) -> str:
    """The text in bold if standard output is a terminal that shows it."""
    if text and _shows_colour(sys.stdout):
        return f"\x1b[1m{text}\x1b[0m"
    return text


def red(text: str) -> str:
    """The text in red if standard error is a terminal that shows it."""
    if _shows_colour(sys.stderr):
        return f"\x1b[31m{text}\x1b[0m"
    return text


def _shows_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal with colours, by the conventions NO_COLOR and TERM=dumb."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
