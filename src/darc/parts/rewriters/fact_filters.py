"""Filters of facts: code, addresses, numbers, dates, names, quotations and critical words."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from darc.language.amounts import MONTHS, WEEKDAYS
from darc.language.reading import Reading
from darc.language.text import STRAIGHT_QUOTES
from darc.parts.rewriters.differences import (
    Filter,
    describe_difference,
    unshared_facts,
    unshared_words,
)

_ADDRESS = re.compile(r"(?:https?|ftp)://|www\.|[\w.+-]+@[\w-]+\.\w")
_QUOTATION = re.compile(r"(?<!\w)\"([^\"\n]*)\"|“([^”\n]*)”|«([^»\n]*)»")
_MONTH = "|".join(sorted((name.capitalize() for name in MONTHS), key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<later>{_MONTH})\b\.?"
    rf"|\b(?P<month>{_MONTH})\b\.?(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:\d]))?"
)
_WEEKDAY = re.compile(r"\b(?:" + "|".join(name.capitalize() for name in WEEKDAYS) + r")(?=s?\b)")
# The name of every month and weekday begins with one of these.
_DATE_SIGNS = tuple({name.capitalize()[:3] for name in (*MONTHS, *WEEKDAYS)})
# Without a day, these are mostly other words.
_AMBIGUOUS_MONTHS = frozenset({"May", "March", "Mar", "Jan", "Dec", "Sep"})
_NUMERAL = re.compile(r"\d(?:[\d.,:/]*\d)?")
_THOUSANDS_COMMA = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NOT_NAMES = frozenset({"i", "ai", "ok", "tv"}).union(MONTHS, WEEKDAYS)


def same_texts(what: str, find: Callable[[Reading], Iterable[str]]) -> Filter:
    """Make a filter of texts that a rewrite must have as often as the original.

    Args:
        what: What the texts are, for the reason.
        find: Finds the texts in a reading.

    Returns:
        The filter.
    """

    @lru_cache(maxsize=8)
    def count(reading: Reading) -> Counter[str]:
        return Counter(find(reading))

    def refuse(original: Reading, rewrite: Reading, family: str) -> str | None:
        return describe_difference(what, count(original), count(rewrite))

    return refuse


def same_facts(kind: str) -> Filter:
    """Make a filter of one kind of facts that a rewrite must have as often as the original."""

    def refuse(original: Reading, rewrite: Reading, family: str) -> str | None:
        before, after = unshared_facts(original, rewrite)
        if dict.__eq__(before, after):
            return None
        return describe_difference(kind, _of_kind(before, kind), _of_kind(after, kind))

    return refuse


_same_numbers = same_facts("number")


def _of_kind(counts: Counter[tuple[str, str]], kind: str) -> Counter[str]:
    return Counter({key: count for (fact_kind, key), count in counts.items() if fact_kind == kind})


def same_numerals(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Reject other numerals than the original's.

    The numerals are compared as they are written. Where they differ, numbers in words count too, so
    that "3" may become "three".
    """
    before = Counter(find_numerals(original))
    after = Counter(find_numerals(rewrite))
    if before == after or _same_numbers(original, rewrite, family) is None:
        return None
    return describe_difference("number", before, after)


def find_numerals(reading: Reading) -> list[str]:
    """Find numbers in digits, without the commas between thousands."""
    return [_THOUSANDS_COMMA.sub("", match.group()) for match in _NUMERAL.finditer(reading.prose)]


def same_names(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Reject other names than the original's.

    A word is a name if it is capitalised inside a sentence and nowhere in lower case. Its count is
    compared in any case, since a name may open a sentence.
    """
    names = (original.names | rewrite.names) - _NOT_NAMES
    if not names:
        return None
    before, after = unshared_words(original, rewrite)
    return describe_difference("name", _count_names(before, names), _count_names(after, names))


def _count_names(counts: Counter[str], names: frozenset[str]) -> Counter[str]:
    return Counter({name: counts[name] for name in names if name in counts})


def find_code(reading: Reading) -> list[str]:
    """Find code, mathematics and tags."""
    return [span.strip() for span in reading.opaque if not _ADDRESS.match(span)]


def find_addresses(reading: Reading) -> list[str]:
    """Find URLs and e-mail addresses."""
    return [span for span in reading.opaque if _ADDRESS.match(span)]


def find_dates(reading: Reading) -> list[str]:
    """Find weekdays, and days with months, so that "3 March" and "March 3rd" are equal."""
    text = reading.prose
    if not any(sign in text for sign in _DATE_SIGNS):
        return []
    dates: list[str] = []
    for match in _DATE.finditer(text):
        month = match["later"] or match["month"]
        day = match["before"] or match["after"] or ""
        if day or month not in _AMBIGUOUS_MONTHS:
            dates.append(f"{MONTHS[month.lower()]:02}-{int(day or 0):02}")
    weekdays = [WEEKDAYS[match.group().lower()] for match in _WEEKDAY.finditer(text)]
    return dates + weekdays


def find_quotations(reading: Reading) -> list[str]:
    """Find quotations of two words or more, without the quotation marks, which may change."""
    if not any(mark in reading.text for mark in '"“«'):
        return []
    quotations: list[str] = []
    for match in _QUOTATION.finditer(reading.text):
        inner = "".join(match.groups(default="")).translate(STRAIGHT_QUOTES)
        words = " ".join(inner.split()).strip(" .,;:!?")
        if " " in words:
            quotations.append(words)
    return quotations
