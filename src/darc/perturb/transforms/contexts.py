"""The places in a sentence that a wording may need, told by the words around it."""

import re

_WORDS = re.compile(r"[\w'\u2019]+|[^\s\w]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


DETERMINERS = _set(
    "the a an your their its our my his her this these those that any some each every no another"
)
QUANTIFIERS = _set(
    "many several few most all both other various numerous different common possible potential"
    " main new health key two three four five such more"
)
_PREPOSITIONS = _set(
    "of in for with about to on at by from as into like than over under between through during"
    " without within and or"
)
_OBJECTS = _set("the a an your their its our my his this these those any some")
_AFTER_NOUNS = _set(
    "of in for with to on at by from as that which who is are was were can will may might should"
    " could would and or but because when if while before after into than has have had so where"
    " until you we they it during through"
)
_STOPS = _set(". , ; : ! ? )")
_VERB_LEADERS = _set(
    "to can could will would should may might must not don't cannot can't you we they i and or"
    " then also who please always never often usually let's ."
)


def fits(place: str, text: str, start: int, follower: str) -> bool:
    """Whether a wording at `start` stands in the place it needs; `follower` comes after it."""
    if not place:
        return True
    before = [word.lower() for word in _WORDS.findall(text[max(0, start - 40) : start])[-3:]]
    leader = before[-1] if before else ""
    near = before[-2:]
    if place == "base":
        return follower in _OBJECTS and (not leader or leader in _VERB_LEADERS)
    if place == "transitive":
        return follower in _OBJECTS and leader not in DETERMINERS
    if place == "attributive":
        plain = follower.isalpha() and follower not in _AFTER_NOUNS | DETERMINERS
        return plain and leader in DETERMINERS | QUANTIFIERS
    if follower and follower not in _AFTER_NOUNS | _STOPS:
        return False
    determined = not DETERMINERS.isdisjoint(near) and not _STOPS.intersection(near)
    if place == "noun":
        return determined
    return determined or leader in QUANTIFIERS | _PREPOSITIONS
