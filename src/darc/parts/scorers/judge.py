"""The scorer `judge`: grades by a language model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.errors import DarcError, InputError
from darc.models.catalogue import DEFAULT, lookup
from darc.models.chat_models import EMBEDDED, ChatUser
from darc.models.completion import ChatModel, Completion, Request
from darc.models.remote.address import KEY_ENV
from darc.models.remote.openai import OpenAIModel
from darc.parts.scorers import grades, judge_prompts
from darc.parts.scorers.base import Pair, source_version
from darc.parts.scorers.grades import MAX_GRADE
from darc.parts.scorers.scale import check_scale
from darc.registry import scorer
from darc.types import Message, Prompt
from darc.typing import Array

SOURCES = ("judge.py", *grades.SOURCES, *judge_prompts.SOURCES)
# How many of the likeliest tokens a server is asked for.
_TOP_TOKENS = 20


class Unreadable(DarcError):
    """A judging model did not reply with what it was asked for."""


@scorer("judge", "MODEL@URL")
class Judge(ChatUser):
    """Grades from 0 to 10 by a language model on a server, or by an installed one.

    It makes one call per answer, at temperature 0. Where the model gives log-probabilities, the
    grade is their mean over the digits, otherwise the number that the model says. A model that says
    no number is asked once more, and then it is an error. The answer stands between markers that it
    cannot close. The small embedded model does not keep to the task and is refused; embedded:qwen
    judges without a server. In Python any chat model can be given.
    """

    bounds = (0.0, MAX_GRADE)
    #: The description of the reader whose grades they are; empty for a careful reader.
    view: str = ""
    #: The criteria by which there is one grade each; empty for one overall grade.
    criteria: tuple[str, ...] = ()
    #: How the model is sampled.
    temperature: float = 0.0
    seed: int = 0
    #: How many of the likeliest tokens a server is asked for; 0 if what the model says counts.
    top_tokens: int = _TOP_TOKENS
    #: What the model is told if its reply has no grade.
    ask_again: str = judge_prompts.ASK_AGAIN

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
        if isinstance(model, str) and _is_small_model(model):
            raise InputError(
                "the embedded model is too small to judge",
                "write judge:embedded:qwen or judge:MODEL@URL",
            )
        super().__init__(model, key_env=key_env, timeout=timeout, concurrency=concurrency)
        self.batch_size = 1 if self.remote else 16
        self.max_tokens = max_tokens
        self.version = f"{self.model_version} {max_tokens} {source_version(*SOURCES)}"
        self.name = name or f"judge:{self.model.name}"
        checked = check_scale(self.name, location, scale, self.bounds)
        self.location = checked.location
        self.scale = checked.scale

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Grade pairs in one batch of calls, (pairs,) or (pairs, criteria)."""
        conversations = self._rating_conversations(pairs)
        replies = self.model.complete(self._requests(conversations))
        repeated = self._repeated_conversations(conversations, replies)
        return self._read_grades(replies, self.model.complete(self._requests(repeated)))

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """Grade pairs as `score` does, by a model on a server."""
        assert isinstance(self.model, OpenAIModel)
        conversations = self._rating_conversations(pairs)
        replies = await self.model.complete_async(self._requests(conversations))
        repeated = self._repeated_conversations(conversations, replies)
        second_replies = await self.model.complete_async(self._requests(repeated))
        return self._read_grades(replies, second_replies)

    def _rating_conversations(self, pairs: Sequence[Pair]) -> list[tuple[Message, ...]]:
        return [
            judge_prompts.rating_messages(prompt, answer, self.view, self.criteria)
            for prompt, answer in pairs
        ]

    def _repeated_conversations(
        self, conversations: Sequence[Sequence[Message]], replies: Sequence[Completion]
    ) -> list[Sequence[Message]]:
        """The conversations whose reply has no grade, with a second question."""
        return [
            (*messages, Message("assistant", reply.text), Message("user", self.ask_again))
            for messages, reply in zip(conversations, replies, strict=True)
            if self.read_grade(reply) is None
        ]

    def _read_grades(
        self, replies: Sequence[Completion], second_replies: Sequence[Completion]
    ) -> Array:
        """The grades of replies, or of the replies to the second question where there is one."""
        remaining_replies = iter(second_replies)
        result: list[float | tuple[float, ...]] = []
        for reply in replies:
            grade = self.read_grade(reply)
            if grade is None:
                second_reply = next(remaining_replies)
                grade = self.read_grade(second_reply)
                if grade is None:
                    raise self._unreadable(second_reply, "number")
            result.append(grade)
        return np.array(result, np.float64)

    def read_grade(self, reply: Completion) -> float | tuple[float, ...] | None:
        """Read the grade in a reply, or one per criterion; None if there is none."""
        if self.criteria:
            return grades.grades_in_text(reply.text, self.criteria)
        if self.temperature == 0:
            grade = grades.expected_grade(reply.alternatives)
            if grade is not None:
                return grade
        # Of random draws it counts what the model said, not what was likely.
        return grades.grade_in_text(reply.text)

    def compare(self, prompt: Prompt, left: str, right: str) -> float:
        """Compute the probability that `left` is the better answer, as the mean over both orders.

        Args:
            prompt: The conversation that the answers belong to.
            left: An answer.
            right: Another answer.

        Returns:
            A probability from 0 to 1.

        Raises:
            Unreadable: If a reply names neither answer.
        """
        conversations = [
            judge_prompts.comparison_messages(prompt, left, right),
            judge_prompts.comparison_messages(prompt, right, left),
        ]
        probabilities = []
        for reply in self.model.complete(self._requests(conversations)):
            probability = grades.first_is_better(reply.alternatives, reply.text)
            if probability is None:
                raise self._unreadable(reply, "letter")
            probabilities.append(probability)
        left_first, right_first = probabilities
        return (left_first + 1.0 - right_first) / 2.0

    def _requests(self, conversations: Sequence[Sequence[Message]]) -> list[Request]:
        top_tokens = 0
        if self.remote or getattr(self.model, "gives_alternatives", False):
            top_tokens = self.top_tokens
        return [
            Request(
                messages=messages,
                max_tokens=self.max_tokens,
                temperature=self.temperature,
                top_p=1.0,
                seed=self.seed,
                top=top_tokens,
            )
            for messages in conversations
        ]

    def _unreadable(self, reply: Completion, expected: str) -> Unreadable:
        text = reply.text.strip()[:80]
        return Unreadable(
            f"{self.name} said {text!r} where a {expected} was asked for",
            "raise max_tokens if the model thinks aloud, or take another model",
        )


