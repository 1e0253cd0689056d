"""The forms of an English verb, regular ones by rule."""

IRREGULAR: dict[str, tuple[str, str, str]] = {
    "begin": ("began", "begun", "beginning"),
    "get": ("got", "gotten", "getting"),
    "show": ("showed", "shown", "showing"),
    "choose": ("chose", "chosen", "choosing"),
    "build": ("built", "built", "building"),
    "understand": ("understood", "understood", "understanding"),
    "find": ("found", "found", "finding"),
    "put": ("put", "put", "putting"),
    "make": ("made", "made", "making"),
    "set": ("set", "set", "setting"),
    "keep": ("kept", "kept", "keeping"),
    "tell": ("told", "told", "telling"),
    "meet": ("met", "met", "meeting"),
    "throw": ("threw", "thrown", "throwing"),
    "occur": ("occurred", "occurred", "occurring"),
    "take": ("took", "taken", "taking"),
    "bring": ("brought", "brought", "bringing"),
    "give": ("gave", "given", "giving"),
    "buy": ("bought", "bought", "buying"),
    "deal": ("dealt", "dealt", "dealing"),
    "think": ("thought", "thought", "thinking"),
    "stand": ("stood", "stood", "standing"),
    "spot": ("spotted", "spotted", "spotting"),
    "overcome": ("overcame", "overcome", "overcoming"),
    "have": ("had", "had", "having"),
}
_VOWELS = "aeiou"
_PLURALS = {"child": "children", "photo": "photos", "help": "help", "advice": "advice"}


def forms(verb: str) -> tuple[str, str, str, str, str]:
    """Base, third person, past, participle and -ing form; a particle stays behind the verb."""
    head, space, particle = verb.partition(" ")
    tail = space + particle
    if head in IRREGULAR:
        past, participle, gerund = IRREGULAR[head]
    else:
        past = participle = _past(head)
        gerund = _gerund(head)
    return verb, _third(head) + tail, past + tail, participle + tail, gerund + tail


def plural(noun: str) -> str:
    """The plural of a noun."""
    head, space, last = noun.rpartition(" ")
    return head + space + _PLURALS.get(last, _third(last))


def _third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ies"
    return verb + "s"


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        return verb[:-1] + "ied"
    return verb + "ed"


def _gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"
