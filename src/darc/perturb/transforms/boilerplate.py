"""Phrases that carry courtesy and no content, taken away: openers, closers, apologies, flattery."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import transform

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
