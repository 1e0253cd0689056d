"""Code, mathematics, URLs, emails and quotations must stay word for word."""

import re
from collections import Counter

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading

_ADDRESS = re.compile(r"(?:https?|ftp)://|www\.|[\w.+-]+@[\w-]+\.\w")
_QUOTATION = re.compile(r"(?<!\w)\"([^\"\n]*)\"|“([^”\n]*)”|«([^»\n]*)»")
_CURLY = str.maketrans({"\u2019": "'", "\u2018": "'"})


def addresses(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the URLs and emails differ, or None."""
    if not original.opaque and not rewrite.opaque:
        return None
    return difference("address", _addresses(original), _addresses(rewrite))


def code(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the code or mathematics differs, or None; white space around it does not matter."""
    if not original.opaque and not rewrite.opaque:
        return None
    return difference("code", _code(original), _code(rewrite))


def quotations(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the quotations of two words or more differ, or None; the quotation marks' form may."""
    return difference("quotation", _quotations(original.text), _quotations(rewrite.text))


def _addresses(reading: Reading) -> Counter[str]:
    return Counter(span for span in reading.opaque if _ADDRESS.match(span))


def _code(reading: Reading) -> Counter[str]:
    return Counter(span.strip() for span in reading.opaque if not _ADDRESS.match(span))


def _quotations(text: str) -> Counter[str]:
    if not any(mark in text for mark in '"“«'):
        return Counter()
    found = ("".join(match.groups(default="")) for match in _QUOTATION.finditer(text))
    inner = (" ".join(quote.translate(_CURLY).split()).strip(" .,;:!?") for quote in found)
    return Counter(quote for quote in inner if " " in quote)
