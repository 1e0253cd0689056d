"""A batch of conversations continued by a causal language model, every row by its own dice.

Sampling is Gumbel-max inside greedy decoding: the token with the largest logit + Gumbel noise is a
draw from the softmax. With the noise of a row from its own seed, a row's text does not depend on
the rows beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from darc.models.completion import Request
from darc.models.transformers.batching import padded
from darc.models.transformers.loading import Loaded


class Sampler:
    """A logits processor for greedy decoding: temperature, top-p, then each row's noise.

    Remembers the log-probability, at temperature 1, of the token that every row takes: one number
    a row and step instead of the vocabulary's. Draws V numbers a row and step.
    """

    def __init__(self, requests: Sequence[Request], device: Any) -> None:
        heat = torch.tensor([request.temperature for request in requests], dtype=torch.float32)
        self._greedy = (heat == 0)[:, None].to(device)
        self._temperature = torch.where(heat == 0, 1.0, heat)[:, None].to(device)
        shares = [1.0 if request.temperature == 0 else request.top_p for request in requests]
        self._top_p = torch.tensor(shares, dtype=torch.float32)[:, None].to(device)
        self._dice = [torch.Generator().manual_seed(request.seed) for request in requests]
        self._taken: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores (rows, V) whose largest entry in each row is the token to take."""
        noised = nucleus(scores / self._temperature, self._top_p)
        noise = gumbel(self._dice, scores.shape[-1]).to(scores.device)
        noised = noised + torch.where(self._greedy, 0.0, noise)
        taken = noised.argmax(-1, keepdim=True)
        logs = scores.gather(-1, taken) - scores.logsumexp(-1, keepdim=True)
        self._taken.append(logs[:, 0].double().cpu())
        return noised

    @property
    def log_probabilities(self) -> Any:
        """Of the tokens taken so far, (rows, steps)."""
        return torch.stack(self._taken, dim=1)


def nucleus(scores: Any, top_p: Any) -> Any:
    """Scores (rows, V) with -inf outside the smallest likeliest set of mass `top_p` (rows, 1)."""
    if bool((top_p >= 1).all()):
        return scores
    sorted_scores, order = scores.sort(descending=True, dim=-1)
    shares = sorted_scores.softmax(-1)
    before = shares.cumsum(-1) - shares
    outside = (before >= top_p) & (top_p < 1)
    outside[:, 0] = False
    return scores.masked_fill(outside.scatter(-1, order, outside), float("-inf"))


def gumbel(dice: Sequence[Any], size: int) -> Any:
    """Standard Gumbel noise, (rows, size); row i is drawn from `dice[i]`, on the CPU everywhere."""
    noise = torch.empty((len(dice), size), dtype=torch.float64)
    for row, own in zip(noise, dice, strict=True):
        row.exponential_(generator=own)
    return noise.log_().neg_().float()


class Ending:
    """A stopping criterion: a row ends at its own token limit or after one of its stop strings."""

    def __init__(self, requests: Sequence[Request], limits: Sequence[int], tokenizer: Any) -> None:
        self._requests = requests
        self._limits = limits
        self._tokenizer = tokenizer
        self._start: int | None = None
        self._stopped = [False] * len(requests)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Whether each row is done, (rows,)."""
        if self._start is None:
            self._start = input_ids.shape[1] - 1
        count = input_ids.shape[1] - self._start
        for place, request in enumerate(self._requests):
            if request.stop and not self._stopped[place]:
                text = self._tokenizer.decode(input_ids[place, self._start :])
                self._stopped[place] = any(stop in text for stop in request.stop)
        done = [
            stopped or count >= limit
            for stopped, limit in zip(self._stopped, self._limits, strict=True)
        ]
        return torch.tensor(done, device=input_ids.device)


@dataclass(frozen=True)
class Written:
    """What one row became: its tokens without the end token, and their log-probabilities."""

    text: str
    tokens: int
    log_likelihood: float | None
    finish_reason: str


def end_tokens(loaded: Loaded) -> list[int]:
    """The tokens that end an answer, by the model's settings and by its tokenizer."""
    given = loaded.model.generation_config.eos_token_id
    ends = set(given if isinstance(given, list) else [given]) | {loaded.tokenizer.eos_token_id}
    return sorted(end for end in ends if end is not None)


def write(
    loaded: Loaded, prompts: Sequence[Sequence[int]], requests: Sequence[Request]
) -> list[Written]:
    """Continue a batch of prompts, each by its own request; one forward pass a step for all."""
    from transformers import GenerationConfig

    limits = [
        min(request.max_tokens, (loaded.context or 10**9) - len(prompt))
        for prompt, request in zip(prompts, requests, strict=True)
    ]
    ends = end_tokens(loaded)
    batch = padded(prompts, loaded.model.config.pad_token_id, loaded.device, left=True)
    width = batch["input_ids"].shape[1]
    sampler = Sampler(requests, loaded.device)
    own = loaded.model.generation_config
    # The model's own settings (repetition penalties, say) would change what is sampled.
    loaded.model.generation_config = GenerationConfig()
    try:
        made = loaded.model.generate(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            generation_config=GenerationConfig(
                max_new_tokens=max(limits),
                do_sample=False,
                eos_token_id=ends or None,
                pad_token_id=loaded.model.config.pad_token_id,
            ),
            logits_processor=[sampler],
            stopping_criteria=[Ending(requests, limits, loaded.tokenizer)],
        )
    finally:
        loaded.model.generation_config = own
    rows, logs = made[:, width:].tolist(), sampler.log_probabilities
    return [
        finished(loaded.tokenizer, row[:limit], own_logs, ends, request)
        for row, limit, own_logs, request in zip(rows, limits, logs, requests, strict=True)
    ]


def finished(
    tokenizer: Any, row: Sequence[int], logs: Any, ends: Sequence[int], request: Request
) -> Written:
    """A row of tokens, cut before its end token and before the first stop string."""
    count = next((place for place, token in enumerate(row) if token in ends), len(row))
    reason = "stop" if count < len(row) else "length"
    if request.stop:
        count, stopped = _until_stop(tokenizer, row[:count], request.stop)
        reason = "stop" if stopped else reason
    text = decoded(tokenizer, row[:count])
    for stop in request.stop:
        text = text.split(stop, 1)[0]
    mean = float(logs[:count].mean()) if count else None
    return Written(text, count, mean, reason)


def _until_stop(tokenizer: Any, row: Sequence[int], stops: Sequence[str]) -> tuple[int, bool]:
    """How many tokens there are up to the first whole stop string, and whether there is one."""
    for count in range(1, len(row) + 1):
        text = tokenizer.decode(row[:count])
        if any(stop in text for stop in stops):
            return count, True
    return len(row), False


def decoded(tokenizer: Any, ids: Sequence[int]) -> str:
    """Tokens as text, without special tokens."""
    return str(tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))
