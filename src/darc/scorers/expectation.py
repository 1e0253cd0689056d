"""What a prompt asks for, as far as its wording tells."""

import re
from dataclasses import dataclass

from darc.language.phrases import any_of, stored

KINDS = {kind: any_of(*phrases) for kind, phrases in stored("answers.toml")["request"].items()}
HARM = any_of(*stored("harm.toml")["risky"])
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
FACT = re.compile(r"^\s*(?:who|when|where|which|what is the)\b")
DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Expectation:
    """What the answer should look like; `words` is the range of lengths that raises no eyebrow."""

    code: bool
    items: bool
    count: int
    number: bool
    transform: bool
    creative: bool
    harmful: bool
    words: tuple[float, float]


def expectation(question: str) -> Expectation:
    """What a question asks for. O(length); patterns of wording, so it can be wrong."""
    question = question.lower()
    transform = bool(KINDS["transform"].search(question))
    creative = not transform and bool(KINDS["creative"].search(question))
    code = (
        not transform
        and not creative
        and bool(KINDS["code"].search(question) and KINDS["making"].search(question))
    )
    number = not transform and not code and bool(KINDS["quantity"].search(question))
    return Expectation(
        code=code,
        items=bool(KINDS["items"].search(question)),
        count=0 if transform or code else _count(question),
        number=number,
        transform=transform,
        creative=creative,
        harmful=bool(HARM.search(question)),
        words=_words(question, transform, creative, number, code),
    )


def _count(question: str) -> int:
    """How many items are asked for, 0 where no number of them is."""
    found = KINDS["count"].search(question)
    if found is None:
        return 0
    return NUMBERS.index(found[1]) + 2 if found[1] in NUMBERS else int(found[1])


def _words(
    question: str, transform: bool, creative: bool, number: bool, code: bool
) -> tuple[float, float]:
    """The usual range of lengths in words for such a request."""
    if KINDS["brief"].search(question):
        return 12.0, 150.0
    if transform:
        source = len(question.split())
        return max(8.0, 0.4 * source), max(120.0, 2.0 * source)
    if creative:
        return 40.0, 500.0
    if number or FACT.search(question):
        return 30.0, 220.0
    return (30.0, 400.0) if code else (55.0, 400.0)
