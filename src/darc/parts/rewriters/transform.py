"""What transforms are made of.

A transform takes a masked text and random draws, and returns the text changed, or as it was.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from darc.language.statements import CACHED_SENTENCES, change_statements, pieces
from darc.language.word_lists import LIGHT_WORDS, WORD_LISTS
from darc.parts.rewriters.draws import Draws

Transform = Callable[[str, Draws], str]
Match = re.Match[str]
# Makes the replacement of a match; None leaves it as it is.
Replace = Callable[[Match, Draws], str | None]

_FIRST_WORD = re.compile(r"[A-Za-z]+(?:['\u2019][a-z]+)?")
# Words that may open a sentence and are not names.
_OPENING_WORDS = LIGHT_WORDS | WORD_LISTS["opening"]


def occurrence_test(*patterns: re.Pattern[str]) -> Callable[[str], bool]:
    """Make a test that is False only if none of the patterns occurs in a text.

    Results are cached by piece of the text, so that rewrites of one answer share them.

    Args:
        *patterns: Patterns that need no more of what stands before or after a ". " than a piece of
            `pieces` has.

    Returns:
        The test.
    """

    @lru_cache(maxsize=CACHED_SENTENCES)
    def occurs_in_piece(piece: str) -> bool:
        return any(pattern.search(piece) for pattern in patterns)

    def occurs(text: str) -> bool:
        text_pieces = pieces(text)
        return not text_pieces or any(map(occurs_in_piece, text_pieces))

    return occurs


class Substitution(NamedTuple):
    """A pattern and what replaces its matches, with the case of the match's first letter."""

    pattern: re.Pattern[str]
    #: A template, or a function that makes the replacement, or None to leave the match.
    replacement: str | Replace
    #: The probability of each replacement, drawn after the function has made it.
    probability: float = 1.0
    #: Whether this is done only if the step before changed nothing.
    only_if_unchanged: bool = False

    def apply(self, text: str, draws: Draws) -> str:
        """Replace the matches in a text."""
        pattern, replacement, probability, _ = self

        def replace(match: Match) -> str:
            if isinstance(replacement, str):
                new_text: str | None = match.expand(replacement)
            else:
                new_text = replacement(match, draws)
            if new_text is None:
                return match.group()
            if probability < 1 and not draws.chance(probability):
                return match.group()
            return match_case(match.group(), new_text)

        return pattern.sub(replace, text)


def substituting(*steps: Substitution) -> Transform:
    """Make a transform that goes through substitutions."""
    occurs = occurrence_test(*(step.pattern for step in steps))

    def transform(text: str, draws: Draws) -> str:
        if not occurs(text):
            return text
        before_step = text
        for step in steps:
            if step.only_if_unchanged and text != before_step:
                continue
            before_step = text
            text = step.apply(text, draws)
        return text

    return transform


def replacing(pattern: re.Pattern[str], probability: float = 1.0) -> Callable[[Replace], Transform]:
    """Decorate a function that makes the replacement of a match, so that it is a transform."""

    def decorate(replace: Replace) -> Transform:
        return substituting(Substitution(pattern, replace, probability))

    return decorate


def rephrasing(*patterns: re.Pattern[str]) -> Callable[[Replace], Transform]:
    """Decorate a function that rephrases a statement, so that it is a transform.

    Args:
        *patterns: The transform changes plain statements that match one of these patterns. The
            function gets the first match and returns the new statement, which gets a capital
            letter, or None to leave the statement.

    Returns:
        The decorator.
    """

    @lru_cache(maxsize=CACHED_SENTENCES)
    def applies(sentence: str) -> bool:
        return any(pattern.match(sentence) for pattern in patterns)

    def decorate(rephrase: Replace) -> Transform:
        def transform(text: str, draws: Draws) -> str:
            def change(sentence: str) -> str:
                match = _first_match(patterns, sentence)
                return capitalise(rephrase(match, draws) or sentence)

            return change_statements(text, change, applies)

        return transform

    return decorate


def _first_match(patterns: tuple[re.Pattern[str], ...], sentence: str) -> Match:
    for pattern in patterns:
        match = pattern.match(sentence)
        if match:
            return match
    raise ValueError("no pattern matches the sentence")


def capitalise(words: str) -> str:
    """Give the words a capital first letter."""
    return words[:1].upper() + words[1:]


def match_case(model: str, words: str) -> str:
    """Give the words a capital first letter if the model has one."""
    if model[:1].isupper():
        return capitalise(words)
    return words


def uncapitalise(words: str) -> str | None:
    """Give the words a small first letter, unless the first word is "I".

    Returns:
        The words, or None if the first word may be a name.
    """
    first_word = _FIRST_WORD.match(words)
    if first_word is None:
        return None
    stem = first_word.group().split("'")[0]
    if stem == "I":
        return words
    if stem.lower() not in _OPENING_WORDS:
        return None
    return words[:1].lower() + words[1:]
