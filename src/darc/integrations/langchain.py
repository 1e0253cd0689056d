"""LangChain: a chat model that answers several times and gives the answer that DARC chooses."""

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from darc.engine.engine import Engine
from darc.types import Message, Prompt

ROLES = {"human": "user", "ai": "assistant", "system": "system"}


class BestOfRunnable(Runnable[Any, AIMessage]):
    """A Runnable that asks `model` `k` times and returns one answer; `options` are `Engine`'s.

    The message's `response_metadata["darc"]` says which candidate it is and why. Answers without
    text, such as calls of tools, are not compared: the first of them is returned.
    """

    def __init__(self, model: BaseChatModel, k: int = 8, **options: Any) -> None:
        self.model, self.k = model, k
        self.engine = Engine(**options)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """The chosen answer."""
        answers = self.model.batch([input] * self.k, config, **kwargs)
        return self.engine.run(self._chosen(input, answers))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """`invoke`, awaited."""
        answers = await self.model.abatch([input] * self.k, config, **kwargs)
        return await asyncio.to_thread(self.engine.run, self._chosen(input, answers))

    async def _chosen(self, given: Any, answers: Sequence[AIMessage]) -> AIMessage:
        texts = [str(answer.text) for answer in answers]
        if not all(text.strip() for text in texts):
            return answers[0]
        prompt = as_prompt(self.model._convert_input(given).to_messages())
        outcome = await self.engine.choose_async(prompt, texts)
        chosen = answers[outcome.index]
        about = {"index": outcome.index, "explanation": outcome.explain()}
        return chosen.model_copy(
            update={"response_metadata": {**chosen.response_metadata, "darc": about}}
        )


def as_prompt(messages: Sequence[BaseMessage]) -> Prompt:
    """LangChain's messages as a prompt; parts that are no text are left out."""
    kept = [
        Message(ROLES[each.type], str(each.text))
        for each in messages
        if each.type in ROLES and str(each.text).strip()
    ]
    return Prompt("question", tuple(kept))
