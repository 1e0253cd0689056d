"""Numbers, dates, names, conditions and what is quoted must stay."""

import re
from collections import Counter

from darc.language.numbers import MONTHS, WEEKDAYS
from darc.perturb.filters.reading import Filter, Reading, Stretch, apart, difference, total


def numerals(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the numbers differ, or None; "3" and "three" are one, as are "%" and "percent"."""
    gone, come = apart(original, rewrite)
    return difference("number", _counts(gone), _counts(come))


def money(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the sums of money differ, or None; "$5" and "5 dollars" are one."""
    gone, come = apart(original, rewrite)
    return difference("sum of money", _sums(gone), _sums(come))


def _counts(stretches: list[Stretch]) -> Counter[str]:
    return Counter(
        f"{amount.value} {amount.unit}".strip() for each in stretches for amount in each.amounts
    )


def _sums(stretches: list[Stretch]) -> Counter[str]:
    return Counter(
        f"{amount.currency}{amount.value}"
        for each in stretches
        for amount in each.amounts
        if amount.currency
    )


_MONTH = "|".join(sorted((name.capitalize() for name in MONTHS), key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+(?P<later>{_MONTH})\b\.?"
    rf"|\b(?P<month>{_MONTH})\b\.?(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:\d]))?"
)
_WEEKDAY = re.compile(r"\b(?:" + "|".join(name.capitalize() for name in WEEKDAYS) + r")(?=s?\b)")
# One of these is in the name of every month or weekday.
_PARTS = tuple({name.capitalize()[:3] for name in (*MONTHS, *WEEKDAYS)})
# Without a day these are mostly other words.
_DOUBTFUL = frozenset({"May", "March", "Mar", "Jan", "Dec", "Sep"})


def dates(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the dates differ, or None; "3 March" and "March 3rd" are one."""
    return difference("date", _dates(original.bare), _dates(rewrite.bare))


def _dates(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    if not any(part in text for part in _PARTS):
        return found
    for match in _DATE.finditer(text):
        name = match["later"] or match["month"]
        day = match["before"] or match["after"] or ""
        if day or name not in _DOUBTFUL:
            found[f"{MONTHS[name.lower()]:02}-{int(day or 0):02}"] += 1
    found.update(WEEKDAYS[match.group().lower()] for match in _WEEKDAY.finditer(text))
    return found


_NO_NAMES = frozenset({"i", "ai", "ok", "tv"}) | set(MONTHS) | set(WEEKDAYS)


def names(original: Reading, rewrite: Reading, family: str) -> str | None:
    """Why the names differ, or None.

    A word is a name when it stands capitalised inside a sentence and nowhere in lower case, in
    either text; its count is compared whatever its case, since a name may open a sentence.
    """
    known = (original.names | rewrite.names) - _NO_NAMES
    gone, come = apart(original, rewrite)
    return difference("name", _count(gone, known), _count(come, known))


def _count(stretches: list[Stretch], known: frozenset[str]) -> Counter[str]:
    words = (word for stretch in stretches for word in stretch.words if word in known)
    return Counter(words) if known else Counter()


def _unchanged(kind: str) -> Filter:
    """A filter of the words of one kind, which must all be there as often as before."""

    def changed(original: Reading, rewrite: Reading, family: str) -> str | None:
        before, after = (
            total(stretch.critical[kind] for stretch in side if kind in stretch.critical)
            for side in apart(original, rewrite)
        )
        return difference(kind, before, after)

    return changed


# "don't" and "do not" are one, "never" is another.
negations = _unchanged("negation")
# if, unless, only, until and the like
conditions = _unchanged("condition")
# how much, how often and how surely
quantities = _unchanged("quantity")
# comparisons and directions of change
comparisons = _unchanged("comparison")


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
