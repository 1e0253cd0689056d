"""Hedges and padding that qualify the speaker, not the claim, taken away."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import transform

_LEAD = re.compile(
    r"(?:(?<=^)|(?<=[.!?] )|(?<=\n))(?:(?:I (?:think|believe|feel|would say|guess"
    r"|suppose)(?: that)?,?"
    r"|In my (?:humble |personal )?opinion,|As far as I know,|To be honest,|Honestly,|Frankly,"
    r"|(?:It is|It['\u2019]s) (?:important|worth|useful|also important|also worth|crucial"
    r"|essential)"
    r"(?: to)? (?:not(?:e|ing)|remember(?:ing)?|mention(?:ing)?|keep(?:ing)? in mind"
    r"|point(?:ing)? out)"
    r" that|Please (?:note|remember|keep in mind) that|Note that|Keep in mind that|Remember that"
    r"|It should be noted that|Needless to say,|As (?:you may know|you might know|we all know),"
    r"|(?:Basically|Essentially|Actually|Simply put|In essence),) )(?P<next>\S)"
)
_INNER = re.compile(
    r"(?<=[a-z,] )(?:basically|actually|really|truly|literally|simply|just|quite|very)"
    r" (?=(?!not\b|like\b|as\b|if\b|because\b|in\b|before\b|after\b|over\b|under\b|about\b"
    r"|one\b|enough\b"
    r"|a\b|few\b|little\b|much\b|many\b|first\b|last\b)[a-z]{3,})"
)
_NEGATED = re.compile(r"(?:\bnot|n['\u2019]t|\bto|\bthan|\bthe|\bso|\bhow) \Z", re.I)

_leading, _filled = occurring(_LEAD), occurring(_INNER)


@transform("hedges")
def hedges(text: str, draws: Draws) -> str:
    """Sentences that say their claim without "I think" or "it is worth noting that" before it."""
    return _LEAD.sub(lambda match: match["next"].upper(), text) if _leading(text) else text


@transform("fillers")
def fillers(text: str, draws: Draws) -> str:
    """The text without some of its filler adverbs."""
    if not _filled(text):
        return text

    def dropped(match: re.Match[str]) -> str:
        if _NEGATED.search(text[max(0, match.start() - 6) : match.start()]):
            return match.group()
        # "very" carries an article's sound, and "a very old" would become "a old".
        if re.search(r"\ban? \Z", text[max(0, match.start() - 4) : match.start()], re.I):
            return match.group()
        return "" if draws.chance(0.7) else match.group()

    return _INNER.sub(dropped, text)
