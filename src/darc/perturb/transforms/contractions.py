"""Contractions made and undone where the grammar is certain."""

import re
from collections.abc import Callable

from darc.perturb.drawing import Draws
from darc.perturb.lexicon.contractions import NEGATED, PRONOUNS
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import like, transform

_SUBJECTS = r"(?:i|you|we|they|he|she|it|this|that|these|those|there|the|people|everyone|all)"
_WHO = r"(?<!why )(?<!how )(?<!what )(?<!when )(?<!who )(?<!where )"
_PREDICATES = (
    r"(?:an?|the|not|also|very|often|usually|always|important|essential|crucial|possible|best|safe"
    r"|common|generally|still|easy|hard|worth|likely|important|simple|clear|good|okay|just|one|your"
    r"|known|used|made|called|based|more|much|so|too|really|quite|only|never|far|great|bad|time|part"
    r"|better|less|handy|enough|normal|free|cheap|also|about|because|what|how|why|wrong|true|needed"
    r"|found|open|full|long|small|large|big|nothing|no|all|similar|different|helpful|useful|rarely"
    r"|perfectly|sometimes|typically|wise|fine|understandable|natural)"
)
_FULL = {full: short for short, full in {**NEGATED, **PRONOUNS}.items() if full != "i have"}
_FULL["can not"] = "can't"
_CONTRACT = re.compile(
    r"\b(?:(?P<is>it|there|that|here) is(?= " + _PREDICATES + r"\b)"
    r"|(?P<have>i|you|we|they) have(?= (?:been|seen|made|tried|had|already|never|ever|gone|done"
    r"|taken|given|found|lost|[a-z]{2,}ed)\b)"
    r"|(?P<would>i|you|we|they) would(?= (?:like|be|still|also|say|suggest|recommend|need|want)\b)"
    r"|(?P<are>i am|(?:you|we|they) (?:are|will))(?= \w)(?! (?:to|in|at|and|or|but|for|on)\b)"
    r"|(?P<not>(?:do|does|did|is|are|was|were|has|have|had|could|would|should|will) not|cannot))\b"
    r"(?! only\b)(?! merely\b)(?! to\b)",
    re.IGNORECASE,
)
_EXPAND = re.compile(
    _WHO + r"\b(?P<short>[a-z]+n['\u2019]t|(?:i|you|we|they|it)['\u2019](?:m|re|ll|ve)"
    r"|let['\u2019]s(?= [a-z])(?! not\b)|(?:it|that|there|here)['\u2019]s(?= "
    + _PREDICATES
    + r"\b))\b(?! "
    + _SUBJECTS
    + r"\b)",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[^.!?\n]*\?")

_full, _short = occurring(_CONTRACT), occurring(_EXPAND)


@transform("contract")
def contract(text: str, draws: Draws) -> str:
    """Full forms contracted: "do not" becomes "don't"."""
    if not _full(text):
        return text

    def short(match: re.Match[str]) -> str:
        if not draws.chance(0.8):
            return match.group()
        words = match.group().lower()
        if match["is"]:
            found = words.replace(" is", "'s")
        elif match["have"]:
            found = words.replace(" have", "'ve")
        elif match["would"]:
            found = words.replace(" would", "'d")
        else:
            found = _FULL[words]
        found = "I" + found[1:] if found.startswith("i'") else found
        return like(match.group(), found)

    return _outside_questions(_CONTRACT, short, text)


@transform("expand")
def expand(text: str, draws: Draws) -> str:
    """Contractions written out: "don't" becomes "do not"."""
    if not _short(text):
        return text

    def full(match: re.Match[str]) -> str:
        if not draws.chance(0.8):
            return match.group()
        words = match["short"].lower().replace("\u2019", "'")
        found = NEGATED.get(words) or PRONOUNS.get(words)
        if words == "let's":
            found = "let us"
        if found is None and words.endswith("'s"):
            found = words.removesuffix("'s") + " is"
        if found is None or (words in NEGATED and _starts_sentence(match) and words != "don't"):
            return match.group()
        found = "I" + found[1:] if found.startswith("i ") else found
        return like(match.group(), found)

    return _outside_questions(_EXPAND, full, text)


def _starts_sentence(match: re.Match[str]) -> bool:
    return match.group()[:1].isupper()


def _outside_questions(
    pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str
) -> str:
    """A question inverts subject and verb, so its words are left as they are."""
    questions = [match.span() for match in _QUESTION.finditer(text)] if "?" in text else []

    def guarded(match: re.Match[str]) -> str:
        if any(start <= match.start() < end for start, end in questions):
            return match.group()
        return replace(match)

    return pattern.sub(guarded, text)
