"""A judge that sees all answers of a prompt at once and grades each of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from darc.models.completion import ChatModel, Completion, Request
from darc.models.remote.openai import OpenAIModel
from darc.parts.scorers import grades, judge_prompts
from darc.parts.scorers.base import source_version
from darc.parts.scorers.grades import MAX_GRADE
from darc.parts.scorers.judge import JudgeTask, PanelJudge, Unreadable
from darc.types import Message, Prompt
from darc.typing import Array

#: What the list of grades is called where there are no criteria.
GRADES = "grades"
_SOURCES = ("list_judge.py",)
# Tokens of a reply besides its numbers, and of a number with what separates it from the next.
_TOKENS_OF_FORM = 24
_TOKENS_PER_NUMBER = 4
# Longer lists of answers are graded in several calls. A model in this process has a small context.
_MAX_CHARACTERS = 60_000
_MAX_CHARACTERS_LOCAL = 6_000
_MAX_ANSWERS = 20


class ListJudge(PanelJudge):
    """A judge that grades all answers of a prompt in one call, for one rater of a panel."""

    def __init__(self, model: ChatModel, task: JudgeTask, *, is_reversed: bool = False) -> None:
        """Prepare a judge; nothing is asked yet.

        Args:
            model: The model that judges.
            task: What it does.
            is_reversed: Whether it sees the answers in reverse order.
        """
        super().__init__(model, task)
        self.is_reversed = is_reversed
        self.version = f"{self.version} {is_reversed} {source_version(*_SOURCES)}"

    @property
    def needs_first_call(self) -> bool:
        """Whether the first call to the model has still to show which requests it understands."""
        return isinstance(self.model, OpenAIModel) and not self.model.knows_schema_support

    def parts(self, texts: Sequence[str]) -> list[list[str]]:
        """Divide answers into lists that can be graded in one call each; mostly it is one list."""
        max_characters = _MAX_CHARACTERS if self.remote else _MAX_CHARACTERS_LOCAL
        total = sum(len(text) for text in texts)
        calls = max(-(-len(texts) // _MAX_ANSWERS), -(-total // max_characters), 1)
        size = max(1, -(-len(texts) // calls))
        return [list(texts[start : start + size]) for start in range(0, len(texts), size)]

    def grade_list(
        self, prompt: Prompt, texts: Sequence[str], *, unreadable_reply: str | None = None
    ) -> Array:
        """Grade answers in one call.

        Args:
            prompt: The conversation that the answers belong to.
            texts: The answers.
            unreadable_reply: What the model replied before, where it is asked again.

        Returns:
            Grades of shape (texts, criteria), with one column if there are no criteria.

        Raises:
            Unreadable: If the reply does not have one grade per answer.
        """
        request = self._list_request(prompt, texts, unreadable_reply)
        return self._read_list(self.model.complete([request])[0], len(texts))

    async def grade_list_async(
        self,
        prompt: Prompt,
        texts: Sequence[str],
        *,
        unreadable_reply: str | None = None,
        retry: bool = True,
    ) -> Array:
        """`grade_list`, awaited, by a model on a server.

        Without `retry` a call that fails is not tried again.
        """
        assert isinstance(self.model, OpenAIModel)
        request = self._list_request(prompt, texts, unreadable_reply)
        replies = await self.model.complete_async([request], retry=retry)
        return self._read_list(replies[0], len(texts))

    @property
    def _list_names(self) -> tuple[str, ...]:
        return self.criteria or (GRADES,)

    def _list_request(
        self, prompt: Prompt, texts: Sequence[str], unreadable_reply: str | None
    ) -> Request:
        names = self._list_names
        shown_texts = list(texts)
        if self.is_reversed:
            shown_texts.reverse()
        messages = judge_prompts.list_messages(prompt, shown_texts, self.view, names)
        if unreadable_reply is not None:
            form = judge_prompts.list_instructions(names, len(texts))
            messages = (
                *messages,
                Message("assistant", unreadable_reply),
                Message("user", form),
            )
        numbers = len(texts) * len(names)
        tokens = _TOKENS_OF_FORM * len(names) + _TOKENS_PER_NUMBER * numbers
        return Request(
            messages=messages,
            max_tokens=max(self.max_tokens, tokens),
            temperature=self.temperature,
            top_p=1.0,
            seed=self.seed,
            log_probabilities=False,
            schema=grade_schema(names, len(texts)),
        )

    def _read_list(self, reply: Completion, count: int) -> Array:
        lists = grades.grade_lists(reply.text, self._list_names, count)
        if lists is None:
            text = reply.text.strip()[:80]
            raise UnreadableList(
                f"{self.name} said {text!r} where {count} grades were asked for",
                "raise max_tokens if the model thinks aloud, take another model, or "
                "--panel-mode separate",
                reply=reply.text,
            )
        values = np.array(lists, dtype=np.float64).T
        if self.is_reversed:
            values = values[::-1]
        return np.ascontiguousarray(values)


class UnreadableList(Unreadable):
    """A judging model did not reply with one grade per answer."""

    def __init__(self, message: str, hint: str, *, reply: str) -> None:
        super().__init__(message, hint)
        #: What the model replied.
        self.reply = reply


def grade_schema(names: Sequence[str], count: int) -> Mapping[str, Any]:
    """The JSON schema of a reply with one list of grades per name.

    Args:
        names: The names of the lists.
        count: How many grades each list has.

    Returns:
        The schema of an object.
    """
    grade = {"type": "integer", "minimum": 0, "maximum": int(MAX_GRADE)}
    grade_list = {"type": "array", "items": grade, "minItems": count, "maxItems": count}
    return {
        "type": "object",
        "properties": dict.fromkeys(names, grade_list),
        "required": list(names),
        "additionalProperties": False,
    }
