"""Courtesies, hedges, wordy phrases and turns of speech, changed or taken away."""

import re

from darc.language.senses import WORDINGS
from darc.perturb.transforms.transform import Draws, like, occurring, transform

_FLATTERY = re.compile(
    r"(?:\A|(?<=[.!?] )|(?<=\n))(?:(?:Wow|Oh),? )?(?:(?:What|That['\u2019]s|That is"
    r"|This is) (?:a |an |such a )?"
    r"(?:really |very |truly )?(?:great|good|excellent|fantastic|wonderful|interesting|thoughtful"
    r"|insightful|important|brilliant|lovely|amazing|fascinating) (?:question|point|idea"
    r"|choice|topic)"
    r"|(?:Great|Good|Excellent|Fantastic|Wonderful|Interesting|Brilliant|Amazing) "
    r"(?:question|point|idea|choice|topic)"
    r"|(?:Thank you|Thanks) (?:so much |very much )?for (?:asking|your question"
    r"|reaching out)[^.!?\n]*"
    r"|I(?: really)? (?:love|like|appreciate) (?:your|this|that|the) question"
    r"|You(?:['\u2019]re| are) (?:so |absolutely |very )?(?:smart|right to ask|clever)[^.!?\n]*)"
    r"(?:[!.]+|[,;] (?:and )?|—)\s*"
)
_OPENER = re.compile(
    r"\A\s*(?:(?:(?:Sure|Certainly|Absolutely|Of course|Definitely|Yes, of course|Okay|No problem"
    r"|Sure thing|Happy to help|I['\u2019]d be (?:happy|glad"
    r"|delighted) to help(?: (?:you )?with (?:that|this))?"
    r"|I(?:['\u2019]m| am) (?:happy|glad) to help|I(?: would"
    r"|['\u2019]d) be happy to (?:assist|explain)[^.!?\n]*)"
    r"(?:[!.]+|,)\s+)+"
    r"(?:[Hh]ere(?:['\u2019]s| is| are|['\u2019]re) (?:a|an|the|some|my|your)"
    r"[^.!?:\n]{0,60}:\s*\n+)?"
    r"|(?:[Hh]ere(?:['\u2019]s| is| are) (?:a|an|the|some|your) (?:\w+ ){0,3}(?:answer"
    r"|response|explanation"
    r"|overview|summary|breakdown|list|guide)[^.!?:\n]{0,50}:)\s*\n+)"
)
_CLOSER = re.compile(
    r"(?:(?<=[.!?:)\"”*`])|(?<=\n))\s{0,9}(?:I (?:really )?hope (?:this|that|it)[^.!?\n]*[.!]"
    r"|(?:Please )?(?:[Ll]et me know|[Ff]eel free to|[Dd]on['\u2019]t hesitate to"
    r"|[Dd]o not hesitate to"
    r"|[Rr]each out)[^.!?\n]*[.!]"
    r"|If you (?:have|need|['\u2019]d like|would like|want)[^.!?\n]*(?:let me know"
    r"|feel free|just ask"
    r"|hesitate to|happy to help|reach out|here to help)[^.!?\n]*[.!]"
    r"|(?:Is there anything else|Do you have any other questions|Would you like (?:me to"
    r"|more))[^.!?\n]*\?"
    r"|(?:Good luck|Best of luck|Happy \w+ing|Have (?:fun|a (?:great|nice|wonderful) day)"
    r"|Enjoy|Cheers|Take care"
    r"|Stay safe)(?: [^.!?\n]{0,30})?!)\s*\Z"
)
_APOLOGY = re.compile(
    r"(?:\A|(?<=[.!?] )|(?<=\n))(?:(?:I['\u2019]m|I am|We['\u2019]re|We are) (?:so |very "
    r"|really |truly )?sorry"
    r"(?: (?:for|about|to hear|that|if)(?:(?!, but )[^.!?;\n])*)?|(?:My "
    r"|Our )?(?:sincere )?[Aa]pologies(?: for[^.!?;\n]*)?"
    r"|(?:I|We) (?:sincerely |deeply |do )?apologi[sz]e(?: for[^.!?;\n]*)?|Sorry (?:for"
    r"|about)[^.!?;\n]*"
    r"|Please (?:forgive|excuse) [^.!?;\n]*|As an AI[^.!?,\n]*(?:, [^.!?;\n]*)?)"
    r"[.!]\s*"
)

_flattering, _sorry, _closing = occurring(_FLATTERY), occurring(_APOLOGY), occurring(_CLOSER)


