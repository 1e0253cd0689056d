"""Text for terminals: bold and coloured where they show it, without foreign control characters."""

import os
import re
import sys
from typing import Any, TextIO

# Control characters (C0 but newline and tab, DEL, C1), line separators, marks that change the
# direction of text or are not shown, and halves of surrogate pairs.
_CONTROLS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff"
)
_UNSAFE = re.compile(f"[{_CONTROLS}]")
# The styles below are the only sequences that are let through.
_UNSAFE_BUT_STYLES = re.compile(f"(\x1b\\[(?:0|1|31)m)|[{_CONTROLS}]")
_UNSAFE_BUT_BARS = re.compile(f"(\r|\x1b\\[(?:A|0m|1m|31m))|[{_CONTROLS}]")


def remove_controls(text: str) -> str:
    """Return a text without characters that a terminal would act on, but newline and tab."""
    return _UNSAFE.sub("", text)


class SafeStream:
    """A text stream to a terminal that passes on no control characters but those of styles."""

    def __init__(self, stream: TextIO, bars: bool = False) -> None:
        """Wrap a stream.

        Args:
            stream: The stream.
            bars: Whether progress bars, which return to the beginning of a line, are drawn there.
        """
        self._stream = stream
        self._unsafe = _UNSAFE_BUT_BARS if bars else _UNSAFE_BUT_STYLES

    def write(self, text: str) -> int:
        """Write a text without what a terminal would act on."""
        self._stream.write(self._unsafe.sub(lambda match: match[1] or "", text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def protect_terminal() -> None:
    """Let nothing that models or files say control the terminals of this process."""
    if sys.stdout is not None and sys.stdout.isatty():
        sys.stdout = SafeStream(sys.stdout)
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr = SafeStream(sys.stderr, bars=True)


def bold(text: str) -> str:
    """The text in bold if standard output is a terminal that shows it."""
    if text and _shows_colour(sys.stdout):
        return f"\x1b[1m{remove_controls(text)}\x1b[0m"
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
