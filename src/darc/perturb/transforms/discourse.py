"""Words that open a sentence and link it to the last, exchanged within their kind."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import transform

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
def markers(text: str, draws: Draws) -> str:
    """Opening connectives exchanged for others of their kind."""
    if not _marked(text):
        return text

    def other(match: re.Match[str]) -> str:
        choices = [m for m in _GROUP_OF[match.group()] if m != match.group()]
        return draws.pick(choices) if draws.chance(0.8) else match.group()

    return _MARKER.sub(other, text)


@transform("no markers")
def without(text: str, draws: Draws) -> str:
    """Opening connectives that only add or sum up dropped."""
    if not _adding(text):
        return text
    return _ADDING.sub(
        lambda match: match["next"].upper() if draws.chance(0.7) else match.group(), text
    )
