"""Dates and weekdays must stay."""

import re
from collections import Counter

from darc.perturb.filters.changes import difference
from darc.perturb.filters.reading import Reading
from darc.perturb.lexicon.numbers import MONTHS, WEEKDAYS

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
