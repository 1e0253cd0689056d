"""Grades read from what a judging model says, or from the probabilities of its tokens."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from darc.models.completion import strip_reasoning

SOURCES = ("grades.py",)
#: Grades go from 0 to this.
MAX_GRADE = 10.0
# The log-probabilities of the likeliest tokens, one mapping per token of the reply.
Alternatives = Sequence[Mapping[str, float]]

_GRADES = frozenset(map(str, range(11)))
_MIN_PROBABILITY = 0.5
# Only so many tokens of a reply are searched for a grade.
_MAX_TOKENS = 8
_NUMBER = re.compile(r"(?<![\d.,-])(?:10(?:\.0+)?|\d(?:\.\d+)?)(?![\d]|[.,]\d)")
_CRITERION_LINE = re.compile(r"\s*(?P<name>.*?)\s*:\s*(?P<grade>10(?:\.0+)?|\d(?:\.\d+)?)\s*")
_JSON_START = re.compile(r"[{\[]")
# Only so many characters of a reply are searched for the beginning of a list.
_MAX_REPLY = 4000
_LETTER = re.compile(r"\b[AB]\b")


def grade_in_text(text: str) -> float | None:
    """Read the first number from 0 to 10 in a reply; reasoning is skipped.

    Returns:
        The number, or None if there is none.
    """
    match = _NUMBER.search(strip_reasoning(text) or "")
    if match is None:
        return None
    return float(match[0])


def grades_in_text(text: str, criteria: Sequence[str]) -> tuple[float, ...] | None:
    """Read one grade from 0 to 10 per criterion.

    Args:
        text: The reply: one line NAME: NUMBER per criterion, in their order, or a JSON object with
            just these names. Reasoning before it is skipped.
        criteria: The names of the criteria.

    Returns:
        The grades in the order of the criteria, or None if the reply has another form.
    """
    reply = (strip_reasoning(text) or "").strip()
    if reply.startswith("{"):
        grades = _grades_in_json(reply, criteria)
    else:
        grades = _grades_in_lines(reply, criteria)
    is_complete = len(grades) == len(criteria)
    if not is_complete or not all(0 <= grade <= MAX_GRADE for grade in grades):
        return None
    return tuple(grades)


def grade_lists(text: str, names: Sequence[str], count: int) -> list[list[float]] | None:
    """Read lists of grades from 0 to 10.

    Args:
        text: The reply: a JSON object with one list per name or, where there is one name, just the
            list. Reasoning and other text before it is skipped.
        names: The names of the lists.
        count: How many grades each list has.

    Returns:
        The lists in the order of the names, or None if the reply has another form.
    """
    reply = strip_reasoning(text) or ""
    content = _first_json(reply)
    if content is None and len(names) == count == 1:
        # Of a single answer, a number alone is clear enough.
        content = [grade_in_text(reply)]
    if isinstance(content, list) and len(names) == 1:
        content = {names[0]: content}
    if not isinstance(content, dict):
        return None
    lists = [content.get(name) for name in names]
    if not all(_is_grade_list(values, count) for values in lists):
        return None
    return [[float(value) for value in values] for values in lists if values]


def _first_json(reply: str) -> Any:
    """The first JSON object or list in a reply, None if there is none."""
    decoder = json.JSONDecoder()
    for match in _JSON_START.finditer(reply[:_MAX_REPLY]):
        try:
            content, _ = decoder.raw_decode(reply, match.start())
        except (ValueError, RecursionError):
            continue
        return content
    return None


def _is_grade_list(values: object, count: int) -> bool:
    if not isinstance(values, list) or len(values) != count:
        return False
    return all(_is_number(value) and 0 <= value <= MAX_GRADE for value in values)


def _grades_in_json(reply: str, criteria: Sequence[str]) -> list[float]:
    try:
        content = json.loads(reply)
    except (ValueError, RecursionError):
        return []
    if len(content) != len(criteria):
        return []
    values = [content.get(name) for name in criteria]
    return [float(value) for value in values if _is_number(value)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _grades_in_lines(reply: str, criteria: Sequence[str]) -> list[float]:
    names: list[str] = []
    grades: list[float] = []
    for line in reply.splitlines():
        if not line.strip():
            continue
        match = _CRITERION_LINE.fullmatch(line)
        if match is None:
            return []
        names.append(match["name"])
        grades.append(float(match["grade"]))
    if names != list(criteria):
        return []
    return grades


def expected_grade(alternatives: Alternatives) -> float | None:
    """Compute the mean grade by the probabilities of the first token that is likely a grade.

    Tokens that are not grades count for nothing. Where "10" is not a token of its own, "1" stands
    for 1 and for 10: if the model said it, the next token shares it out; if not, it goes to the
    one that is nearer to the mean of the other grades.

    Args:
        alternatives: The log-probabilities of the likeliest tokens, one mapping per token.

    Returns:
        The mean grade, or None if no token has half its probability on grades.
    """
    position, probability_of_text = _first_likely(alternatives, _GRADES)
    probabilities = {int(text): p for text, p in probability_of_text.items()}
    if not probabilities:
        return None
    if 1 in probabilities and 10 not in probabilities:
        one = probabilities.pop(1)
        if _likeliest_text(alternatives[position]) == "1" or not probabilities:
            share_of_ten = _probability_of_zero(alternatives[position + 1 : position + 2])
        else:
            share_of_ten = float(_mean_grade(probabilities) > 5.5)
        probabilities |= {1: one * (1.0 - share_of_ten), 10: one * share_of_ten}
    return _mean_grade(probabilities)


def _mean_grade(probabilities: Mapping[int, float]) -> float:
    weighted_sum = math.fsum(grade * p for grade, p in probabilities.items())
    return weighted_sum / math.fsum(probabilities.values())


def _likeliest_text(log_probabilities: Mapping[str, float]) -> str:
    token = max(log_probabilities, key=lambda token: log_probabilities[token])
    return _bare_text(token)


def _probability_of_zero(next_tokens: Alternatives) -> float:
    """The probability that the next token begins with "0"; 0 if there is no next token."""
    total = 0.0
    for log_probabilities in next_tokens:
        total = math.fsum(
            math.exp(log) for token, log in log_probabilities.items() if token[:1] == "0"
        )
    return min(total, 1.0)


def first_is_better(alternatives: Alternatives, text: str) -> float | None:
    """Compute the probability that a comparing model prefers answer A.

    Args:
        alternatives: The log-probabilities of the likeliest tokens, one mapping per token.
        text: The reply, whose first lone letter counts where no token is likely A or B.

    Returns:
        The probability of A against B, or None if there is neither.
    """
    _, probabilities = _first_likely(alternatives, ("A", "B"))
    if probabilities:
        return probabilities.get("A", 0.0) / math.fsum(probabilities.values())
    letter = _LETTER.search(strip_reasoning(text) or "")
    if letter is None:
        return None
    return float(letter[0] == "A")


def _first_likely(
    alternatives: Alternatives, texts: Collection[str]
) -> tuple[int, dict[str, float]]:
    """The first token with half its probability on the texts: its position and their probabilities.

    The probabilities are empty if there is no such token.
    """
    for position, log_probabilities in enumerate(alternatives[:_MAX_TOKENS]):
        probabilities: dict[str, float] = {}
        for token, log_probability in log_probabilities.items():
            text = _bare_text(token)
            if text in texts:
                probabilities[text] = probabilities.get(text, 0.0) + math.exp(log_probability)
        if math.fsum(probabilities.values()) >= _MIN_PROBABILITY:
            return position, probabilities
    return 0, {}


def _bare_text(token: str) -> str:
    """A token without the space that tokenizers put before words, however they write it."""
    return token.strip(" \t\n▁Ġ")
