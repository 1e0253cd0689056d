"""Conversations as token numbers, in batches of similar length."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.types import Message

#: What stands after every message for a model without a chat template.
MESSAGE_SEPARATOR = "\n\n"
#: Tokens per pass on a CPU, which gets no faster beyond, while rows differ more in length.
CPU_BATCH_TOKENS = 4096


def prompt_ids(tokenizer: Any, messages: Sequence[Message]) -> list[int]:
    """Tokenize a conversation up to where the answer begins.

    Args:
        tokenizer: The tokenizer. Without a chat template messages are joined by empty lines.
        messages: The conversation.

    Returns:
        The token numbers.
    """
    if not tokenizer.chat_template:
        text = "".join(message.content + MESSAGE_SEPARATOR for message in messages)
        return list(tokenizer(text)["input_ids"])
    return tokenize(tokenizer, apply_template(tokenizer, messages, answered=False))


def apply_template(tokenizer: Any, messages: Sequence[Message], answered: bool) -> str:
    """Write a conversation as the model's chat template does.

    Args:
        tokenizer: The tokenizer, which has a chat template.
        messages: The conversation.
        answered: Whether the last message is the answer; otherwise one begins at the end.

    Returns:
        The text.

    Raises:
        InputError: The template does not accept the conversation.
    """
    from jinja2 import TemplateError

    turns = [{"role": message.role, "content": message.content} for message in messages]
    try:
        text = tokenizer.apply_chat_template(
            turns, add_generation_prompt=not answered, tokenize=False
        )
    except TemplateError as problem:
        raise InputError(
            f"the model's chat template refuses the conversation: {problem}",
            "use the roles that it knows",
        ) from None
    return str(text)


def tokenize(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text, without any that the tokenizer would add at its ends."""
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def batches_by_length(
    lengths: Sequence[int], max_tokens: int, prefix: int = 0, max_rows: int | None = None
) -> Iterator[NDArray[np.int64]]:
    """Divide rows into batches of similar length, the shortest first.

    Rows of one length keep their order, so the batches depend on the lengths alone.

    Args:
        lengths: The number of tokens of each row.
        max_tokens: The most tokens of a batch with its padding. A longer row is a batch of its own.
        prefix: How many tokens stand in front of every row, which count too.
        max_rows: The most rows of a batch.

    Yields:
        The places of the rows of each batch.
    """
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    for place, row in enumerate(order):
        rows = place - start + 1
        too_many_tokens = rows * (prefix + lengths[row]) > max_tokens
        too_many_rows = max_rows is not None and rows > max_rows
        if rows > 1 and (too_many_tokens or too_many_rows):
            yield order[start:place]
            start = place
    if start < len(order):
        yield order[start:]


def pad_batch(
    rows: Sequence[Sequence[int]], padding: int, device: Any, left: bool
) -> dict[str, Any]:
    """Pad rows of tokens to one length.

    Args:
        rows: The token numbers.
        padding: The padding token.
        device: Where the tensors go.
        left: Whether to pad on the left; otherwise on the right.

    Returns:
        Token numbers, attention mask and positions, of shape (rows, longest) each.
    """
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), padding, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for place, row in enumerate(rows):
        start = longest - len(row) if left else 0
        span = slice(start, start + len(row))
        ids[place, span] = torch.tensor(row, dtype=torch.long)
        mask[place, span] = 1
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return {
        "input_ids": ids.to(device),
        "attention_mask": mask.to(device),
        "position_ids": positions.to(device),
    }
