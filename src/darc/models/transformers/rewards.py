"""Raw outputs of sequence-classification models for conversations, with dropout on or off."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from darc.models.transformers.batching import by_tokens, padded, templated, tokens
from darc.models.transformers.loading import Loaded
from darc.models.transformers.prefix import Prefix, grouped
from darc.types import Message
from darc.typing import Array

Row = dict[str, list[int]]


def encoded(tokenizer: Any, messages: Sequence[Message], answer: str, limit: int) -> Row:
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


def logits(loaded: Loaded, rows: Sequence[Row], most: int, groups: Sequence[Hashable]) -> Array:
    """Raw outputs, (n, labels), in the order of the rows.

    Rows of similar length go together, at most `most` tokens with their padding. A decoder reads
    what the rows of a group begin with once.
    """
    result = np.empty((len(rows), int(loaded.model.config.num_labels)))
    alone: list[int] = []
    for group in grouped(groups):
        places = np.array(group)
        ids = [rows[i]["input_ids"] for i in group]
        prefix = None
        if "token_type_ids" not in rows[group[0]]:
            prefix = Prefix.common(loaded, ids, scored_place(ids, loaded.model.config.pad_token_id))
        if prefix is None:
            alone += group
            continue
        for own in by_tokens([len(row) - prefix.length for row in ids], most, prefix.length):
            result[places[own]] = outputs(loaded, prefix.follow([ids[i] for i in own]))
    for own in by_tokens([len(rows[i]["input_ids"]) for i in alone], most):
        places = np.array(alone)[own]
        result[places] = forward(loaded, [rows[i] for i in places])
    return result


def scored_place(rows: Sequence[list[int]], pad: int) -> int:
    """The first place at which a row is scored: decoders look at the last token but padding.

    A padding token may be part of a text, where the end of a turn serves as both.
    """
    return min(
        next((place for place in reversed(range(len(row))) if row[place] != pad), 0) for row in rows
    )


def hidden(loaded: Loaded, rows: Sequence[Row], most: int) -> Array:
    """The last layer's states, (n, d): of the last token for a decoder, of the first otherwise."""
    parts: dict[int, Array] = {}
    first = "token_type_ids" in rows[0] if rows else False
    for places in by_tokens([len(row["input_ids"]) for row in rows], most):
        own = [rows[i] for i in places]
        with torch.inference_mode():
            given = loaded.model(**batch_of(loaded, own), output_hidden_states=True)
        states = given.hidden_states[-1].double().cpu()
        for number, (place, row) in enumerate(zip(places, own, strict=True)):
            at = 0 if first else len(row["input_ids"]) - 1
            parts[int(place)] = np.asarray(states[number, at])
    return np.array([parts[place] for place in range(len(rows))])


def forward(loaded: Loaded, rows: Sequence[Row]) -> Array:
    """Raw outputs of one batch, (rows, labels), padded on the right to the longest."""
    return outputs(loaded, batch_of(loaded, rows))


def outputs(loaded: Loaded, batch: dict[str, Any]) -> Array:
    """Raw outputs for the model's input, (rows, labels)."""
    with torch.inference_mode():
        return np.asarray(loaded.model(**batch).logits.double().cpu())


def batch_of(loaded: Loaded, rows: Sequence[Row]) -> dict[str, Any]:
    """The model's input for a batch."""
    pad = loaded.model.config.pad_token_id
    batch = padded([row["input_ids"] for row in rows], pad, loaded.device, left=False)
    # Encoders count positions by themselves, and not all of them from 0.
    del batch["position_ids"]
    if "token_type_ids" in rows[0]:
        kinds = [row["token_type_ids"] for row in rows]
        batch["token_type_ids"] = padded(kinds, 0, loaded.device, left=False)["input_ids"]
    return batch


# Attention modules keep the rate as a number and apply it themselves.
ATTRIBUTES = ("attention_dropout", "dropout_prob")


def rates(model: Any) -> list[tuple[Any, str, float]]:
    """Every place in a model that has a dropout rate: module, attribute, rate."""
    found = []
    for module in model.modules():
        names = ("p",) if isinstance(module, torch.nn.modules.dropout._DropoutNd) else ATTRIBUTES
        found += [
            (module, name, float(getattr(module, name)))
            for name in names
            if isinstance(getattr(module, name, None), int | float)
        ]
    return found


@contextmanager
def dropout(model: Any, seed: int, rate: float | None) -> Iterator[None]:
    """Switch a model's dropout on, seeded, at its own rates or at `rate` everywhere.

    Afterwards the model and torch's random numbers are as they were.
    """
    before = rates(model)
    training = model.training
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            if rate is not None:
                for module, name, _ in before:
                    setattr(module, name, rate)
            model.train()
            yield
        finally:
            model.train(training)
            for module, name, own in before:
                setattr(module, name, own)
