"""What a judging model is told, and numbers from what it says.

The texts that it judges cannot speak to it.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from darc.language.phrases import stored
from darc.models.completion import without_thoughts
from darc.types import Message, Prompt

TOLD = stored(Path(__file__).with_name("judge.toml"))
CODE_LENGTH = 16
_CONTROL = re.compile(
    r"<(?=\|)|(?<=\|)>|<(?=\uff5c)|(?<=\uff5c)>|<(?=/?s>)|<(?=(?:start|end)_of_turn>)|\[(?=/?INST\])",
    re.IGNORECASE,
)


def rating(
    prompt: Prompt, answer: str, view: str = "", criteria: Sequence[str] = ()
) -> tuple[Message, ...]:
    """The conversation that asks for a grade, by a reader's view and for each criterion."""
    told = TOLD["rate"].format(
        whose=TOLD["particular"].format(view=view.strip()) if view else TOLD["careful"],
        number="one whole number for each criterion" if criteria else "one whole number",
        form=reply_form(criteria),
    )
    material = delimited({"CONVERSATION": _turns(prompt), "ANSWER": answer})
    asked = TOLD["ask_numbers" if criteria else "ask_number"]
    return Message("system", told), Message("user", f"{material}\n\n{asked}")


def reply_form(criteria: Sequence[str]) -> str:
    """How the grades are to be written."""
    if not criteria:
        return "Reply with the number alone."
    lines = "\n".join(f"{name}: NUMBER" for name in criteria)
    return (
        f"Reply with these lines, a whole number from 0 to 10 in each, and nothing else:\n{lines}"
    )


def comparison(prompt: Prompt, first: str, second: str) -> tuple[Message, ...]:
    """The conversation that asks for the better of two answers."""
    parts = {"CONVERSATION": _turns(prompt), "ANSWER A": first, "ANSWER B": second}
    return Message("system", TOLD["compare"]), Message(
        "user", f"{delimited(parts)}\n\n{TOLD['ask_letter']}"
    )


def delimited(parts: dict[str, str]) -> str:
    """Texts between marker lines that no text can hold.

    The code of the markers is a hash of all the texts, so whoever writes one would have to know
    the hash of what they write; should it stand in a text all the same, another is taken. The
    same texts have the same code. What chat templates use to end a turn is broken up.
    """
    inner = {name: defused(text) for name, text in parts.items()}
    whole = "\0".join(inner.values())
    code = hashlib.sha256(whole.encode()).hexdigest()[:CODE_LENGTH]
    while code in whole:
        code = hashlib.sha256(code.encode()).hexdigest()[:CODE_LENGTH]
    return "\n\n".join(
        f"[BEGIN {name} {code}]\n{text}\n[END {name} {code}]" for name, text in inner.items()
    )


def defused(text: str) -> str:
    """The text with a space in what a chat template could take for the end of a turn."""
    return _CONTROL.sub(lambda found: f" {found[0]} ", text)


def _turns(prompt: Prompt) -> str:
    return "\n\n".join(f"{m.role}: {m.content}" for m in prompt.messages)


LEAST_MASS = 0.5
FIRST_TOKENS = 8
BEST = 10.0
_NUMBER = re.compile(r"(?<![\d.,-])(?:10(?:\.0+)?|\d(?:\.\d+)?)(?![\d]|[.,]\d)")
_LINE = re.compile(r"\s*(?P<name>.*?)\s*:\s*(?P<grade>10(?:\.0+)?|\d(?:\.\d+)?)\s*")
_LETTER = re.compile(r"\b[AB]\b")

Places = Sequence[Mapping[str, float]]


def grade_in(text: str) -> float | None:
    """The first number from 0 to 10 in a text, None without one; thoughts are passed over."""
    found = _NUMBER.search(without_thoughts(text) or "")
    return float(found[0]) if found else None


