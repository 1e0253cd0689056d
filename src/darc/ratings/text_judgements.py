"""What texts alone say about answers: length, wording, and how an answer resembles the others."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from darc.ratings.candidate_judgements import CandidateJudgements, Key

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?]+(?:\s|$)")
# How judgements by the text alone are named.
TEXT_PREFIX = "text:"


def judgements_of_texts(
    texts: Mapping[Key, tuple[str, str]], source: str = "the texts"
) -> CandidateJudgements:
    """Judge answers by their texts alone.

    Args:
        texts: (prompt, answer) by the ids of prompt and candidate.
        source: What errors call them.
    """
    by_prompt: dict[str, list[Key]] = defaultdict(list)
    for key in texts:
        by_prompt[key[0]].append(key)
    numbers: dict[str, dict[Key, float]] = defaultdict(dict)
    for keys in by_prompt.values():
        words = [_words(texts[key][1]) for key in keys]
        for place, key in enumerate(keys):
            question, answer = texts[key]
            others = [set(words[other]) for other in range(len(keys)) if other != place]
            for name, value in _features(question, answer, words[place], others).items():
                numbers[f"{TEXT_PREFIX}{name}"][key] = value
    return CandidateJudgements(source, numbers)


def _features(
    question: str, answer: str, words: Sequence[str], others: Sequence[set[str]]
) -> dict[str, float]:
    """The features of one answer by name."""
    distinct = set(words)
    count = max(len(words), 1)
    question_words = set(_words(question))
    numerals = sum(word[0].isdigit() for word in words)
    return {
        "log_words": math.log1p(len(words)),
        "word_length": sum(map(len, words)) / count,
        "sentence_words": count / max(len(_SENTENCE_END.findall(answer)), 1),
        "distinct_share": len(distinct) / count,
        "numeral_share": numerals / count,
        "question_overlap": _overlap(distinct, question_words),
        "question_coverage": len(distinct & question_words) / max(len(question_words), 1),
        "likeness": sum(_overlap(distinct, other) for other in others) / max(len(others), 1),
    }


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _overlap(left: set[str], right: set[str]) -> float:
    """The share of distinct words that two texts have in common."""
    return len(left & right) / max(len(left | right), 1)
