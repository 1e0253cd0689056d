"""How likely a causal language model finds given answers, by teacher forcing."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from darc.models.transformers.batching import by_length, padded
from darc.models.transformers.loading import Loaded

# Logits held at once, in numbers: 256 MB in fp32, and as much again while they are summed.
MOST_LOGITS = 64_000_000

Row = tuple[Sequence[int], Sequence[int]]


def token_sums(loaded: Loaded, rows: Sequence[Row], batch_size: int) -> list[float]:
    """The log-probability of each answer given its prompt, summed over its tokens, (n,).

    `rows` are the tokens of prompts and answers; an answer without tokens sums to 0. Rows of
    similar length share a forward pass, as many as `batch_size` and the memory for their logits
    allow.
    """
    sums = [0.0] * len(rows)
    if not rows:
        return sums
    vocabulary = int(loaded.model.config.vocab_size)
    longest = max(len(answer) for _, answer in rows) + 1
    most = max(1, min(batch_size, MOST_LOGITS // (longest * vocabulary)))
    for places in by_length([len(prompt) + len(answer) for prompt, answer in rows], most):
        for place, total in zip(places, _batch(loaded, [rows[i] for i in places]), strict=True):
            sums[place] = total
    return sums


def _batch(loaded: Loaded, rows: Sequence[Row]) -> list[float]:
    """The sums of one batch; padded on the left, so that all answers end at the right edge."""
    whole = [[*prompt, *answer] for prompt, answer in rows]
    batch = padded(whole, loaded.model.config.pad_token_id, loaded.device, left=True)
    keep = min(max(len(answer) for _, answer in rows) + 1, batch["input_ids"].shape[1])
    # Logits of the prompts are not looked at; not every architecture can leave them out.
    known = inspect.signature(_inner(loaded.model).forward).parameters
    options = {"logits_to_keep": keep, "use_cache": False, **batch}
    options = {name: value for name, value in options.items() if name in known}
    with torch.inference_mode():
        logits = loaded.model(**options).logits[:, -keep:-1].float()
        next_ids = batch["input_ids"][:, -keep + 1 :]
        taken = logits.gather(-1, next_ids[..., None])[..., 0] - logits.logsumexp(-1)
    taken = taken.double().cpu()
    return [float(taken[i, taken.shape[1] - len(rows[i][1]) :].sum()) for i in range(len(rows))]


def _inner(model: Any) -> Any:
    """The model below an adapter."""
    below = getattr(model, "get_base_model", None)
    return below() if below is not None else model


def fit(prompt: Sequence[int], answer: Sequence[int], limit: int) -> Row:
    """A prompt and its answer in at most `limit` tokens.

    The prompt loses its beginning, but keeps half the limit; then the answer loses its end.
    """
    most = max(limit - len(answer), limit // 2)
    kept = prompt[-most:] if len(prompt) > most else prompt
    return kept, answer[: limit - len(kept)]
