"""Clauses and phrases moved within their sentence or linked another way."""

import re

from darc.perturb.transforms.transform import (
    Draws,
    capital,
    each_statement,
    matching,
    small,
    transform,
)

_PERSONS = re.compile(
    r"\b(?:it|its|it's|they|their|them|he|she|his|her|him|this|these|those|that|one|itself)\b", re.I
)
_EXPLETIVE = re.compile(r"\A(?:it is|it's|it can be|it may be|there is|there are|there's)\b", re.I)
_BINDING = re.compile(
    r"\b(?:that|which|who|whose|where|because|if|when|while|until|unless|before|after|since"
    r"|although|though|whether|so|but|as|than|then|what|how|why|however|once|and|or|for example"
    r"|instead|otherwise|only|even|also|by)\b|[,;:]",
    re.I,
)
_NEGATION = re.compile(r"\b(?:not|no|never|none|cannot|without|\w+n['\u2019]t)\b", re.I)
_MOST_WORDS = 22

_CLAUSE = re.compile(
    r"\A(?P<link>If|When|Whenever|Because|Although|Though|Even though|Unless|While|Once|Until"
    r"|After|Before|Since|As|To|In order to|By)"
    r" (?P<rest>[^,;:]+), (?P<main>[^,;:]+)\.\Z"
)
_NO_CLAUSE = re.compile(
    r"\A(?:that|this|then|all|so|not|again|upon|a|an|well|for|usual|always|expected|mentioned"
    r"|noted|such|follows|before|be|begin|start|conclude|summarize|sum|top|far|contrast|itself"
    r"|default|definition|law|date|now)\b",
    re.I,
)
_AS = re.compile(r"\A(?:(?:the|your|our|a) [a-z]+ [a-z]+s\b|(?:you|we|i)\b)", re.I)
_SINCE = re.compile(r"\A(?:the|your|our|you|we|i|there|a|an|many|most|some)\b", re.I)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|should|may|might|must|do|does|did"
    r"|need|needs|\w{3,}(?:s|ed))\b"
)

_TAIL = re.compile(
    r"\A(?P<main>[^,;:]+?) (?P<link>if|when|whenever|because|unless|until|while|before|after) "
    r"(?P<rest>(?:you|we|i|there|the|your|our|a|an|[a-z]{2,}ing)\b[^,;:]*)\.\Z"
)
_TAIL_BOUND = re.compile(
    r"\b(?:know|knows|see|sees|ask|asks|wonder|tell|tells|check|decide|determine|remember|forget"
    r"|say|says|think|care|mind|matter|matters|sure|depend|depends|find|learn|understand|explain"
    r"|feel|feels|happens|happen|occurs|occur|is|was|look|looks|looking|like)\Z"
    r"|\b(?:day|week|month|year|hours?|minutes?|night|morning|time|moment|shortly|right|just"
    r"|immediately|soon|long|ever|even|only|especially|particularly|mainly|mostly|partly|simply"
    r"|days|weeks|months|years|seconds|times|steps?|least|point|not|or|and|as)\Z",
    re.I,
)
_CLAUSAL_TIME = re.compile(r"\A(?:you|we|i|[a-z]{2,}ing)\b")

_PHRASE = re.compile(
    r"\A(?P<phrase>(?:In|On|At|During|Within|Throughout|Over|Among|Across|Under|Despite|Inside"
    r"|Outside|Near)(?: [\w'\u2019\U000f0000-\U000ffffd-]+){1,5})"
    r"(?:, (?P<main>[^,;:]+)| (?P<bare>(?:it|they|you|we|he|she|there) [^,;:]+))\.\Z"
)
_DISCOURSE = re.compile(
    r"\A(?:In (?:addition|fact|general|short|brief|other words|conclusion|summary|contrast|essence"
    r"|particular|the end|this|that|the meantime|theory|any|the same|turn|reality|response|return"
    r"|order|doing|case|terms|spite)|On (?:the other|the one|the whole|top|the contrary)"
    r"|At (?:first|last|the same|its|their|this|that|least|most|times|the end)"
    r"|Over (?:the top)|Under (?:no)|Despite (?:this|that|the fact)|\w+ (?:which|whom|what))\b"
)
_VERBAL = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|will|should|do|does|that|which|who|its|their|his|her"
    r"|it|they|and|or|to|\w+ing)\b"
)
_TIME = re.compile(
    r"\A(?P<main>[^,;:]+?) (?P<phrase>(?:in (?:the )?(?:winter|summer|spring|autumn|morning|evening"
    r"|afternoon|most cases|some cases|many cases|recent years|practice|modern times|everyday life"
    r"|daily life|the long run|the long term|the past)|at night|during the (?:day|night|winter"
    r"|summer|week)|over time|on average|these days|nowadays|every (?:day|night|year|week|month"
    r"|morning|evening)|today))\.\Z"
)
_UNFRONTED = re.compile(r"\b(?:please|think|believe|say|says|said|hope|know|let|want)\b", re.I)

_fronted, _tailed = matching(_CLAUSE), matching(_TAIL)
_phrased, _timed = matching(_PHRASE), matching(_TIME)


