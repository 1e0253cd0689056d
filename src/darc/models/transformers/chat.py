"""Conversations as token numbers."""

from collections.abc import Sequence
from typing import Any

from darc.errors import InputError
from darc.types import Message

BETWEEN = "\n\n"


def prompt_ids(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """The tokens of a conversation up to where the answer begins.

    By the tokenizer's chat template; without one the messages are joined by empty lines.
    """
    if not tokenizer.chat_template:
        text = "".join(message.content + BETWEEN for message in messages)
        return list(tokenizer(text)["input_ids"])
    return tokens(tokenizer, templated(tokenizer, messages, answered=False))


def answer_ids(tokenizer: Any, answer: str) -> list[int]:
    """The tokens of an answer on its own, to be put behind those of its prompt."""
    return tokens(tokenizer, answer)


def templated(tokenizer: Any, messages: Sequence[Message], answered: bool) -> str:
    """A conversation as the chat template writes it; `answered` says that its answer is there."""
    from jinja2 import TemplateError

    turns = [{"role": message.role, "content": message.content} for message in messages]
    try:
        return str(
            tokenizer.apply_chat_template(turns, add_generation_prompt=not answered, tokenize=False)
        )
    except TemplateError as problem:
        raise InputError(
            f"the model's chat template refuses the conversation: {problem}",
            "use the roles that it knows",
        ) from None


def tokens(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text, without any that the tokenizer would add at its ends."""
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
