"""Sentences joined and parted where both halves stand on their own."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import transform

_SUBJECT = r"(?:It|They|This|These|You|We|He|She)"
_JOIN = re.compile(
    rf"(?<=[a-z)])\. (?P<subject>{_SUBJECT}) (?=(?:is|are|was|were|has|have|can|will|should"
    rf"|also|\w+s"
    r"|may|do|need|must|could|might|want)\b)"
)
_PART = re.compile(
    r"(?:, and (?P<subject>it|they|this|these|you|we|he|she)|; (?P<after>it|they|this"
    r"|these|you|we))"
    r" (?=(?:is|are|was|were|has|have|can|will|should|also|may|must|could|might)\b)"
)
_BUT = re.compile(r", but (?P<subject>it|they|this|these|you|we|he|she|there) ")
_JOIN_PLAIN = re.compile(r"(?<=[a-z])\. (?P<article>The|Its|Their|Our|A|An) (?=[a-z])")
_STATEMENT = re.compile(r"(?:The|It|Its|They|Their|Our|A|An|We|He|She|This|These|I)\b")
_BOUND = re.compile(
    r"\b(?:if|unless|when|while|because|since|although|though|that|which|who|whether|so|until|after"
    r"|before|once|as|not only|either|neither|by|let)\b",
    re.I,
)
_LINKED = re.compile(r",? (?:and|but|or|so)\b|[;:?!]")
_MOST_WORDS = 16

_joinable, _plainly_joinable = occurring(_JOIN), occurring(_JOIN_PLAIN)
_parting, _contrasting = occurring(_PART), occurring(_BUT)


@transform("join sentences")
def join(text: str, draws: Draws) -> str:
    """Two short sentences as one, with "and" or a semicolon, when the second opens on a pronoun."""
    if not _joinable(text):
        return text

    def joined(match: re.Match[str]) -> str:
        before = _clause_before(text, match.start())
        after = re.split(r"[.!?\n]", text[match.end() :], maxsplit=1)[0]
        longest = max(len(before.split()), len(after.split()))
        bound = (
            _BOUND.match(before.lstrip())
            or _LINKED.search(before)
            or "?" in text[match.end() + len(after) : match.end() + len(after) + 1]
        )
        if bound or longest > _MOST_WORDS or not draws.chance(0.6):
            return match.group()
        link = draws.pick((", and ", "; "))
        if _LINKED.search(after):
            link = "; "
        return f"{link}{match['subject'].lower()} "

    return _JOIN.sub(joined, text)


@transform("split sentences")
def split(text: str, draws: Draws) -> str:
    """A sentence parted before ", and it" or ", but it", when no subordinate clause binds it."""

    def parted(match: re.Match[str]) -> str:
        subject = match["subject"] or match["after"]
        if _BOUND.search(_clause_before(text, match.start())) or not draws.chance(0.7):
            return match.group()
        return f". {subject.capitalize()} "

    def contrasted(match: re.Match[str]) -> str:
        if _BOUND.search(_clause_before(text, match.start())) or not draws.chance(0.7):
            return match.group()
        return f". However, {match['subject']} "

    if draws.chance(0.5):
        return _BUT.sub(contrasted, text) if _contrasting(text) else text
    return _PART.sub(parted, text) if _parting(text) else text


@transform("join statements")
def join_plain(text: str, draws: Draws) -> str:
    """Two short plain statements as one, with "and", when the second opens on an article."""
    if not _plainly_joinable(text):
        return text
    done = -1

    def joined(match: re.Match[str]) -> str:
        nonlocal done
        before = _clause_before(text, match.start())
        after = re.split(r"[.!?\n]", text[match.end() :], maxsplit=1)[0]
        whole = f"{before} {after}"
        if match.start() < done or _LINKED.search(whole) or _BOUND.search(whole) or "," in whole:
            return match.group()
        if max(len(before.split()), len(after.split())) > _MOST_WORDS or len(before.split()) < 4:
            return match.group()
        if not _STATEMENT.match(before.lstrip()) or not draws.chance(0.4):
            return match.group()
        done = match.end() + len(after)
        return f", and {match['article'].lower()} "

    return _JOIN_PLAIN.sub(joined, text)


def _clause_before(text: str, end: int) -> str:
    start = max(text.rfind(mark, 0, end) for mark in (". ", "! ", "? ", "\n"))
    return text[start + 1 : end]
