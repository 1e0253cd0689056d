"""The words that link two clauses exchanged, and the clauses parted or joined by them."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.occurs import matching
from darc.perturb.transforms.statements import capital, each_statement, small
from darc.perturb.transforms.transform import transform

_SUBJECT = (
    r"(?:it|they|you|we|he|she|i|there|this|these|that|the|a|an|your|their|its|our|most|many|some"
    r"|people|several|my|his|her)"
)
_SO = re.compile(rf"\A(?P<first>[^;:]+), so (?P<second>{_SUBJECT} [^;:]+)\.\Z")
_WHY = re.compile(rf"\A(?P<first>[^;:]+), which is why (?P<second>{_SUBJECT} [^;:]+)\.\Z")
_BUT = re.compile(rf"\A(?P<first>[^,;:]+), but (?P<second>{_SUBJECT} [^;:]+)\.\Z")
_YET = re.compile(rf"\A(?P<first>[^;:]+), yet (?P<second>{_SUBJECT} [^;:]+)\.\Z")
_ALTHOUGH = re.compile(
    rf"\A(?P<first>[^,;:]+), (?:although|though) (?P<second>{_SUBJECT} [^,;:]+)\.\Z"
)
_RESULT = re.compile(
    r"\A(?P<first>[^;:]{20,}), which (?P<verb>means|makes|allows|helps|leads|causes|results|leaves"
    r"|explains|ensures|creates|gives) (?P<rest>[^,;:]+)\.\Z"
)
_SEMICOLON = re.compile(
    rf"\A(?P<first>[^,;:]+); (?P<second>(?:{_SUBJECT}|however|therefore) [^;:]+)\.\Z"
)
_AND = re.compile(rf"\A(?P<first>[^,;:]+), and (?P<second>{_SUBJECT} [^;:]+)\.\Z")
_POSSIBLE = re.compile(
    r"\A(?:\w+['\u2019]?\w* ){1,4}(?:can|could|will|would|may|might|should|do|don['\u2019]t)\b"
)
_BOUND = re.compile(
    r"\b(?:if|unless|when|while|because|since|although|though|whether|until|after|before|once"
    r"|as|not only|either|neither|by|let|that|so|what|how|when)\b",
    re.I,
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|do|does|did"
    r"|need|needs|get|make|take|stay|keep|become|feel|see|want|begin|go|come)\b|\b\w{3,}(?:s|ed)\b"
)
_MARKER_FIRST = re.compile(
    r"\A(?P<marker>However|For example|For instance|Instead|Therefore), (?P<rest>[^,;:]+)\.\Z"
)
_INNER = re.compile(r"\b(?:that|which|who|because|if|when|but|so|although|while|and)\b")
_BOTH_SHORT = 15

_resulting, _contrasting = matching(_SO, _WHY, _RESULT), matching(_ALTHOUGH, _YET, _BUT)
_parting, _marked = matching(_SEMICOLON, _AND), matching(_MARKER_FIRST)


@transform("links of result")
def results(text: str, draws: Draws) -> str:
    """The "so" between two clauses as "which is why" or "as a result", and back."""

    def changed(sentence: str) -> str:
        match = _SO.match(sentence) or _WHY.match(sentence)
        if match is None or not draws.chance(0.75):
            return _parted_result(sentence, draws)
        first, second = match["first"], match["second"]
        if re.search(r"\b(?:so|even|just|not|and)\Z", first) or _POSSIBLE.match(second):
            return sentence
        if re.match(r"(?:that|many|much|few)\b", second) or not _FINITE.search(second):
            return sentence
        if ", which is why " in sentence:
            return f"{first}, so {second}."
        links = [f"{first}, and so {second}."] if "," not in first else []
        if not _BOUND.search(first):
            links += [f"{first}. As a result, {second}.", f"{first}. Therefore, {second}."]
            if "," not in first:
                links += [f"{first}, which is why {second}.", f"{first}; as a result, {second}."]
        return draws.pick(links) if links else sentence

    return each_statement(text, changed, _resulting)


@transform("links of contrast")
def contrasts(text: str, draws: Draws) -> str:
    """The "but" between two clauses as "yet", "although" or "however", and back."""

    def changed(sentence: str) -> str:
        match = _ALTHOUGH.match(sentence) or _YET.match(sentence)
        if match and draws.chance(0.6):
            return f"{match['first']}, but {match['second']}."
        match = _BUT.match(sentence)
        if match is None or not draws.chance(0.8):
            return sentence
        first, second = match["first"], match["second"]
        if re.search(r"\b(?:not|n['\u2019]t) (?:only|just|merely)\b", first, re.I):
            return sentence
        if not _FINITE.search(second) or re.search(r"\bnothing\Z|\banything\Z", first):
            return sentence
        links = [f"{first}, yet {second}."]
        if not _BOUND.search(first):
            links += [f"{first}; however, {second}.", f"{first}. However, {second}."]
            lowered = small(first)
            if lowered is not None and _FINITE.search(first) and not _imperative(first):
                links += [f"Although {lowered}, {second}."] * 2
        return draws.pick(links)

    return each_statement(text, changed, _contrasting)


@transform("semicolons")
def semicolons(text: str, draws: Draws) -> str:
    """A sentence parted at its semicolon or at ", and", or with a semicolon for the ", and"."""

    def parted(sentence: str) -> str:
        match = _SEMICOLON.match(sentence)
        if match and draws.chance(0.7):
            return f"{match['first']}. {capital(match['second'])}."
        match = _AND.match(sentence)
        if match is None or _BOUND.search(match["first"]) or not draws.chance(0.6):
            return sentence
        first, second = match["first"], match["second"]
        shortest = min(len(first.split()), len(second.split()))
        if shortest < 4 or not _FINITE.search(" ".join(second.split()[1:5])):
            return sentence
        if "between" in first or "both" in first.lower() or re.match(r"that\b", second):
            return sentence
        return f"{first}; {second}." if draws.chance(0.5) else f"{first}. {capital(second)}."

    return each_statement(text, parted, _parting)


@transform("place of markers")
def marker_last(text: str, draws: Draws) -> str:
    """Opening markers last: "However, it is late" as "It is late, however"."""

    def moved(sentence: str) -> str:
        match = _MARKER_FIRST.match(sentence)
        if match is None or len(sentence.split()) > _BOTH_SHORT or _INNER.search(match["rest"]):
            return sentence
        if match["marker"] == "Therefore" or not draws.chance(0.5):
            return sentence
        comma = "" if match["marker"] == "Instead" else ","
        return f"{capital(match['rest'])}{comma} {match['marker'].lower()}."

    return each_statement(text, moved, _marked)


def _parted_result(sentence: str, draws: Draws) -> str:
    match = _RESULT.match(sentence)
    if match is None or not draws.chance(0.6) or _BOUND.match(match["first"]):
        return sentence
    verb, rest = match["verb"], match["rest"].removeprefix("that ")
    if verb == "means" and re.match(_SUBJECT + r"\b", rest) and draws.chance(0.5):
        return f"{match['first']}, so {rest}."
    return f"{match['first']}. This {verb} {match['rest']}."


def _imperative(clause: str) -> bool:
    return not re.match(_SUBJECT + r"\b", clause, re.I)
