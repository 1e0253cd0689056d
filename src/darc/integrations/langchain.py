"""LangChain: a chat model that answers several times and gives the answer that DARC chooses."""

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from darc.engine.engine import Engine
from darc.types import Message, Prompt

_ROLES = {"human": "user", "ai": "assistant", "system": "system"}


class BestOfRunnable(Runnable[Any, AIMessage]):
    """A Runnable that asks a chat model several times and returns one answer.

    The message's `response_metadata["darc"]` says which answer it is and why. Answers without text,
    such as calls of tools, are not compared: the first of them is returned.

    Args:
        model: The chat model.
        k: How often to ask it.
        options: Options of `Engine`.
    """

    def __init__(self, model: BaseChatModel, k: int = 8, **options: Any) -> None:
        self.model = model
        self.k = k
        self.engine = Engine(**options)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AIMessage:
        """Return the chosen answer."""
        answers = self.model.batch([input] * self.k, config, **kwargs)
        return self.engine.run(self._choose(input, answers))

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AIMessage:
        """`invoke`, awaited."""
        answers = await self.model.abatch([input] * self.k, config, **kwargs)
        return await asyncio.to_thread(self.engine.run, self._choose(input, answers))

    async def _choose(self, question: Any, answers: Sequence[AIMessage]) -> AIMessage:
        texts = [str(answer.text) for answer in answers]
        if not all(text.strip() for text in texts):
            return answers[0]
        prompt = as_prompt(self.model._convert_input(question).to_messages())
        outcome = await self.engine.choose_async(prompt, texts)
        chosen = answers[outcome.place]
        reason = {"index": outcome.place, "explanation": outcome.explain()}
        metadata = {**chosen.response_metadata, "darc": reason}
        return chosen.model_copy(update={"response_metadata": metadata})


def as_prompt(messages: Sequence[BaseMessage]) -> Prompt:
    """Turn LangChain's messages into a prompt; parts that are not text are left out.

    Args:
        messages: The messages.

    Returns:
        The prompt.
    """
    texts = [
        Message(_ROLES[message.type], str(message.text))
        for message in messages
        if message.type in _ROLES and str(message.text).strip()
    ]
    return Prompt("question", tuple(texts))
