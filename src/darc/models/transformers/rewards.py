"""Raw outputs of sequence-classification models for answered conversations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from darc.models.transformers.batching import by_length, padded
from darc.models.transformers.chat import templated, tokens
from darc.models.transformers.loading import Loaded
from darc.types import Message

Array = NDArray[np.float64]


def encoded(
    tokenizer: Any, messages: Sequence[Message], answer: str, limit: int
) -> dict[str, list[int]]:
    """The token numbers of an answered conversation, at most `limit` of them.

    With a chat template a longer conversation loses its middle: the first quarter of the limit
    stays (where the question begins) and the last three quarters (the end of the answer with what
    closes it, where the model looks). Without one, the last question and the answer are a pair of
    texts, of which the longer loses its end; the result has the tokens' types too, where the
    tokenizer gives them.
    """
    if tokenizer.chat_template:
        turns = [*messages, Message("assistant", answer)]
        ids = tokens(tokenizer, templated(tokenizer, turns, answered=True))
        return {"input_ids": middle_cut(ids, limit)}
    question = next((m.content for m in reversed(messages) if m.role == "user"), "")
    pair = tokenizer(question, answer, truncation=True, max_length=limit)
    return {key: pair[key] for key in ("input_ids", "token_type_ids") if key in pair}


def middle_cut(ids: list[int], limit: int) -> list[int]:
    """At most `limit` of the numbers: the first quarter of the limit and the last ones."""
    if len(ids) <= limit:
        return ids
    head = limit // 4
    return ids[:head] + ids[len(ids) - (limit - head) :]


def logits(loaded: Loaded, rows: Sequence[dict[str, list[int]]], batch_size: int) -> Array:
    """Raw outputs, (n, labels), in the order of the rows; rows of similar length go together."""
    result = np.empty((len(rows), int(loaded.model.config.num_labels)))
    for places in by_length([len(row["input_ids"]) for row in rows], batch_size):
        result[places] = forward(loaded, [rows[i] for i in places])
    return result


def hidden(loaded: Loaded, rows: Sequence[dict[str, list[int]]], batch_size: int) -> Array:
    """The last layer's states, (n, d): of the last token for a decoder, of the first otherwise."""
    parts: dict[int, Array] = {}
    first = "token_type_ids" in rows[0] if rows else False
    for places in by_length([len(row["input_ids"]) for row in rows], batch_size):
        own = [rows[i] for i in places]
        with torch.inference_mode():
            given = loaded.model(**batch_of(loaded, own), output_hidden_states=True)
        states = given.hidden_states[-1].double().cpu()
        for number, (place, row) in enumerate(zip(places, own, strict=True)):
            at = 0 if first else len(row["input_ids"]) - 1
            parts[int(place)] = np.asarray(states[number, at])
    return np.array([parts[place] for place in range(len(rows))])


def forward(loaded: Loaded, rows: Sequence[dict[str, list[int]]]) -> Array:
    """Raw outputs of one batch, (rows, labels), padded on the right to the longest."""
    with torch.inference_mode():
        return np.asarray(loaded.model(**batch_of(loaded, rows)).logits.double().cpu())


def batch_of(loaded: Loaded, rows: Sequence[dict[str, list[int]]]) -> dict[str, Any]:
    """The model's input for a batch."""
    pad = loaded.model.config.pad_token_id
    batch = padded([row["input_ids"] for row in rows], pad, loaded.device, left=False)
    # Encoders count positions by themselves, and not all of them from 0.
    del batch["position_ids"]
    if "token_type_ids" in rows[0]:
        kinds = [row["token_type_ids"] for row in rows]
        batch["token_type_ids"] = padded(kinds, 0, loaded.device, left=False)["input_ids"]
    return batch
