"""How likely a causal language model finds given answers, by teacher forcing."""

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from darc.models.transformers.batching import by_tokens, padded
from darc.models.transformers.loading import Loaded
from darc.models.transformers.prefix import Prefix, below_adapter, grouped

# Logits held at once, in numbers: 256 MB in fp32, and as much again while they are summed.
MOST_LOGITS = 64_000_000

Row = tuple[list[int], list[int]]


def token_sums(loaded: Loaded, rows: Sequence[Row], most: int) -> list[float]:
    """The log-probability of each answer given its prompt, summed over its tokens, (n,).

    `rows` are the tokens of prompts and answers; an answer without tokens sums to 0. Rows of
    similar length share a forward pass, at most `most` tokens with their padding and as many as
    the memory for their logits allows. A prompt that several rows have is read once.
    """
    sums = [0.0] * len(rows)
    vocabulary = int(loaded.model.config.vocab_size)
    longest = max((len(answer) for _, answer in rows), default=0) + 1
    at_once = max(1, MOST_LOGITS // (longest * vocabulary))
    alone: list[int] = []
    answered = [place for place, (_, answer) in enumerate(rows) if answer]
    for group in grouped([tuple(rows[place][0]) for place in answered]):
        places = [answered[i] for i in group]
        whole = [[*rows[i][0], *rows[i][1]] for i in places]
        # The prompt's last token predicts the answer's first.
        prefix = Prefix.common(loaded, whole, len(rows[places[0]][0]) - 1)
        if prefix is None:
            alone += places
            continue
        lengths = [len(row) - prefix.length for row in whole]
        for own in by_tokens(lengths, most, prefix.length, at_once):
            taken = _taken(loaded, prefix.follow([whole[i] for i in own]), slice(0, -1))
            for i, logs in zip(own, taken, strict=True):
                sums[places[i]] = float(logs[: len(rows[places[i]][1])].sum())
    for own in by_tokens([len(rows[i][0]) + len(rows[i][1]) for i in alone], most, 0, at_once):
        batch = [rows[alone[i]] for i in own]
        for i, total in zip(own, _batch(loaded, batch), strict=True):
            sums[alone[i]] = total
    return sums


def _batch(loaded: Loaded, rows: Sequence[Row]) -> list[float]:
    """The sums of one batch; padded on the left, so that all answers end at the right edge."""
    whole = [[*prompt, *answer] for prompt, answer in rows]
    batch = padded(whole, loaded.model.config.pad_token_id, loaded.device, left=True)
    keep = min(max(len(answer) for _, answer in rows) + 1, batch["input_ids"].shape[1])
    # Logits of the prompts are not looked at; not every architecture can leave them out.
    known = inspect.signature(below_adapter(loaded.model).forward).parameters
    options = {"logits_to_keep": keep, "use_cache": False, **batch}
    options = {name: value for name, value in options.items() if name in known}
    taken = _taken(loaded, options, slice(-keep, -1))
    return [float(taken[i, taken.shape[1] - len(rows[i][1]) :].sum()) for i in range(len(rows))]


def _taken(loaded: Loaded, batch: dict[str, Any], places: slice) -> Any:
    """The log-probabilities of the tokens behind some places of a batch, (rows, places)."""
    with torch.inference_mode():
        logits = loaded.model(**batch).logits[:, places].float()
        next_ids = batch["input_ids"][:, -logits.shape[1] :]
        taken = logits.gather(-1, next_ids[..., None])[..., 0] - logits.logsumexp(-1)
    return taken.double().cpu()


def fit(prompt: list[int], answer: list[int], limit: int) -> Row:
    """A prompt and its answer in at most `limit` tokens.

    The prompt loses its beginning, but keeps half the limit; then the answer loses its end.
    """
    most = max(limit - len(answer), limit // 2)
    kept = prompt[-most:] if len(prompt) > most else prompt
    return kept, answer[: limit - len(kept)]
