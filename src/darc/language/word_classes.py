"""Classes of English words, and which words of a text carry its content."""

from collections.abc import Iterable
from functools import lru_cache

from darc.language.data_files import read_lists, read_patterns, word_set
from darc.language.inflection import loose_stem

_WORDS_OF_CLASS = read_lists("classes.tsv")
# Words of a request that say what to do with its subject and not what the subject is.
_REQUEST_WORDS = word_set(_WORDS_OF_CLASS.pop("request"))
_SHAPES = read_patterns("answers.toml", "shapes")
_DEFAULT_CLASS = "noun"

#: The class of each listed word.
CLASS_OF = {word: name for name, words in _WORDS_OF_CLASS.items() for word in words.split()}
#: The names of all classes, sorted.
CLASSES = sorted({*_WORDS_OF_CLASS, *_SHAPES, _DEFAULT_CLASS})
#: Words that carry grammar and no content.
FUNCTION_WORDS = frozenset(
    word for word, name in CLASS_OF.items() if name not in ("verb", "past", "adjective")
)


@lru_cache(maxsize=1 << 16)
def class_of(token: str) -> str:
    """Tell the class of a word, number or punctuation mark in lower case. O(length)."""
    listed_class = CLASS_OF.get(token)
    if listed_class is not None:
        return listed_class
    for name, shape in _SHAPES.items():
        if shape.search(token):
            return name
    return _DEFAULT_CLASS


def content_words(words: Iterable[str]) -> list[str]:
    """Select the distinct words that carry content, in order."""
    content = (word for word in words if word not in FUNCTION_WORDS and len(word) > 2)
    return list(dict.fromkeys(content))


def content_stems(words: Iterable[str]) -> set[str]:
    """Collect the loose stems of the content words."""
    return {loose_stem(word) for word in content_words(words)}


def subject_words(words: Iterable[str]) -> list[str]:
    """Select the distinct words that say what a request is about.

    Args:
        words: The words of the request in lower case.

    Returns:
        The content words except those that say what to do; all content words if none is left.
    """
    content = content_words(words)
    subjects = [word for word in content if word not in _REQUEST_WORDS]
    return subjects or content