def _is_small_model(text: str) -> bool:
    name, _, argument = text.partition(":")
    return name in ("", EMBEDDED) and (not argument or lookup(argument).name == DEFAULT)


@dataclass(frozen=True)
class JudgeTask:
    """What a judge does for one rater of a panel."""

    #: What the judge is called in files and messages.
    name: str
    #: The largest number of tokens of a reply.
    max_tokens: int
    #: The description of the rater.
    view: str = ""
    #: The criteria by which the rater gives one grade each.
    criteria: tuple[str, ...] = ()
    #: The seed of a draw at temperature 1, if the rater is asked repeatedly; None asks at
    #: temperature 0.
    draw_seed: int | None = None


class PanelJudge(Judge):
    """A judge that grades for one rater of a panel."""

    def __init__(self, model: ChatModel, task: JudgeTask) -> None:
        """Prepare a judge; nothing is asked yet.

        Args:
            model: The model that judges.
            task: What it does.
        """
        super().__init__(model, name=task.name, max_tokens=task.max_tokens)
        self.view = task.view
        self.criteria = task.criteria
        if task.draw_seed is not None:
            self.temperature = 1.0
            self.seed = task.draw_seed
            self.top_tokens = 0
        if task.criteria:
            self.ask_again = judge_prompts.reply_instructions(task.criteria)
            self.top_tokens = 0
        settings = (self.temperature, self.seed, *task.criteria, task.view)
        self.version = f"{self.version} {settings}"