def grades_in(text: str, criteria: Sequence[str]) -> tuple[float, ...] | None:
    """A grade from 0 to 10 for each criterion, None unless the text is just what was asked for.

    That is a line for each, NAME: NUMBER, in their order, or a JSON object with those names alone.
    """
    said = (without_thoughts(text) or "").strip()
    if said.startswith("{"):
        try:
            found = json.loads(said)
        except (ValueError, RecursionError):
            return None
        numbers = [found.get(name) for name in criteria] if len(found) == len(criteria) else []
        fine = [x for x in numbers if isinstance(x, int | float) and not isinstance(x, bool)]
    else:
        lines = [_LINE.fullmatch(line) for line in said.splitlines() if line.strip()]
        same = [line is not None and line["name"] for line in lines] == list(criteria)
        fine = [float(line["grade"]) for line in lines if line is not None] if same else []
    fits = len(fine) == len(criteria) and all(0 <= grade <= BEST for grade in fine)
    return tuple(map(float, fine)) if fits else None


def letter_in(text: str) -> str | None:
    """The first lone A or B in a text, None without one."""
    found = _LETTER.search(without_thoughts(text) or "")
    return found[0] if found else None


def expected_grade(places: Places) -> float | None:
    """The mean grade by the probabilities of the first place where a grade is likely.

    `places` are the log-probabilities of the likeliest tokens, a mapping a token that was said;
    tokens that are no grade count for nothing. Where "10" is no token of its own, "1" stands for 1
    and 10: if it was said, the next place shares it out; if not, it goes to the one that is nearer
    to the mean of the other grades. None where no place has half its probability on grades.
    """
    likely = (i for i, place in enumerate(places[:FIRST_TOKENS]) if _mass(place) >= LEAST_MASS)
    index = next(likely, None)
    if index is None:
        return None
    place = places[index]
    odds = grades(place)
    ten_is_a_token = any(bare(token) == "10" for token in place)
    if 1 in odds and not ten_is_a_token:
        odds = _shared_out(odds, place, places[index + 1] if index + 1 < len(places) else {})
    return math.fsum(grade * p for grade, p in odds.items()) / math.fsum(odds.values())


def bare(token: str) -> str:
    """A token without the space that tokenizers put before words, however they write it."""
    return token.strip(" \t\n▁Ġ")


def grades(place: Mapping[str, float]) -> dict[int, float]:
    """The probability of each grade among the tokens of a place."""
    odds: dict[int, float] = {}
    for token, log in place.items():
        text = bare(token)
        if text.isascii() and text.isdecimal() and (len(text) == 1 or text == "10"):
            odds[int(text)] = odds.get(int(text), 0.0) + math.exp(log)
    return odds


def _mass(place: Mapping[str, float]) -> float:
    return math.fsum(grades(place).values())


def _shared_out(
    odds: dict[int, float], place: Mapping[str, float], following: Mapping[str, float]
) -> dict[int, float]:
    """The probability of "1" divided between 1 and 10."""
    others = {grade: p for grade, p in odds.items() if grade != 1}
    if bare(max(place, key=lambda token: place[token])) == "1" or not others:
        zero = math.fsum(math.exp(log) for token, log in following.items() if token[:1] == "0")
        ten = min(zero, 1.0)
    else:
        mean = math.fsum(grade * p for grade, p in others.items()) / math.fsum(others.values())
        ten = float(mean > 5.5)
    return {**others, 1: odds[1] * (1.0 - ten), 10: odds[1] * ten}


def first_is_better(places: Places, text: str) -> float | None:
    """The probability of A against B, where they are likely first, else by the text."""
    for place in places[:FIRST_TOKENS]:
        odds = {"A": 0.0, "B": 0.0}
        for token, log in place.items():
            if bare(token) in odds:
                odds[bare(token)] += math.exp(log)
        if sum(odds.values()) >= LEAST_MASS:
            return odds["A"] / (odds["A"] + odds["B"])
    letter = letter_in(text)
    return None if letter is None else float(letter == "A")
