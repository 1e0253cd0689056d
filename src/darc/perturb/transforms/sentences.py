"""Sentences joined, split, reordered inside and punctuated another way."""

import re

from darc.language.words import LIGHT_WORDS
from darc.perturb.transforms.transform import (
    Draws,
    each_statement,
    matching,
    occurring,
    small,
    transform,
)

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


_ITEM = r"[a-z]{3,}(?:-[a-z]+)?"
_COUPLE = re.compile(
    r"(?P<lead>\b(?:is|are|was|were|be|both|of|with|for|between|like|including|such as|feel|stay) )"
    rf"(?P<first>{_ITEM}) (?P<link>and|or) (?P<second>{_ITEM})(?=[.,;!])"
)
_TRIPLE = re.compile(
    r"(?P<lead>\b(?:such as|including|like|with|of|for|are|need|needs|contain|contains|include"
    rf"|includes) |: )(?P<first>{_ITEM}(?: {_ITEM})?), (?P<second>{_ITEM}(?: {_ITEM})?)"
    rf"(?P<link>,? (?:and|or) )(?P<third>{_ITEM}(?: {_ITEM})?)(?=[.;!]|\n|\Z)"
)
_FIXED_WORDS = (
    "trial supply black white safe sound salt bread research profit pros cons back forth rise back"
    " fish day night law peace quiet more less better worse first last before after now then here"
    " there again over under wear tear sooner later up down food drink arts flesh time again rules"
    " odds ends cause effect question answer terms conditions mother father pick sweet sour"
)
_FIXED = frozenset(_FIXED_WORDS.split())
_SEQUENCE = re.compile(r"\b(?:respectively|first|then|order|former|latter|followed|from)\b", re.I)
_UNORDERED = re.compile(r"(?:ed|ing|ly|er|est)\Z")

_FREQUENT = r"(?:usually|typically|generally|normally|often|sometimes|occasionally|frequently)"
_INSIDE = re.compile(
    r"\A(?P<subject>(?:[A-Z][a-z']*|[A-Z][a-z']* [a-z]+|[A-Z][a-z']* [a-z]+ [a-z]+))"
    rf" (?P<adverb>{_FREQUENT}) (?P<rest>[^,;:]+)\.\Z"
)
_FIRST = re.compile(
    r"\A(?P<adverb>Usually|Typically|Generally|Normally|Often|Sometimes|Occasionally|Frequently),? "
    r"(?P<subject>it|they|you|we|he|she)"
    r" (?P<verb>(?:is|are|was|were|can|will|may|might|could|should) )?(?P<rest>[^,;:]+)\.\Z"
)
_ALSO = re.compile(
    r"\A(?P<start>(?:It|They|You|We|He|She|This|These|The [a-z]+)(?: (?:can|could|will|may|might"
    r"|should|is|are))?) also (?P<rest>[^,;:]+)\.\Z"
)
_INNER = re.compile(
    r"\b(?:that|which|who|because|if|when|but|so|although|while|than|as|how|what)\b"
)
_NO_SUBJECT = re.compile(r"\b(?:not|who|that|which|to|more|most|and|or|so|as|very|too|less|n't)\b")

_OWNED = (
    r"surface|colou?r|size|shape|temperature|orbit|gravity|atmosphere|population|capital|economy"
    r"|history|climate|length|weight|owner|mass|structure|behaviou?r|roots|leaves|walls|roof"
    r"|battery|performance|value|quality|age|name|meaning|immune system|heart|brain|strengths"
    r"|weaknesses|rules|members|nutrients|flavou?r|texture|rotation|core|crust|axis|text"
)
_OF = re.compile(
    rf"\b(?P<article>[Tt]he) (?P<thing>{_OWNED}) of the (?P<owner>[A-Za-z]{{3,}}[a-rt-z])"
    r"(?=[.,;]| (?:is|are|was|were|has|and|or|by|to|in|at|on|that|as|with|can|will|but)\b)"
)
_GENITIVE = re.compile(
    rf"\b(?P<article>[Tt]he) (?P<owner>[A-Za-z]{{3,}}[a-rt-z])['\u2019]s (?P<thing>{_OWNED})\b"
    r"(?! (?:system|life|rate|level|size))"
)

_listed, _owned = occurring(_COUPLE, _TRIPLE), occurring(_OF, _GENITIVE)
_adverbial = matching(_INSIDE, _FIRST, _ALSO)


