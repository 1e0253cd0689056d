"""Hiding the spans of a text that no rewrite may touch, and putting them back."""

import re
from dataclasses import dataclass
from functools import cache

from darc.language.data_files import read_pattern_texts, read_toml

# Each hidden span becomes one private-use character, from this code point on.
_FIRST_HIDDEN = 0xF0000
_MAX_SPANS = 0xFFFD
_DIGIT = re.compile(r"\d")
#: A list marker is layout and not a number: it is matched first so that the number patterns miss
#: it.
LIST_MARKER = r"(?P<marker>(?m:^[ \t]*\d{1,3}[.)](?=[ \t])))"
#: The patterns of protected spans by kind, in the order in which they are tried.
SPAN_PATTERNS = read_pattern_texts("spans.toml", "spans")
# Characters without which a text cannot have spans of certain kinds.
_SIGNS = read_toml("spans.toml")["signs"]


@dataclass(frozen=True)
class MaskedText:
    """A text whose protected spans are replaced by one private character each."""

    text: str
    #: The protected spans, in order.
    hidden: tuple[str, ...]

    def restore(self, text: str) -> str:
        """Put the hidden spans back into a changed version of the masked text."""
        if not self.hidden:
            return text
        spans = {_FIRST_HIDDEN + number: span for number, span in enumerate(self.hidden)}
        return text.translate(spans)


def mask(text: str) -> MaskedText:
    """Hide the protected spans of a text.

    Args:
        text: Any text.

    Returns:
        The masked text. If there are more than 65,533 spans, the whole text is one hidden span.
    """
    hidden: list[str] = []

    def hide(match: re.Match[str]) -> str:
        span = match.group()
        if match["marker"] is not None or not span:
            return span
        hidden.append(span)
        return chr(_FIRST_HIDDEN + min(len(hidden) - 1, _MAX_SPANS))

    pattern = _span_pattern(*_possible_kinds(text))
    if pattern is None:
        return MaskedText(text, ())
    masked = pattern.sub(hide, text)
    if len(hidden) > _MAX_SPANS:
        return MaskedText(chr(_FIRST_HIDDEN), (text,))
    return MaskedText(masked, tuple(hidden))


def _possible_kinds(text: str) -> list[str]:
    """The kinds of spans that the text may have, by the characters in it."""
    kinds: list[str] = []
    if _DIGIT.search(text):
        kinds += ["date", "number"]
    for entry in _SIGNS:
        if any(sign in text for sign in entry["signs"]):
            kinds += entry["kinds"]
    if not text.isascii() and max(text) >= chr(_FIRST_HIDDEN):
        kinds.append("private")
    return kinds


@cache
def _span_pattern(*kinds: str) -> re.Pattern[str] | None:
    """The pattern that finds spans of the kinds, or None if there are no kinds."""
    patterns = [f"(?:{pattern})" for kind, pattern in SPAN_PATTERNS.items() if kind in kinds]
    if not patterns:
        return None
    return re.compile("|".join([LIST_MARKER, *patterns]))
