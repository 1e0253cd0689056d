"""Grades by a language model: what it is told, and numbers from what it says.

The texts that it judges cannot speak to it.
"""

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from darc.errors import DarcError, InputError
from darc.language.data_files import read_toml
from darc.models.completion import (
    EMBEDDED,
    ChatModel,
    ChatUser,
    Completion,
    Request,
    without_thoughts,
)
from darc.models.remote.address import KEY_ENV
from darc.models.remote.openai import OpenAIModel
from darc.parts.scorers.base import Pair, source_version
from darc.parts.scorers.scale import check_scale
from darc.registry import scorer
from darc.types import Message, Prompt
from darc.typing import Array

TOP = 20
BEST = 10.0
LEAST_MASS = 0.5
FIRST_TOKENS = 8
CODE_LENGTH = 16
SOURCES = ("judge.py", "judge.toml", "../../language/data_files.py")
TOLD = read_toml(Path(__file__).with_name("judge.toml"))


class Unreadable(DarcError):
    """A judging model said something else than what it was asked for."""


@scorer("judge", "MODEL@URL")
class Judge(ChatUser):
    """Grades from 0 to 10 by a language model on a server.

    One call an answer, at temperature 0. Where the server gives log-probabilities the grade is
    their mean over the digits, else the number that the model says; without a number it is asked
    once more, and then it is an error. The answer stands between markers that it cannot close. The
    embedded model does not keep to the task and is refused; in Python any chat model may be given.
    """

    bounds = (0.0, BEST)
    # Whose grades they are, by which criteria, and how the model is asked.
    view: str = ""
    criteria: tuple[str, ...] = ()
    temperature, seed, top, again = 0.0, 0, TOP, TOLD["again"]

    def __init__(
        self,
        model: ChatModel | str,
        *,
        name: str = "",
        location: float | None = None,
        scale: float | None = None,
        max_tokens: int = 16,
        key_env: str = KEY_ENV,
        timeout: float = 120.0,
        concurrency: int = 16,
    ) -> None:
        if isinstance(model, str) and model in EMBEDDED:
            raise InputError("the embedded model is too small to judge", "write judge:MODEL@URL")
        super().__init__(model, key_env=key_env, timeout=timeout, concurrency=concurrency)
        self.batch_size = 1 if self.remote else 16
        self.max_tokens = max_tokens
        self.version = f"{self.served} {max_tokens} {source_version(*SOURCES)}"
        self.name = name or f"judge:{self.model.name}"
        checked = check_scale(self.name, location, scale, self.bounds)
        self.location = checked.location
        self.scale = checked.scale

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One grade a pair, (n,), all calls in one batch."""
        asked = [rating(*pair, self.view, self.criteria) for pair in pairs]
        replies = self.model.complete(self._requests(asked))
        again = self._requests(self._again(asked, replies))
        return self._graded(replies, self.model.complete(again))

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """`score`, awaited; for a model on a server."""
        assert isinstance(self.model, OpenAIModel)
        ask = self.model.complete_async
        asked = [rating(*pair, self.view, self.criteria) for pair in pairs]
        replies = await ask(self._requests(asked))
        again = self._requests(self._again(asked, replies))
        return self._graded(replies, await ask(again))

    def _again(
        self, asked: Sequence[Sequence[Message]], replies: Sequence[Completion]
    ) -> list[Sequence[Message]]:
        """The conversations in which no grade can be read, with another question for it."""
        return [
            (*turns, Message("assistant", reply.text), Message("user", self.again))
            for turns, reply in zip(asked, replies, strict=True)
            if self.read(reply) is None
        ]

    def _graded(self, replies: Sequence[Completion], again: Sequence[Completion]) -> Array:
        """The grades of replies, or of those to the second question."""
        found, second = [self.read(reply) for reply in replies], [self.read(each) for each in again]
        if None in second:
            raise self._unreadable(again[second.index(None)], "number")
        rest = iter(second)
        return np.array([next(rest) if grade is None else grade for grade in found], np.float64)

    def read(self, reply: Completion) -> float | tuple[float, ...] | None:
        """The grade in a reply, or one for each criterion, None where there is none."""
        if self.criteria:
            return grades_in(reply.text, self.criteria)
        # Of draws it counts what is said, not what was likely.
        grade = None if self.temperature else expected_grade(reply.alternatives)
        return grade_in(reply.text) if grade is None else grade

    def compare(self, prompt: Prompt, left: str, right: str) -> float:
        """The probability that `left` is better, the mean over both orders of the two answers."""
        odds = []
        asked = [comparison(prompt, left, right), comparison(prompt, right, left)]
        for reply in self.model.complete(self._requests(asked)):
            first = first_is_better(reply.alternatives, reply.text)
            if first is None:
                raise self._unreadable(reply, "letter")
            odds.append(first)
        return (odds[0] + 1.0 - odds[1]) / 2.0

    def _requests(self, conversations: Sequence[Sequence[Message]]) -> list[Request]:
        top = self.top if self.remote else 0
        return [
            Request(turns, self.max_tokens, self.temperature, top_p=1.0, seed=self.seed, top=top)
            for turns in conversations
        ]

    def _unreadable(self, reply: Completion, wanted: str) -> Unreadable:
        text = reply.text.strip()[:80]
        return Unreadable(
            f"{self.name} said {text!r} where a {wanted} was asked for",
            "raise max_tokens if the model thinks aloud, or take another model",
        )


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
    lines = [f"{name}: NUMBER" for name in criteria]
    return "\n".join([TOLD["reply_lines"], *lines]) if lines else str(TOLD["reply_number"])


def comparison(prompt: Prompt, first: str, second: str) -> tuple[Message, ...]:
    """The conversation that asks for the better of two answers."""
    material = delimited({"CONVERSATION": _turns(prompt), "ANSWER A": first, "ANSWER B": second})
    asked = f"{material}\n\n{TOLD['ask_letter']}"
    return Message("system", TOLD["compare"]), Message("user", asked)


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


_NUMBER = re.compile(r"(?<![\d.,-])(?:10(?:\.0+)?|\d(?:\.\d+)?)(?![\d]|[.,]\d)")
_LINE = re.compile(r"\s*(?P<name>.*?)\s*:\s*(?P<grade>10(?:\.0+)?|\d(?:\.\d+)?)\s*")
_LETTER = re.compile(r"\b[AB]\b")
GRADES = frozenset(map(str, range(11)))

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


def expected_grade(places: Places) -> float | None:
    """The mean grade by the probabilities of the first place where a grade is likely.

    `places` are the log-probabilities of the likeliest tokens, a mapping a token that was said;
    tokens that are no grade count for nothing. Where "10" is no token of its own, "1" stands for 1
    and 10: if it was said, the next place shares it out; if not, it goes to the one that is nearer
    to the mean of the other grades. None where no place has half its probability on grades.
    """
    index, likely = first_likely(places, GRADES)
    odds = {int(grade): p for grade, p in likely.items()}

    def mean() -> float:
        return math.fsum(grade * p for grade, p in odds.items()) / math.fsum(odds.values())

    if 1 in odds and 10 not in odds:
        one, place = odds.pop(1), places[index]
        if bare(max(place, key=lambda token: place[token])) == "1" or not odds:
            following = places[index + 1] if index + 1 < len(places) else {}
            zero = math.fsum(math.exp(log) for token, log in following.items() if token[:1] == "0")
            ten = min(zero, 1.0)
        else:
            ten = float(mean() > 5.5)
        odds |= {1: one * (1.0 - ten), 10: one * ten}
    return mean() if odds else None


def bare(token: str) -> str:
    """A token without the space that tokenizers put before words, however they write it."""
    return token.strip(" \t\n▁Ġ")


def first_likely(places: Places, texts: Collection[str]) -> tuple[int, dict[str, float]]:
    """The first place that has half its probability on some texts, and theirs; empty without."""
    for index, place in enumerate(places[:FIRST_TOKENS]):
        odds: dict[str, float] = {}
        for token, log in place.items():
            if (text := bare(token)) in texts:
                odds[text] = odds.get(text, 0.0) + math.exp(log)
        if math.fsum(odds.values()) >= LEAST_MASS:
            return index, odds
    return 0, {}


def first_is_better(places: Places, text: str) -> float | None:
    """The probability of A against B, where they are likely first, else by a lone letter."""
    _, odds = first_likely(places, ("A", "B"))
    if odds:
        return odds.get("A", 0.0) / math.fsum(odds.values())
    letter = _LETTER.search(without_thoughts(text) or "")
    return float(letter[0] == "A") if letter else None
