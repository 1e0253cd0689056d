"""Conversations continued by a causal language model, every row by its own dice.

Sampling is Gumbel-max inside greedy decoding: the token with the largest logit + Gumbel noise is a
draw from the softmax. With the noise of a row from its own seed, a row's text does not depend on
the rows beside it.
"""

import copy
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from darc.errors import InputError
from darc.models.completion import Completion, Report, Request
from darc.models.transformers.batching import by_tokens, padded, prompt_ids
from darc.models.transformers.loading import CAUSAL, Checkpoint, Loaded
from darc.registry import Makers

MODELS = Makers("model", "darc.models")


@MODELS.register("transformers", "MODEL")
class TransformersModel:
    """A causal language model that answers `batch_size` requests at a time.

    Requests are sorted by length and padded on the left. A request's text depends on its
    conversation, settings and seed alone, not on the requests beside it, as far as rounding lets
    it: a batch of another shape may round a logit differently, which shows where two tokens are
    as good as tied. One call runs at a time.
    """

    def __init__(
        self,
        text: str,
        *,
        batch_size: int = 16,
        base: str = "",
        dtype: str = "auto",
        device: str = "auto",
    ) -> None:
        if batch_size < 1:
            raise InputError(f"batch_size is {batch_size}", "give at least 1")
        self.name = f"transformers:{text}"
        self.checkpoint = Checkpoint(text, CAUSAL, base=base, dtype=dtype, device=device)
        self.batch_size = batch_size
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """A hash of the weights and the number format."""
        return self.checkpoint.version

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""
        if not requests:
            return []
        result = dict[int, Completion]()
        with self._lock:
            loaded = self.checkpoint.loaded
            prompts = [prompt_ids(loaded.tokenizer, request.messages) for request in requests]
            for prompt, request in zip(prompts, requests, strict=True):
                if request.max_tokens < 1:
                    raise InputError(f"max_tokens is {request.max_tokens}", "give at least 1")
                if len(prompt) >= (loaded.context or sys.maxsize):
                    told = f"a prompt has {len(prompt)} tokens and the model takes {loaded.context}"
                    raise InputError(told, "shorten it")
            for places in by_tokens(list(map(len, prompts)), sys.maxsize, rows=self.batch_size):
                rows = write(loaded, [prompts[i] for i in places], [requests[i] for i in places])
                result.update(zip(places.tolist(), rows, strict=True))
                if report is not None:
                    report(len(result), len(requests))
        return [result[place] for place in range(len(requests))]

    def close(self) -> None:
        """Free the model's memory; the next `complete` loads it again."""
        self.checkpoint.close()


class Sampler:
    """A logits processor for greedy decoding: temperature, top-p, then each row's noise.

    Remembers the log-probability, at temperature 1, of the token that every row takes: one number
    a row and step instead of the vocabulary's. Draws V numbers a row and step.
    """

    def __init__(self, requests: Sequence[Request], device: Any) -> None:
        import torch

        heat = torch.tensor([request.temperature for request in requests], dtype=torch.float32)
        self._greedy = (heat == 0)[:, None].to(device)
        self._temperature = torch.where(heat == 0, 1.0, heat)[:, None].to(device)
        shares = [1.0 if request.temperature == 0 else request.top_p for request in requests]
        self._top_p = torch.tensor(shares, dtype=torch.float32)[:, None].to(device)
        self._dice = [torch.Generator().manual_seed(request.seed) for request in requests]
        self._taken: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores (rows, V) whose largest entry in each row is the token to take."""
        import torch

        # Standard Gumbel noise, drawn on the CPU everywhere.
        noise = torch.empty(scores.shape, dtype=torch.float64)
        for row, own in zip(noise, self._dice, strict=True):
            row.exponential_(generator=own)
        noise = noise.log_().neg_().float().to(scores.device)
        noised = nucleus(scores / self._temperature, self._top_p)
        noised = noised + torch.where(self._greedy, 0.0, noise)
        taken = noised.argmax(-1, keepdim=True)
        logs = scores.gather(-1, taken) - scores.logsumexp(-1, keepdim=True)
        self._taken.append(logs[:, 0].double().cpu())
        return noised

    @property
    def log_probabilities(self) -> Any:
        """Of the tokens taken so far, (rows, steps)."""
        import torch

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


class Ending:
    """A stopping criterion: a row ends at its own token limit or after one of its stop strings."""

    def __init__(self, requests: Sequence[Request], limits: Sequence[int], tokenizer: Any) -> None:
        self._rows = list(zip(requests, limits, strict=True))
        self._tokenizer = tokenizer
        self._count = 0
        self._ended = [False] * len(requests)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Whether each row is done, (rows,)."""
        import torch

        self._count += 1
        for place, (request, limit) in enumerate(self._rows):
            self._ended[place] = (
                self._ended[place]
                or self._count >= limit
                or has_stop(self._tokenizer, input_ids[place, -self._count :], request.stop)
            )
        return torch.tensor(self._ended, device=input_ids.device)


