"""How far the words of an answer fit those of its prompt."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.language.inflection import loose_stem
from darc.language.text import Text
from darc.language.word_classes import content_stems, subject_words
from darc.parts.scorers import expectation
from darc.parts.scorers.expectation import Expectation, read_expectation

SOURCES = (
    "prompt_words.py",
    "../../language/inflection.py",
    "../../language/text.py",
    "../../language/word_classes.py",
    "../../language/word_lists.py",
    "../../language/data/classes.tsv",
    *expectation.SOURCES,
)


@dataclass(frozen=True)
class PromptWords:
    """The words of a prompt that its answers are compared with."""

    #: What the answer should look like.
    request: Expectation
    #: Stems of the words that say what the request is about.
    subjects: frozenset[str]
    #: Stems of all content words.
    content: frozenset[str]
    #: Runs of three words.
    triples: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, question: str) -> "PromptWords":
        """Read a question. O(length)."""
        words = Text(question).words
        return cls(
            request=read_expectation(question),
            subjects=frozenset(map(loose_stem, subject_words(words))),
            content=frozenset(content_stems(words)),
            triples=_word_triples(words),
        )


def _word_triples(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def coverage(question: PromptWords, text: Text, stems: set[str]) -> float:
    """Tell how far an answer covers the subjects of its prompt.

    Args:
        question: The words of the prompt.
        text: The answer, whose code counts too.
        stems: The content stems of the answer, or of a part of it.

    Returns:
        A number from 0 to 1, which saturates.
    """
    if not question.subjects:
        return 1.0
    code = " ".join([*text.code, *text.inline_code]).lower()
    covered = sum(subject in stems or subject in code for subject in question.subjects)
    return float(1.0 - np.exp(-3.0 * covered / len(question.subjects)))


def mismatch(request: Expectation, text: Text) -> float:
    """What it costs to write prose where code, items or a number was asked for."""
    cost = 0.0
    if request.code and not text.code_lines:
        if text.inline_code:
            cost += 0.15
        else:
            cost += 0.4
    if not request.code and text.code:
        cost += 0.3
    if request.items and len(text.items) < 2:
        cost += 0.3
    if request.number and not any(map(str.isdecimal, text.raw)):
        cost += 0.3
    return cost


def echo(question: PromptWords, text: Text) -> float:
    """The share of the answer's word triples that stand in the prompt too, 0 to 1."""
    triples = _word_triples(text.words)
    if not triples:
        return 0.0
    return len(question.triples & triples) / len(triples)
