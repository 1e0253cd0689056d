"""Conversations as token numbers, and batches of similar length, padded to rectangles."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


# Tokens in one pass: a CPU gets no faster beyond, while rows of a batch differ more in length.
ON_CPU = 4096


def by_tokens(
    lengths: Sequence[int], most: int, before: int = 0, rows: int | None = None
) -> Iterator[NDArray[np.int64]]:
    """The places of all rows, the shortest first, in batches of at most `most` padded tokens.

    `before` tokens stand in front of every row and count too. A row that is longer than that is a
    batch of its own, and no batch has more than `rows`. Rows of one length keep their order, so
    the batches depend on the lengths alone.
    """
    order = np.argsort(np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    for place, row in enumerate(order):
        count = place - start + 1
        if count > 1 and (count * (before + lengths[row]) > most or count > (rows or count)):
            yield order[start:place]
            start = place
    if start < len(order):
        yield order[start:]


def padded(rows: Sequence[Sequence[int]], pad: int, device: Any, left: bool) -> dict[str, Any]:
    """Token numbers, attention mask and positions of a batch, (rows, longest) each."""
    import torch

    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for place, row in enumerate(rows):
        span = slice(longest - len(row), longest) if left else slice(0, len(row))
        ids[place, span] = torch.tensor(row, dtype=torch.long)
        mask[place, span] = 1
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return {
        "input_ids": ids.to(device),
        "attention_mask": mask.to(device),
        "position_ids": positions.to(device),
    }
