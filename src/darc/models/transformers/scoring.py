"""What models say of given answers: log-probabilities, rewards, hidden states."""

import inspect
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import torch

from darc.models.transformers.batching import (
    apply_template,
    batches_by_length,
    pad_batch,
    tokenize,
)
from darc.models.transformers.loading import Loaded
from darc.models.transformers.prefix_cache import RowGroups, below_adapter, forward_passes
from darc.types import Message
from darc.typing import Array

#: The tokens of a prompt and of its answer.
AnsweredPrompt = tuple[list[int], list[int]]
#: A model's input for one row: "input_ids", and "token_type_ids" of a pair of texts.
Row = dict[str, list[int]]

# Logits held at once, in numbers: 256 MB in fp32, and as much again while they are summed.
_MAX_LOGITS = 64_000_000


def token_sums(loaded: Loaded, rows: Sequence[AnsweredPrompt], max_tokens: int) -> list[float]:
    """The log-probability of answers given their prompts, summed over their tokens.

    Rows share a forward pass as far as the memory for their logits allows.

    Args:
        loaded: A causal model.
        rows: The tokens of prompts and answers.
        max_tokens: The most tokens of a pass.

    Returns:
        One sum per row; an answer without tokens sums to 0.
    """
    sums = [0.0] * len(rows)
    answered = [place for place, (_, answer) in enumerate(rows) if answer]
    prompts = [rows[place][0] for place in answered]
    answers = [rows[place][1] for place in answered]
    longest_answer = max(map(len, answers), default=0)
    vocabulary = int(loaded.model.config.vocab_size)
    max_rows = max(1, _MAX_LOGITS // ((longest_answer + 1) * vocabulary))
    row_groups = RowGroups(
        rows=[[*prompt, *answer] for prompt, answer in zip(prompts, answers, strict=True)],
        groups=[tuple(prompt) for prompt in prompts],
        # The prompt's last token predicts the answer's first.
        max_prefixes=[len(prompt) - 1 for prompt in prompts],
    )
    for places, batch in forward_passes(loaded, row_groups, max_tokens, max_rows):
        lengths = [len(answers[i]) for i in places]
        if batch is None:
            whole_rows = [row_groups.rows[i] for i in places]
            log_probabilities = _log_probabilities(loaded, whole_rows, max(lengths))
            spans = [slice(-length, None) for length in lengths]
        else:
            log_probabilities = _token_log_probabilities(loaded, batch, slice(0, -1))
            spans = [slice(0, length) for length in lengths]
        for i, logs, span in zip(places, log_probabilities, spans, strict=True):
            sums[answered[i]] = float(logs[span].sum())
    return sums


def _log_probabilities(loaded: Loaded, rows: Sequence[list[int]], longest_answer: int) -> Any:
    """The log-probabilities of the last tokens of rows, which end at the right edge."""
    batch = pad_batch(rows, loaded.model.config.pad_token_id, loaded.device, left=True)
    positions = min(longest_answer + 1, batch["input_ids"].shape[1])
    # Logits of the prompts are not looked at; not every architecture can leave them out.
    batch |= {"logits_to_keep": positions, "use_cache": False}
    parameters = inspect.signature(below_adapter(loaded.model).forward).parameters
    supported = {name: value for name, value in batch.items() if name in parameters}
    return _token_log_probabilities(loaded, supported, slice(-positions, -1))


def _token_log_probabilities(loaded: Loaded, batch: dict[str, Any], predicting: slice) -> Any:
    """The log-probabilities of the tokens that follow some positions, shape (rows, positions)."""
    with torch.inference_mode():
        logits = loaded.model(**batch).logits[:, predicting].float()
        following = batch["input_ids"][:, -logits.shape[1] :]
        chosen_logits = logits.gather(-1, following[..., None])[..., 0]
        return (chosen_logits - logits.logsumexp(-1)).double().cpu()


def fit_to_limit(prompt: list[int], answer: list[int], limit: int) -> AnsweredPrompt:
    """Cut a prompt and its answer to a number of tokens.

    Args:
        prompt: The prompt's tokens, which lose their beginning but keep half the limit.
        answer: The answer's tokens, which then lose their end.
        limit: The most tokens of both.

    Returns:
        The tokens of both.
    """
    room = max(limit - len(answer), limit // 2)
    if len(prompt) > room:
        prompt = prompt[-room:]
    return prompt, answer[: limit - len(prompt)]


def encode_answer(tokenizer: Any, messages: Sequence[Message], answer: str, limit: int) -> Row:
    """Tokenize an answered conversation.

    Args:
        tokenizer: The tokenizer. With a chat template a conversation that is too long loses its
            middle: the first quarter of the limit stays (where the question begins) and the last
            three quarters (the end of the answer with what closes it, where the model looks).
            Without one, the last question and the answer are a pair of texts, of which the longer
            loses its end.
        messages: The conversation.
        answer: The answer.
        limit: The most tokens.

    Returns:
        The token numbers, and the tokens' types if the tokenizer gives them.
    """
    if tokenizer.chat_template:
        turns = [*messages, Message("assistant", answer)]
        ids = tokenize(tokenizer, apply_template(tokenizer, turns, answered=True))
        return {"input_ids": cut_middle(ids, limit)}
    questions = [message.content for message in messages if message.role == "user"]
    question = questions[-1] if questions else ""
    pair = tokenizer(question, answer, truncation=True, max_length=limit)
    return {key: pair[key] for key in ("input_ids", "token_type_ids") if key in pair}


def cut_middle(ids: list[int], limit: int) -> list[int]:
    """At most `limit` of the numbers: the first quarter of the limit and the last ones."""
    if len(ids) <= limit:
        return ids
    head = limit // 4
    tail = limit - head
    return ids[:head] + ids[len(ids) - tail :]


def logits(
    loaded: Loaded, rows: Sequence[Row], max_tokens: int, groups: Sequence[Hashable]
) -> Array:
    """The outputs of a sequence classifier; a decoder reads once what a group begins with.

    Args:
        loaded: The model.
        rows: The rows.
        max_tokens: The most tokens of a pass.
        groups: The group of each row.

    Returns:
        Raw outputs in the order of the rows, shape (n, labels).
    """
    outputs = np.empty((len(rows), int(loaded.model.config.num_labels)))
    padding = loaded.model.config.pad_token_id
    row_groups = RowGroups(
        rows=[row["input_ids"] for row in rows],
        groups=groups,
        max_prefixes=[_max_prefix(row, padding) for row in rows],
    )
    for places, batch in forward_passes(loaded, row_groups, max_tokens):
        outputs[places] = forward(loaded, [rows[i] for i in places], batch)
    return outputs


def _max_prefix(row: Row, padding: int) -> int:
    """How many tokens of a row a prefix may cover.

    Decoders look at the last token but padding, which the end of a turn may serve as. Encoders have
    no prefix.
    """
    if "token_type_ids" in row:
        return 0
    places = [place for place, token in enumerate(row["input_ids"]) if token != padding]
    return max(places, default=0)


def hidden_states(loaded: Loaded, rows: Sequence[Row], max_tokens: int) -> Array:
    """The last layer's states of rows.

    Args:
        loaded: The model.
        rows: The rows.
        max_tokens: The most tokens of a pass.

    Returns:
        States, shape (n, d): of the last token for a decoder, of the first otherwise.
    """
    states = np.empty((len(rows), int(loaded.model.config.hidden_size)))
    for places in batches_by_length([len(row["input_ids"]) for row in rows], max_tokens):
        batch_rows = [rows[i] for i in places]
        with torch.inference_mode():
            output = loaded.model(**make_batch(loaded, batch_rows), output_hidden_states=True)
        positions = [_state_position(row) for row in batch_rows]
        last_layer = output.hidden_states[-1]
        states[places] = last_layer[range(len(batch_rows)), positions].double().cpu()
    return states


def _state_position(row: Row) -> int:
    if "token_type_ids" in row:
        return 0
    return len(row["input_ids"]) - 1


def forward(loaded: Loaded, rows: Sequence[Row], batch: dict[str, Any] | None = None) -> Array:
    """The outputs of one pass over rows.

    Args:
        loaded: The model.
        rows: The rows.
        batch: The model's input, if the rows continue a prefix.

    Returns:
        Raw outputs, shape (rows, labels).
    """
    if batch is None:
        batch = make_batch(loaded, rows)
    with torch.inference_mode():
        output = loaded.model(**batch)
    return np.asarray(output.logits.double().cpu())


def make_batch(loaded: Loaded, rows: Sequence[Row]) -> dict[str, Any]:
    """The model's input for rows, padded on the right."""
    padding = loaded.model.config.pad_token_id
    batch = pad_batch([row["input_ids"] for row in rows], padding, loaded.device, left=False)
    # Encoders count positions by themselves, and not all of them from 0.
    del batch["position_ids"]
    if "token_type_ids" in rows[0]:
        types = [row["token_type_ids"] for row in rows]
        batch["token_type_ids"] = pad_batch(types, 0, loaded.device, left=False)["input_ids"]
    return batch
