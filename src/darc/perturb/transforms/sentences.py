"""Sentences joined, split, reordered inside and punctuated another way."""

import re

from darc.language.phrases import patterns
from darc.language.words import LIGHT_WORDS, WORD_LISTS
from darc.perturb.transforms.transform import (
    Draws,
    Found,
    Substitution,
    occurring,
    rephrasing,
    replacing,
    small,
    transform,
)

PATTERNS = patterns("transforms.toml", "sentences")
_MOST_WORDS = 16


def _before(match: Found) -> str:
    """What stands before a match in its sentence."""
    text, end = match.string, match.start()
    return text[max(text.rfind(mark, 0, end) for mark in (". ", "! ", "? ", "\n")) + 1 : end]


def _after(match: Found) -> str:
    """What stands after a match in its sentence."""
    return re.split(r"[.!?\n]", match.string[match.end() :], maxsplit=1)[0]


def _joined(match: Found, draws: Draws) -> str | None:
    before, after = _before(match), _after(match)
    longest = max(len(before.split()), len(after.split()))
    end = match.end() + len(after)
    asked = "?" in match.string[end : end + 1]
    bound = PATTERNS["bound"].match(before.lstrip()) or PATTERNS["linked"].search(before) or asked
    if bound or longest > _MOST_WORDS or not draws.chance(0.6):
        return None
    link = draws.pick((", and ", "; "))
    if PATTERNS["linked"].search(after):
        link = "; "
    return f"{link}{match['subject'].lower()} "


# With "and" or a semicolon, when the second opens on a pronoun.
join = replacing("join sentences", Substitution(PATTERNS["join"], _joined))


def _parted(match: Found, draws: Draws) -> str | None:
    subject = match["subject"] or match["after"]
    return None if PATTERNS["bound"].search(_before(match)) else f". {subject.capitalize()} "


def _contrasted(match: Found, draws: Draws) -> str | None:
    bound = PATTERNS["bound"].search(_before(match))
    return None if bound else f". However, {match['subject']} "


_at_and = replacing("split at and", Substitution(PATTERNS["part"], _parted, 0.7))
_at_but = replacing("split at but", Substitution(PATTERNS["but"], _contrasted, 0.7))


@transform("split sentences")
def split(text: str, draws: Draws) -> str:
    """A sentence parted before ", and it" or ", but it", when no subordinate clause binds it."""
    return (_at_but if draws.chance(0.5) else _at_and).change(text, draws)


_plainly_joinable = occurring(PATTERNS["join_plain"])


@transform("join statements")
def join_plain(text: str, draws: Draws) -> str:
    """Two short plain statements as one, with "and", when the second opens on an article."""
    if not _plainly_joinable(text):
        return text
    done = -1

    def joined(match: Found) -> str:
        nonlocal done
        before, after = _before(match), _after(match)
        whole, sizes = f"{before} {after}", (len(before.split()), len(after.split()))
        bound = PATTERNS["linked"].search(whole) or PATTERNS["bound"].search(whole) or "," in whole
        if match.start() < done or bound or max(sizes) > _MOST_WORDS or sizes[0] < 4:
            return match.group()
        if not PATTERNS["statement"].match(before.lstrip()) or not draws.chance(0.4):
            return match.group()
        done = match.end() + len(after)
        return f", and {match['article'].lower()} "

    return PATTERNS["join_plain"].sub(joined, text)


def _swapped(match: Found, draws: Draws) -> str | None:
    words = {match["first"], match["second"]}
    # No fixed couple, no function words, no actions.
    if words & WORD_LISTS["fixed couple"] or words & LIGHT_WORDS:
        return None
    if any(PATTERNS["unordered"].search(word) for word in words):
        return None
    return f"{match['lead']}{match['second']} {match['link']} {match['first']}"


def _turned(match: Found, draws: Draws) -> str | None:
    order = [match["first"], match["second"], match["third"]]
    light = not LIGHT_WORDS.isdisjoint(word for item in order for word in item.split())
    if light or not draws.chance(0.6):
        return None
    first, second, third = draws.shuffled(order)
    return f"{match['lead']}{first}, {second}{match['link']}{third}"


_reordered = replacing(
    "items",
    Substitution(PATTERNS["couple"], _swapped, 0.6),
    Substitution(PATTERNS["triple"], _turned),
)


@transform("order of items")
def items(text: str, draws: Draws) -> str:
    """Two or three plain items in another order where the order says nothing."""
    if "respectively" in text and PATTERNS["sequence"].search(text):
        return text
    return _reordered.change(text, draws)


@rephrasing("place of adverbs", PATTERNS["inside"], PATTERNS["first"], PATTERNS["also"])
def adverbs(match: Found, draws: Draws) -> str | None:
    """Adverbs moved: "It is often late" as "Often, it is late", and back; "also" as "as well"."""
    inside, first, also = (
        PATTERNS[name].match(match.string) for name in ("inside", "first", "also")
    )
    if inside and not PATTERNS["no_subject"].search(inside["subject"].lower()):
        lowered = small(inside["subject"]) if draws.chance(0.6) else None
        if lowered is not None and not re.match(r"(?:not|used|enough)\b", inside["rest"]):
            return f"{inside['adverb'].capitalize()}, {lowered} {inside['rest']}."
    if first and draws.chance(0.6):
        subject, adverb = first["subject"].capitalize(), first["adverb"].lower()
        return f"{subject} {first['verb'] or ''}{adverb} {first['rest']}."
    if also and not PATTERNS["inner"].search(also["rest"]) and draws.chance(0.7):
        if draws.chance(0.5) and len(also["rest"].split()) <= 10:
            return f"{also['start']} {also['rest']} as well."
        lowered = small(also["start"])
        return None if lowered is None else f"In addition, {lowered} {also['rest']}."
    return None


# "the surface of the Earth" as "the Earth's surface", and back
owners = replacing(
    "owners",
    Substitution(PATTERNS["of"], r"\g<article> \g<owner>'s \g<thing>", 0.7),
    Substitution(
        PATTERNS["genitive"], r"\g<article> \g<thing> of the \g<owner>", 0.7, otherwise=True
    ),
)

_STRAIGHT = re.compile(r"(?<=\w)'(?=\w)")
_CURLY = re.compile(r"(?<=\w)\u2019(?=\w)")
_EM = re.compile(r"(?<=[\w)*])[ ]?—[ ]?(?=[\w(*])")
_SPACED = re.compile(r"(?<=[\w)*]) (?:\u2013|--?) (?=[A-Za-z(*])")

_serial, _plain_list = occurring(PATTERNS["serial"]), occurring(PATTERNS["plain_list"])


@transform("apostrophes")
def apostrophes(text: str, draws: Draws) -> str:
    """Straight apostrophes curled, or curly ones straightened."""
    if "\u2019" in text and _CURLY.search(text):
        return _CURLY.sub("'", text)
    return _STRAIGHT.sub("\u2019", text) if "'" in text else text


@transform("dashes")
def dashes(text: str, draws: Draws) -> str:
    """An em dash as a spaced en dash, or a spaced dash as an em dash."""
    if "—" in text:
        return _EM.sub(" \u2013 ", text)
    return _SPACED.sub("—", text) if " -" in text or " \u2013" in text else text


@transform("serial comma")
def serial_comma(text: str, draws: Draws) -> str:
    """The comma before the last of several short items dropped; put in after three plain words."""
    if _serial(text) and PATTERNS["serial"].search(text):
        return PATTERNS["serial"].sub(r"\1 \2 ", text)
    return PATTERNS["plain_list"].sub(r"\1, \2 ", text) if _plain_list(text) else text