def _recapitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


@transform("flattery")
def flattery(text: str, draws: Draws) -> str:
    """The text without praise of the question."""
    return _unless_empty(
        _recapitalised(_FLATTERY.sub("", text) if _flattering(text) else text), text
    )


@transform("openers")
def openers(text: str, draws: Draws) -> str:
    """The text without its eager first words."""
    return _unless_empty(_recapitalised(_until_stable(_OPENER, text)), text)


@transform("closers")
def closers(text: str, draws: Draws) -> str:
    """The text without the offers and wishes at its end."""
    return _unless_empty(_until_stable(_CLOSER, text) if _closing(text) else text, text)


@transform("apologies")
def apologies(text: str, draws: Draws) -> str:
    """The text without apologies."""
    kept = _APOLOGY.sub("", text) if _sorry(text) else text
    return _unless_empty(_recapitalised(kept), text)


def _unless_empty(kept: str, text: str) -> str:
    return kept if kept.strip() else text


def _until_stable(pattern: re.Pattern[str], text: str) -> str:
    while (kept := pattern.sub("", text)) != text:
        text = kept
    return text


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


_SHORT = dict(WORDINGS["short"])
_WORDY = re.compile(
    r"\b(?:" + "|".join(sorted(_SHORT, key=len, reverse=True)) + r")\b(?! (?:possible|not)\b)",
    re.IGNORECASE,
)
_wordy = occurring(_WORDY)


@transform("concise")
def concise(text: str, draws: Draws) -> str:
    """Wordy phrases shortened."""
    if not _wordy(text):
        return text

    def short(match: re.Match[str]) -> str:
        found = _SHORT[match.group().lower()]
        return like(match.group(), found) if draws.chance(0.7) else match.group()

    return _WORDY.sub(short, text)


GROUPS: tuple[tuple[str, ...], ...] = (
    ("However,", "That said,", "Even so,", "Still,"),
    ("Additionally,", "In addition,", "Also,", "Furthermore,", "Moreover,"),
    ("Therefore,", "As a result,", "Consequently,", "For this reason,"),
    ("For example,", "For instance,", "As an example,"),
    ("Overall,", "All in all,", "On the whole,"),
    ("In conclusion,", "To conclude,", "In summary,", "To sum up,"),
    ("Finally,", "Lastly,"),
    ("Similarly,", "In the same way,", "Likewise,"),
    ("In contrast,", "By contrast,", "On the other hand,"),
    ("In fact,", "Indeed,", "As a matter of fact,"),
    ("Meanwhile,", "In the meantime,"),
    ("In other words,", "Put differently,", "That is,"),
    ("Of course,", "Naturally,", "Certainly,"),
    ("Generally,", "In general,", "As a rule,"),
    ("Fortunately,", "Luckily,", "Happily,"),
    ("Interestingly,", "Curiously,"),
)
_GROUP_OF = {marker: group for group in GROUPS for marker in group}
_MARKER = re.compile(
    r"(?:(?<=^)|(?<=[.!?] )|(?<=\n))(?:"
    + "|".join(re.escape(m) for m in sorted(_GROUP_OF, key=len, reverse=True))
    + r")(?= )"
)
_ADDING = re.compile(
    r"(?:(?<=^)|(?<=[.!?] )|(?<=\n))(?:Additionally|In addition|Also|Furthermore|Moreover|Overall"
    r"|All in all|On the whole|In conclusion|To conclude|In summary|To sum up|In fact|Indeed"
    r"|Of course|Naturally|Interestingly|Fortunately|Ultimately|In short|In essence|Lastly"
    r"|As you can see|In today['\u2019]s world), (?P<next>[a-z])"
)

_marked, _adding = occurring(_MARKER), occurring(_ADDING)


@transform("discourse markers")
def discourse_markers(text: str, draws: Draws) -> str:
    """Opening connectives exchanged for others of their kind."""
    if not _marked(text):
        return text

    def other(match: re.Match[str]) -> str:
        choices = [m for m in _GROUP_OF[match.group()] if m != match.group()]
        return draws.pick(choices) if draws.chance(0.8) else match.group()

    return _MARKER.sub(other, text)


@transform("no markers")
def without_markers(text: str, draws: Draws) -> str:
    """Opening connectives that only add or sum up dropped."""
    if not _adding(text):
        return text
    return _ADDING.sub(
        lambda match: match["next"].upper() if draws.chance(0.7) else match.group(), text
    )
