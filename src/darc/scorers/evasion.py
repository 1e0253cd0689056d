"""Whether an answer avoids answering."""

from darc.language.phrases import any_of, one_of
from darc.language.text import Text

REFUSALS = any_of(
    "i (?:really |simply |just )?(?:can't|cannot|can not|won't|will not|refuse)",
    "i(?:'m| am) (?:un|not )able",
    "i(?:'m| am) not (?:allowed|comfortable|qualified|sure|in a position)",
    "i(?:'d| would) (?:rather not|prefer not)",
    "i wouldn't (?:want|like|know)|i couldn't (?:say|possibly)",
    "i (?:don't|do not) (?:know|think i (?:can|could|should))",
    "i (?:don't|do not) have (?:an |any |the )?"
    + one_of("access opinion information answer feelings"),
    f"as an? {one_of('ai artificial language_model large_language assistant machine computer')}",
    r"i(?:'m| am) (?:only |just )?(?:not )?an? (?:\w+ )?"
    + one_of("ai language_model computer program doctor lawyer adviser advisor expert assistant"),
    "beyond (?:my|the) (?:scope|abilities)|cannot be answered",
)
DELEGATIONS = any_of(
    one_of("consult contact ask asking see seek hire find refer_to speak_to speak_with talk_to")
    + r" (?:\w+ ){0,4}?"
    + one_of(
        "professional expert doctor lawyer adviser advisor specialist teacher administrator "
        "manufacturer support authors bank documentation textbook manual healthcare somebody "
        "someone"
    ),
    "(?:looking|look) at the (?:documentation|manual)",
    "(?:search|look|find)(?: it| this| that)? (?:online|up|on the internet|elsewhere)",
    "encourage you to|i hope you (?:can )?(?:find|get)",
)
VAGUENESS = any_of(
    "(?:it|this|that|best)(?: really| all)? depends",
    r"(?:everyone|everybody|every \w+|each person)(?: \w+){1,3} "
    + one_of("different differently favourite favorite unique"),
    r"(?:every|each) \w+ is different",
    "there (?:are|is|can be) (?:many|several|various|a lot of|lots of|numerous|arguments|pros)",
    "there is no (?:simple|easy|single|clear|right)",
    "different (?:people|readers|users|opinions)|both sides|pros and cons",
    "(?:hard|difficult|impossible) to (?:say|tell|answer|describe|know)",
    "(?:is|are|be) (?:a )?(?:very |really )?"
    + one_of("subjective tricky complicated complex personal difficult"),
    f"{one_of('interesting important fascinating sensitive big broad')} "
    + one_of("topic subject matter decision area"),
    "only you can|up to you|decide for yourself|right for one person",
    "need to know more|without (?:more|further|knowing|seeing)",
    one_of("results answers opinions preferences tastes needs")
    + " (?:can |may |will )?(?:vary|differ)",
)
# How surely a sentence with such a phrase says nothing.
WEIGHTS = ((0.9, REFUSALS), (0.65, DELEGATIONS), (0.5, VAGUENESS))
REST_WEIGHT = 0.35


def evasion(text: Text) -> float:
    """How much of the answer evades, 0 to 1: evasive sentences against substantial ones.

    One admission of doubt in a long answer weighs little. O(length).
    """
    if not text.sentences:
        return 0.0
    evasive = sum(map(evasiveness, text.sentences))
    blocks = 3.0 * len(text.code) + 0.5 * len(text.inline_code)
    rest = len(text.sentences) - evasive + blocks
    return evasive / (evasive + REST_WEIGHT * rest)


def evasiveness(sentence: str) -> float:
    """How surely one sentence evades, 0 to below 1."""
    lowered, doubt = sentence.lower(), 1.0
    for weight, pattern in WEIGHTS:
        if pattern.search(lowered):
            doubt *= 1.0 - weight
    return 1.0 - doubt
