"""A batch of conversations continued by a causal language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from darc.models.completion import Request
from darc.models.transformers.batching import padded
from darc.models.transformers.loading import Loaded
from darc.models.transformers.sampling import Ending, Sampler


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
