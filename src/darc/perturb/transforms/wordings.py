"""Words exchanged for others that mean the same, by the table of `lexicon.synonyms`."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from darc.perturb.drawing import Draws
from darc.perturb.lexicon.inflections import forms
from darc.perturb.lexicon.synonyms import BOTH, NOT_AFTER, NOT_BEFORE, ONE_WAY, VERBS
from darc.perturb.transforms.transform import like, transform

_WORD = re.compile(r"[A-Za-z]+(?:['\u2019][a-z]+)?")
_NEXT = re.compile(r"\s?([\w'\u2019]+|[^\s\w])")
_LAST = re.compile(r"([\w'\u2019]+|[^\s\w])\s?\Z")
_ARTICLE = re.compile(r"\b([Aa])(n?) \Z")


class Wording(NamedTuple):
    """A wording and what may stand for it."""

    phrase: str
    replacement: str


def pairs() -> Iterator[Wording]:
    """Every exchange of the table in its allowed direction, verbs in all their forms."""
    for first, second in BOTH:
        yield Wording(first, second)
        yield Wording(second, first)
    for first, second in ONE_WAY:
        yield Wording(first, second)
    for first, second in VERBS:
        for old, new in dict(zip(forms(first), forms(second), strict=True)).items():
            yield Wording(old, new)


def _index() -> dict[str, list[Wording]]:
    index: dict[str, list[Wording]] = {}
    for wording in pairs():
        index.setdefault(wording.phrase.split(" ", 1)[0], []).append(wording)
    for wordings in index.values():
        wordings.sort(key=lambda wording: -len(wording.phrase))
    return index


_BY_FIRST_WORD = _index()


def exchange(text: str, draws: Draws, share: float, shorter_only: bool = False) -> str:
    """The text with about this share of the known wordings exchanged."""
    pieces: list[str] = []
    done = 0
    for match in _WORD.finditer(text):
        start = match.start()
        if start < done or match.group().lower() not in _BY_FIRST_WORD:
            continue
        wording = _found(text, start, match.group().lower())
        if wording is None or not draws.chance(share):
            continue
        if shorter_only and len(wording.replacement) > len(wording.phrase):
            continue
        pieces.append(_with_article(text[done:start], wording))
        pieces.append(like(match.group(), wording.replacement))
        done = start + len(wording.phrase)
    pieces.append(text[done:])
    return "".join(pieces)


@transform("synonyms")
def synonyms(text: str, draws: Draws) -> str:
    """Some known wordings exchanged."""
    return exchange(text, draws, draws.pick((0.4, 0.6, 0.9)))


@transform("plain words")
def plain(text: str, draws: Draws) -> str:
    """Known wordings exchanged for shorter ones."""
    return exchange(text, draws, draws.pick((0.6, 0.9)), shorter_only=True)


def _found(text: str, start: int, first: str) -> Wording | None:
    for wording in _BY_FIRST_WORD[first]:
        end = start + len(wording.phrase)
        if text[start:end].lower() != wording.phrase or text[end : end + 1].isalnum():
            continue
        if text[end : end + 1] == "-" or text[start - 1 : start] == "-":
            return None
        # Capitals inside a sentence are names or titles, and a title is not reworded.
        if text[start].isupper() and (text[start:end].isupper() or not _opens(text, start)):
            return None
        after = _NEXT.match(text, end)
        before = _LAST.search(text[max(0, start - 20) : start])
        if after and after[1].lower() in NOT_BEFORE.get(wording.phrase, ()):
            return None
        if before and before[1].lower() in NOT_AFTER.get(wording.phrase, ()):
            return None
        return wording
    return None


def _opens(text: str, start: int) -> bool:
    before = text[max(0, start - 12) : start].rstrip(" \t*_")
    return not before or before[-1] in ".!?:\n-•)"


def _with_article(before: str, wording: Wording) -> str:
    """The text before a wording, its "a" or "an" agreeing with the new first letter."""
    article = _ARTICLE.search(before)
    if not article:
        return before
    vowel = wording.replacement[0] in "aeiou" and not wording.replacement.startswith(("us", "one"))
    return before[: article.start()] + article[1] + ("n " if vowel else " ")
