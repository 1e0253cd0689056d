"""The class of an English word, which words carry content, and what forms have in common."""

import re
from collections.abc import Iterable
from functools import lru_cache

from darc.language.phrases import read_lists, word_set

_LISTS = read_lists("classes.tsv")
# Words of a request that say what to do with its subject and not what the subject is.
REQUEST_WORDS = word_set(_LISTS.pop("request"))
CLOSED: dict[str, str] = _LISTS
CLASS_OF = {word: name for name, words in CLOSED.items() for word in words.split()}
OPEN_CLASSES = ("verb", "past", "adjective")
FUNCTION_WORDS = frozenset(word for word, name in CLASS_OF.items() if name not in OPEN_CLASSES)

# The first pattern that fits decides.
SHAPES = (
    ("number", re.compile(r"\d")),
    ("stop", re.compile(r"[.!?\u2026\n]")),
    ("comma", re.compile(r"[,;:()\u2013\u2014-]")),
    ("manner", re.compile(r"...ly$")),
    ("ing", re.compile(r"...ing$")),
    ("past", re.compile(r"..(?:[^e]ed|[^aeiou]ied)$")),
    ("abstract", re.compile(r"..(?:tion|sion|ness|ment|ity|ism|ance|ence|ship|hood)$")),
    ("adjective", re.compile(r"..(?:ous|ful|less|ive|able|ible|ical|ish|ary|est)$")),
    ("plural", re.compile(r"..[^su]s$")),
)
OTHER = "noun"
CLASSES = sorted({*CLOSED, *(name for name, _ in SHAPES), OTHER})
NUMBER_OF = {name: number for number, name in enumerate(CLASSES)}


@lru_cache(maxsize=1 << 16)
def class_of(token: str) -> str:
    """The class of a word, number or mark in lower case. O(length)."""
    known = CLASS_OF.get(token)
    if known is not None:
        return known
    return next((name for name, shape in SHAPES if shape.search(token)), OTHER)


ENDING = re.compile(
    r"(?:ational|ations?|ingly|edly|ings?|ments?|ness|able|ible|ously|ers?|ies|ied|ed|es|ly|s|e|y)$"
)


@lru_cache(maxsize=1 << 16)
def loose_stem(word: str) -> str:
    """A word without its commonest ending; equal for most forms of one word, not for all."""
    bare = word.removesuffix("'s")
    cut = ENDING.sub("", bare)
    if len(cut) < 3:
        return bare
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut


def content_words(words: Iterable[str]) -> list[str]:
    """The distinct words that carry content, in order."""
    kept = (word for word in words if word not in FUNCTION_WORDS and len(word) > 2)
    return list(dict.fromkeys(kept))


def subject_words(words: Iterable[str]) -> list[str]:
    """The distinct words that say what a request is about; all content words if none is left."""
    content = content_words(words)
    return [word for word in content if word not in REQUEST_WORDS] or content