@transform("clause to end")
def to_end(text: str, draws: Draws) -> str:
    """Fronted clauses last: "When it rains, we read" as "We read when it rains"."""

    def moved(sentence: str) -> str:
        match = _CLAUSE.match(sentence)
        if match is None or not _movable(match["link"], match["rest"], match["main"]):
            return sentence
        link = match["link"]
        if link == "Because" and draws.chance(0.4) and _FINITE.search(match["rest"]):
            return f"{capital(match['rest'])}, so {match['main']}."
        if not draws.chance(0.75):
            return sentence
        if link in ("Although", "Though", "Even though") and draws.chance(0.5):
            return f"{capital(match['rest'])}, but {match['main']}."
        comma = "," if link in ("Although", "Though", "Even though", "While") else ""
        return f"{capital(match['main'])}{comma} {link[0].lower()}{link[1:]} {match['rest']}."

    return each_statement(text, moved, _fronted)


@transform("clause to front")
def to_front(text: str, draws: Draws) -> str:
    """Last clauses fronted: "We read when it rains" as "When it rains, we read"."""

    def moved(sentence: str) -> str:
        match = _TAIL.match(sentence)
        if match is None or len(sentence.split()) > _MOST_WORDS:
            return sentence
        main, link, rest = match["main"], match["link"], match["rest"]
        bound = _BINDING.search(main) or _BINDING.search(rest) or _TAIL_BOUND.search(main)
        if bound or _PERSONS.search(rest) or (link == "because" and _NEGATION.search(main)):
            return sentence
        if link in ("before", "after", "while", "until") and not _CLAUSAL_TIME.match(rest):
            return sentence
        if link not in ("before", "after", "while", "until") and not _FINITE.search(rest):
            return sentence
        if re.match(r"[a-z]+ing\b", rest) and not re.match(r"(?:you|we|I)\b", main):
            return sentence
        lowered = small(main)
        if lowered is None or len(main.split()) < 3 or not draws.chance(0.75):
            return sentence
        return f"{capital(link)} {rest}, {lowered}."

    return each_statement(text, moved, _tailed)


@transform("phrase to end")
def phrase_to_end(text: str, draws: Draws) -> str:
    """Fronted phrases last: "In winter, lakes freeze" as "Lakes freeze in winter"."""

    def moved(sentence: str) -> str:
        match = _PHRASE.match(sentence)
        if match is None or len(sentence.split()) > _MOST_WORDS - 4:
            return sentence
        phrase, main = match["phrase"], match["main"] or match["bare"]
        if _DISCOURSE.match(phrase) or _VERBAL.search(phrase) or _BINDING.search(main):
            return sentence
        if _NEGATION.search(sentence) or re.search(r"\b(?:to|of|in|on|at)\b", main.split()[-2]):
            return sentence
        if len(main.split()) < 3 or not draws.chance(0.75):
            return sentence
        return f"{capital(main)} {phrase[0].lower()}{phrase[1:]}."

    return each_statement(text, moved, _phrased)


@transform("time to front")
def time_to_front(text: str, draws: Draws) -> str:
    """Last phrases of time fronted: "Lakes freeze in winter" as "In winter, lakes freeze"."""

    def moved(sentence: str) -> str:
        match = _TIME.match(sentence)
        if match is None or _BINDING.search(match["main"]) or len(sentence.split()) > _MOST_WORDS:
            return sentence
        main = match["main"]
        lowered = small(main)
        unsafe = _NEGATION.search(main) or _UNFRONTED.search(main) or not main[-1].isalpha()
        if lowered is None or unsafe or len(main.split()) < 3 or not draws.chance(0.75):
            return sentence
        return f"{capital(match['phrase'])}, {lowered}."

    return each_statement(text, moved, _timed)


def _movable(link: str, rest: str, main: str) -> bool:
    """Whether a fronted clause can follow its main clause with nothing bound anew."""
    if _BINDING.search(main) or _NO_CLAUSE.match(rest) or len(main.split()) < 2:
        return False
    if len(rest.split()) + len(main.split()) > _MOST_WORDS + 4 or re.search(r"\bto\Z", main):
        return False
    if link in ("Because", "Since", "As") and _NEGATION.search(main):
        return False
    if (link == "As" and not _AS.match(rest)) or (link == "Since" and not _SINCE.match(rest)):
        return False
    if link in ("To", "In order to", "By") and re.match(r"(?:it|there|this|that)\b", main):
        return False
    if _PERSONS.search(rest):
        return False
    return not _PERSONS.search(main) or bool(
        _EXPLETIVE.match(main) and not _PERSONS.search(_EXPLETIVE.sub("", main))
    )


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
_LINK_FINITE = re.compile(
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
        if re.match(r"(?:that|many|much|few)\b", second) or not _LINK_FINITE.search(second):
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
        if not _LINK_FINITE.search(second) or re.search(r"\bnothing\Z|\banything\Z", first):
            return sentence
        links = [f"{first}, yet {second}."]
        if not _BOUND.search(first):
            links += [f"{first}; however, {second}.", f"{first}. However, {second}."]
            lowered = small(first)
            if lowered is not None and _LINK_FINITE.search(first) and not _imperative(first):
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
        if shortest < 4 or not _LINK_FINITE.search(" ".join(second.split()[1:5])):
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
