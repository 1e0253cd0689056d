"""Grades by a language model."""

from collections.abc import Generator, Sequence

import numpy as np

from darc.errors import DarcError, InputError
from darc.models.completion import EMBEDDED, ChatModel, ChatUser, Request
from darc.models.remote import OpenAIModel, Said
from darc.models.remote.client import KEY
from darc.registry import scorer
from darc.scorers.base import Pair, source_version
from darc.scorers.callable import checked_scale
from darc.scorers.judge_dialogue import (
    BEST,
    TOLD,
    comparison,
    expected_grade,
    first_is_better,
    grade_in,
    rating,
)
from darc.types import Message, Prompt
from darc.typing import Array

TOP = 20
SOURCES = ("judge.py", "judge.toml", "judge_dialogue.py", "../language/phrases.py")


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
    temperature, seed, top, again = 0.0, 0, TOP, TOLD["again"]

    def __init__(
        self,
        model: ChatModel | str,
        *,
        name: str = "",
        location: float | None = None,
        scale: float | None = None,
        max_tokens: int = 16,
        key_env: str = KEY,
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
        self.location, self.scale, _ = checked_scale(self.name, location, scale, self.bounds)

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One grade a pair, (n,), all calls in one batch."""
        grading = self._grading(pairs)
        wanted = next(grading)
        while True:
            try:
                wanted = grading.send(self._ask(wanted))
            except StopIteration as done:
                return done.value

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """`score`, awaited; for a model on a server."""
        assert isinstance(self.model, OpenAIModel)
        grading = self._grading(pairs)
        wanted = next(grading)
        while True:
            asked = self._requests(wanted)
            replies = await self.model.remote.say(asked, self.top) if wanted else []
            try:
                wanted = grading.send(replies)
            except StopIteration as done:
                return done.value

    def _grading(
        self, pairs: Sequence[Pair]
    ) -> Generator[Sequence[Sequence[Message]], list[Said], Array]:
        """Asks for conversations to be continued, twice where no grade can be read at first."""
        asked = [self.conversation(prompt, answer) for prompt, answer in pairs]
        replies = yield asked
        found = [self.read(reply) for reply in replies]
        unread = [i for i, grade in enumerate(found) if grade is None]
        again = yield [(*asked[i], *self._reminder(replies[i])) for i in unread]
        for i, reply in zip(unread, again, strict=True):
            found[i] = self.read(reply)
            if found[i] is None:
                raise self._unreadable(reply, "number")
        return np.array(found, dtype=np.float64)

    def conversation(self, prompt: Prompt, answer: str) -> tuple[Message, ...]:
        """What the model is asked about an answer."""
        return rating(prompt, answer)

    def read(self, reply: Said) -> float | tuple[float, ...] | None:
        """The grade in a reply, None where there is none."""
        grade = expected_grade(reply.alternatives) if reply.alternatives else None
        return grade_in(reply.completion.text) if grade is None else grade

    def compare(self, prompt: Prompt, left: str, right: str) -> float:
        """The probability that `left` is better, the mean over both orders of the two answers."""
        asked = [comparison(prompt, left, right), comparison(prompt, right, left)]
        odds = []
        for reply in self._ask(asked):
            first = first_is_better(reply.alternatives, reply.completion.text)
            if first is None:
                raise self._unreadable(reply, "letter")
            odds.append(first)
        return (odds[0] + 1.0 - odds[1]) / 2.0

    def _requests(self, conversations: Sequence[Sequence[Message]]) -> list[Request]:
        return [
            Request(turns, self.max_tokens, self.temperature, top_p=1.0, seed=self.seed)
            for turns in conversations
        ]

    def _ask(self, conversations: Sequence[Sequence[Message]]) -> list[Said]:
        requests = self._requests(conversations)
        if isinstance(self.model, OpenAIModel):
            return self.model.say(requests, top=self.top)
        return [Said(completion) for completion in self.model.complete(requests)]

    def _reminder(self, reply: Said) -> tuple[Message, Message]:
        return Message("assistant", reply.completion.text), Message("user", self.again)

    def _unreadable(self, reply: Said, wanted: str) -> Unreadable:
        text = reply.completion.text.strip()[:80]
        return Unreadable(
            f"{self.name} said {text!r} where a {wanted} was asked for",
            "raise max_tokens if the model thinks aloud, or take another model",
        )
