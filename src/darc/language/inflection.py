"""Stems of English words, forms of verbs and plurals of nouns."""

import re
from functools import lru_cache

from darc.language.word_lists import read_forms

_VERBS = {verb: forms.split() for verb, forms in read_forms("verb").items()}
_PLURALS = read_forms("plural")
_IRREGULAR_STEMS = {
    form: base for base, forms in read_forms("stem").items() for form in forms.split()
}
# Suffixes in the order in which they are tried, the length a word must have, and what replaces
# the suffix. At most one is removed.
_SUFFIXES = (
    ("ying", 5, "y"),
    ("ing", 6, ""),
    ("ied", 5, "y"),
    ("ed", 5, ""),
    ("ly", 6, ""),
    ("ness", 8, ""),
)
_LOOSE_ENDING = re.compile(
    r"(?:ational|ations?|ingly|edly|ings?|ments?|ness|able|ible|ously|ers?|ies|ied|ed|es|ly|s|e|y)$"
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Reduce a lower-case word to a stem that its inflections and spellings share."""
    word = _IRREGULAR_STEMS.get(word, word).replace("isation", "ization")
    word = word.replace("'s", "").rstrip("'")
    word = _without_plural(word)
    for suffix, min_length, replacement in _SUFFIXES:
        if word.endswith(suffix) and len(word) >= min_length:
            word = word[: -len(suffix)] + replacement
            break
    if word.endswith("ion") and len(word) > 7 and word[-4] in "st":
        word = word[:-3]
    elif word.endswith("ment") and len(word) > 8:
        word = word[:-4]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    word = _with_american_spelling(word)
    if len(word) > 3:
        if word.endswith("y"):
            word = word[:-1] + "i"
        elif word.endswith("e"):
            word = word[:-1]
    return word


def _without_plural(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _with_american_spelling(word: str) -> str:
    if len(word) > 5:
        word = word.replace("our", "or")
    if word.startswith("analys"):
        word = word.replace("ys", "yz")
    if word.endswith("is") and len(word) > 6:
        word = word[:-1] + "z"
    return word


@lru_cache(maxsize=1 << 16)
def loose_stem(word: str) -> str:
    """Cut a word's most common ending off; the scorers were calibrated with this stem."""
    bare = word.removesuffix("'s")
    cut = _LOOSE_ENDING.sub("", bare)
    if len(cut) < 3:
        return bare
    if len(cut) > 3 and cut[-1] == cut[-2]:
        return cut[:-1]
    return cut


def verb_forms(verb: str) -> tuple[str, str, str, str, str]:
    """List the forms of a verb.

    Args:
        verb: The base form; a particle may follow, as in "put off", and stays behind each form.

    Returns:
        The base form, third person, past, participle and -ing form.
    """
    head, space, particle = verb.partition(" ")
    tail = space + particle
    if head in _VERBS:
        past, participle, gerund = _VERBS[head]
    else:
        past = _regular_past(head)
        participle = past
        gerund = _regular_gerund(head)
    return verb, _with_s(head) + tail, past + tail, participle + tail, gerund + tail


def plural(noun: str) -> str:
    """Form the plural of a noun; of several words, the last is inflected."""
    head, space, last = noun.rpartition(" ")
    return head + space + _PLURALS.get(last, _with_s(last))


def _regular_past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    return _with_i_for_y(verb) + "ed"


def _regular_gerund(verb: str) -> str:
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    return verb + "ing"


def _with_s(word: str) -> str:
    """The third person of a verb, or the plural of a noun."""
    if word == "have":
        return "has"
    if word.endswith(("s", "x", "z", "ch", "sh", "o")) or word != _with_i_for_y(word):
        return _with_i_for_y(word) + "es"
    return word + "s"


def _with_i_for_y(word: str) -> str:
    """Replace a "y" after a consonant by "i", as before "-es" and "-ed"."""
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "i"
    return word