def has_stop(tokenizer: Any, ids: Any, stops: Sequence[str]) -> bool:
    """Whether one of the strings is in what the tokens say."""
    text = tokenizer.decode(ids) if stops else ""
    return any(stop in text for stop in stops)


def end_tokens(loaded: Loaded) -> list[int]:
    """The tokens that end an answer, by the model's settings and by its tokenizer."""
    given = loaded.model.generation_config.eos_token_id
    ends = set(given if isinstance(given, list) else [given]) | {loaded.tokenizer.eos_token_id}
    return sorted(end for end in ends if end is not None)


def write(
    loaded: Loaded, prompts: Sequence[Sequence[int]], requests: Sequence[Request]
) -> list[Completion]:
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
) -> Completion:
    """A row of tokens, cut before its end token and before the first stop string."""
    count = next((place for place, token in enumerate(row) if token in ends), len(row))
    truncated = count == len(row)
    # Up to the first whole stop string.
    for short in range(1, count + 1) if request.stop else ():
        if has_stop(tokenizer, row[:short], request.stop):
            count, truncated = short, False
            break
    text = decoded(tokenizer, row[:count])
    for stop in request.stop:
        text = text.split(stop, 1)[0]
    mean = float(logs[:count].mean()) if count else None
    return Completion(text, count, truncated, mean)


def decoded(tokenizer: Any, ids: Sequence[int]) -> str:
    """Tokens as text, without special tokens."""
    return str(tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))


@dataclass
class LookaheadPrefix:
    """What was `read` so far, the prompt first: the cache over it and what may follow.

    `logs` (V,) are the log-probabilities of the next token at temperature 1; `forwarded` counts
    the tokens that went through the model for this prefix and its rollouts.
    """

    loaded: Loaded
    cache: Any = None
    logs: Any = None
    forwarded: int = 0

    def likeliest(self, k: int) -> tuple[list[int], list[float]]:
        """The k likeliest next tokens, the likeliest first, and their log-probabilities."""
        values, ids = self.logs.topk(min(k, self.logs.shape[-1]))
        return ids.tolist(), values.double().tolist()

    def rollouts(self, first: Sequence[int], steps: int, ends: Sequence[int]) -> list[list[int]]:
        """Each first token with its greedy continuation of at most `steps` tokens.

        One batch for all, on a copy of the cache; a rollout stops at an end token, which is not
        part of it.
        """
        rows = [[token] for token in first]
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(len(first))
        for _ in range(steps):
            if all(set(ends).intersection(row) for row in rows):
                break
            out = self._forward([row[-1:] for row in rows], cache)
            cache = out.past_key_values
            for row, token in zip(rows, out.logits[:, -1].argmax(-1).tolist(), strict=True):
                row.append(token)
        return [list(takewhile(lambda token: token not in ends, row)) for row in rows]

    def read(self, tokens: Sequence[int]) -> None:
        """Put tokens behind the prefix; one forward pass over them."""
        out = self._forward([list(tokens)], self.cache)
        self.cache, self.logs = out.past_key_values, out.logits[0, -1].float().log_softmax(-1)

    def _forward(self, rows: Sequence[Sequence[int]], cache: Any) -> Any:
        import torch

        ids = torch.tensor(rows, device=self.loaded.device)
        self.forwarded += ids.numel()
        with torch.inference_mode():
            return self.loaded.model(input_ids=ids, past_key_values=cache, use_cache=True)
