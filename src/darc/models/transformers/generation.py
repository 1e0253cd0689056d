"""Conversations continued by a causal language model."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from darc.errors import InputError
from darc.models.completion import Completion, Report, Request
from darc.models.transformers.batching import batches_by_length, pad_batch, prompt_ids
from darc.models.transformers.loading import CAUSAL, Checkpoint, Loaded
from darc.models.transformers.sampling import Sampler, StoppingRule
from darc.registry import Makers

MODELS = Makers("model", "darc.models")


@MODELS.register("transformers", "MODEL")
class TransformersModel:
    """A causal language model that answers several requests at a time.

    Requests are sorted by length and padded on the left. A request's text depends on its
    conversation, settings and seed alone, not on the requests beside it, as far as rounding lets
    it: a batch of another shape may round a logit differently, which shows where two tokens are
    as good as tied. One call runs at a time.

    Args:
        text: A hub name, a folder, a GGUF file, or "embedded".
        batch_size: How many requests to answer at a time.
        base: The base model of an adapter.
        dtype: fp32, bf16 or auto.
        device: A torch device, or auto.

    Raises:
        InputError: There is no such model, or the batch size is below 1.
        MissingExtra: A library that it needs is not installed.
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
        """Complete conversations.

        Args:
            requests: The conversations.
            report: Called with how many are done, and how many there are.

        Returns:
            One completion per request, in their order.

        Raises:
            InputError: A prompt is too long, or a token limit is below 1.
        """
        if not requests:
            return []
        completions: dict[int, Completion] = {}
        with self._lock:
            loaded = self.checkpoint.loaded
            prompts = [prompt_ids(loaded.tokenizer, request.messages) for request in requests]
            for prompt, request in zip(prompts, requests, strict=True):
                _check_lengths(loaded, prompt, request)
            lengths = [len(prompt) for prompt in prompts]
            for places in batches_by_length(lengths, sys.maxsize, max_rows=self.batch_size):
                batch = _complete_batch(
                    loaded, [prompts[i] for i in places], [requests[i] for i in places]
                )
                completions.update(zip(places.tolist(), batch, strict=True))
                if report is not None:
                    report(len(completions), len(requests))
        return [completions[place] for place in range(len(requests))]

    def close(self) -> None:
        """Free the model's memory; the next `complete` loads it again."""
        self.checkpoint.close()


def _check_lengths(loaded: Loaded, prompt: Sequence[int], request: Request) -> None:
    if request.max_tokens < 1:
        raise InputError(f"max_tokens is {request.max_tokens}", "give at least 1")
    if loaded.context is not None and len(prompt) >= loaded.context:
        raise InputError(
            f"a prompt has {len(prompt)} tokens and the model takes {loaded.context}", "shorten it"
        )


def end_tokens(loaded: Loaded) -> list[int]:
    """The tokens that end an answer, by the model's settings and by its tokenizer."""
    configured = loaded.model.generation_config.eos_token_id
    tokens = set(configured if isinstance(configured, list) else [configured])
    tokens.add(loaded.tokenizer.eos_token_id)
    return sorted(token for token in tokens if token is not None)


def _complete_batch(
    loaded: Loaded, prompts: Sequence[Sequence[int]], requests: Sequence[Request]
) -> list[Completion]:
    """Continue a batch of prompts, each by its own request; one forward pass per step for all."""
    from transformers import GenerationConfig

    limits = [
        _token_limit(loaded, prompt, request)
        for prompt, request in zip(prompts, requests, strict=True)
    ]
    ends = end_tokens(loaded)
    padding = loaded.model.config.pad_token_id
    batch = pad_batch(prompts, padding, loaded.device, left=True)
    sampler = Sampler(requests, loaded.device)
    stopping = StoppingRule(requests, limits, loaded.tokenizer)
    with _without_own_settings(loaded.model):
        ids = loaded.model.generate(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            generation_config=GenerationConfig(
                max_new_tokens=max(limits),
                do_sample=False,
                eos_token_id=ends or None,
                pad_token_id=padding,
            ),
            logits_processor=[sampler],
            stopping_criteria=[stopping],
        )
    answers = ids[:, batch["input_ids"].shape[1] :].tolist()
    log_probabilities = sampler.log_probabilities
    completions = []
    for place, request in enumerate(requests):
        row = answers[place][: stopping.lengths[place]]
        tokens = list(takewhile(lambda token: token not in ends, row))
        ended = len(tokens) < len(row) or stopping.stopped[place]
        log_likelihood = None
        if tokens:
            log_likelihood = float(log_probabilities[place, : len(tokens)].mean())
        completions.append(
            Completion(
                text=_cut_at_stop(decode(loaded.tokenizer, tokens), request.stop),
                tokens=len(tokens),
                truncated=not ended,
                log_likelihood=log_likelihood,
            )
        )
    return completions


def _token_limit(loaded: Loaded, prompt: Sequence[int], request: Request) -> int:
    """The most tokens of an answer: as requested, and as many as the model takes."""
    if loaded.context is None:
        return request.max_tokens
    return min(request.max_tokens, loaded.context - len(prompt))


@contextmanager
def _without_own_settings(model: Any) -> Iterator[None]:
    """Put the model's own settings aside; repetition penalties would change what is sampled."""
    from transformers import GenerationConfig

    own_settings = model.generation_config
    model.generation_config = GenerationConfig()
    try:
        yield
    finally:
        model.generation_config = own_settings


def _cut_at_stop(text: str, stops: Sequence[str]) -> str:
    for stop in stops:
        text = text.split(stop, 1)[0]
    return text


def decode(tokenizer: Any, ids: Sequence[int]) -> str:
    """Tokens as text, without special tokens."""
    return str(tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))
