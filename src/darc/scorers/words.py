"""Which words carry content, and what they have in common with their other forms."""

import re
from collections.abc import Iterable
from functools import lru_cache

from darc.scorers.classes import FUNCTION_WORDS
from darc.scorers.phrases import word_set

# Words of a request that say what to do with its subject and not what the subject is.
REQUEST_WORDS = word_set(
    "write explain describe tell give show make list create implement summarise summarize rewrite",
    "change turn put shorten simplify please help want need like know way best good short simple",
    "example using use called following sentence sentences word words question answer long does",
    "work works thing things come get got let say sound plain",
)
ENDING = re.compile(
    r"(?:ational|ations?|ingly|edly|ings?|ments?|ness|able|ible|ously|ers?|ies|ied|ed|es|ly|s|e|y)$"
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
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
