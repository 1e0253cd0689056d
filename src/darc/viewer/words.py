"""What the search of `darc view` takes for a word."""

import re

# Scripts without spaces between words: each letter counts as a word.
_UNSPACED = re.compile(r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff])")
_WORD_CHARACTER = re.compile(r"\w")


def searchable(text: str) -> str:
    """A text with spaces between the words of scripts that have none."""
    return _UNSPACED.sub(r" \1 ", text)


def match_expression(query: str) -> str:
    """Write what a reader searches for as an expression of SQLite's full-text search.

    Args:
        query: Words, all of which have to occur; each may be the beginning of one.

    Returns:
        The expression, empty if there is nothing to search for.
    """
    phrases = []
    for word in query.split():
        if _WORD_CHARACTER.search(word):
            quoted = searchable(word).strip().replace('"', '""')
            phrases.append(f'"{quoted}"*')
    return " ".join(phrases)