@transform("order of items")
def items(text: str, draws: Draws) -> str:
    """Two or three plain items in another order where the order says nothing."""
    if not _listed(text) or ("respectively" in text and _SEQUENCE.search(text)):
        return text

    def swapped(match: re.Match[str]) -> str:
        first, second = match["first"], match["second"]
        if not _equals(first, second) or not draws.chance(0.6):
            return match.group()
        return f"{match['lead']}{second} {match['link']} {first}"

    def turned(match: re.Match[str]) -> str:
        order = [match["first"], match["second"], match["third"]]
        if not all(word not in LIGHT_WORDS for item in order for word in item.split()):
            return match.group()
        if not draws.chance(0.6):
            return match.group()
        first, second, third = draws.shuffled(order)
        return f"{match['lead']}{first}, {second}{match['link']}{third}"

    return _TRIPLE.sub(turned, _COUPLE.sub(swapped, text))


@transform("place of adverbs")
def adverbs(text: str, draws: Draws) -> str:
    """Adverbs moved: "It is often late" as "Often, it is late", and back; "also" as "as well"."""

    def moved(sentence: str) -> str:
        match = _INSIDE.match(sentence)
        if match and not _NO_SUBJECT.search(match["subject"].lower()) and draws.chance(0.6):
            lowered = small(match["subject"])
            if lowered is not None and not re.match(r"(?:not|used|enough)\b", match["rest"]):
                return f"{match['adverb'].capitalize()}, {lowered} {match['rest']}."
        match = _FIRST.match(sentence)
        if match and draws.chance(0.6):
            verb = match["verb"] or ""
            return (
                f"{match['subject'].capitalize()} {verb}{match['adverb'].lower()} {match['rest']}."
            )
        match = _ALSO.match(sentence)
        if match and not _INNER.search(match["rest"]) and draws.chance(0.7):
            if draws.chance(0.5) and len(match["rest"].split()) <= 10:
                return f"{match['start']} {match['rest']} as well."
            lowered = small(match["start"])
            if lowered is not None:
                return f"In addition, {lowered} {match['rest']}."
        return sentence

    return each_statement(text, moved, _adverbial)


@transform("owners")
def owners(text: str, draws: Draws) -> str:
    """Owners moved: "the surface of the Earth" as "the Earth's surface", and back."""
    if not _owned(text):
        return text

    def genitive(match: re.Match[str]) -> str:
        if not draws.chance(0.7):
            return match.group()
        return f"{match['article']} {match['owner']}'s {match['thing']}"

    def of(match: re.Match[str]) -> str:
        if not draws.chance(0.7):
            return match.group()
        return f"{match['article']} {match['thing']} of the {match['owner']}"

    changed = _OF.sub(genitive, text)
    return changed if changed != text else _GENITIVE.sub(of, text)


def _equals(first: str, second: str) -> bool:
    """Whether two words can trade places: no fixed couple, no function words, no actions."""
    words = {first, second}
    if words & _FIXED or words & LIGHT_WORDS:
        return False
    return not any(_UNORDERED.search(word) for word in words)


_STRAIGHT = re.compile(r"(?<=\w)'(?=\w)")
_CURLY = re.compile(r"(?<=\w)\u2019(?=\w)")
_EM = re.compile(r"(?<=[\w)*])[ ]?—[ ]?(?=[\w(*])")
_SPACED = re.compile(r"(?<=[\w)*]) (?:\u2013|--?) (?=[A-Za-z(*])")
_ONE = r"[\w'\u2019-]{1,30}"
_ONE_OR_TWO = rf"{_ONE}(?: {_ONE})?"
_SERIAL = re.compile(rf"(?<=, )({_ONE_OR_TWO}), (and|or) (?={_ONE_OR_TWO}[.;!?\n])")
_PLAIN_LIST = re.compile(rf"({_ONE}, {_ONE}, {_ONE}) (and|or) (?={_ONE}[.;!?\n])")

_serial, _plain_list = occurring(_SERIAL), occurring(_PLAIN_LIST)


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
    if _serial(text) and _SERIAL.search(text):
        return _SERIAL.sub(r"\1 \2 ", text)
    return _PLAIN_LIST.sub(r"\1, \2 ", text) if _plain_list(text) else text
