"""transformers: `model.generate(..., custom_generate=best_of(tokenizer))`."""

from collections.abc import Callable
from typing import Any

from darc.engine.engine import Engine
from darc.parts.generators.base import as_prompt
from darc.types import Candidate


def best_of(tokenizer: Any, k: int = 8, **options: Any) -> Callable[..., Any]:
    """A decoding method for `generate`: of `k` samples the one that DARC chooses, a row a prompt.

    The tokens before are the question, without special tokens. `options` are `Engine`'s; the
    settings of `generate`, such as max_new_tokens and temperature, hold for every sample.
    """
    engine = Engine(**options)

    def decode(model: Any, input_ids: Any, generation_config: Any, **given: Any) -> Any:
        import torch

        mask = given.get("attention_mask")
        settings = generation_config.to_dict() | {"do_sample": True, "num_return_sequences": k}
        settings |= {"return_dict_in_generate": False, "max_length": generation_config.max_length}
        for name in ("max_new_tokens", "min_new_tokens"):
            settings.pop(name, None)
        made = model.generate(
            input_ids=input_ids,
            attention_mask=mask,
            generation_config=type(generation_config).from_dict(settings),
            logits_processor=_own(given.get("logits_processor")),
            stopping_criteria=_own(given.get("stopping_criteria")),
        )
        length = input_ids.shape[1]
        rows = made.view(input_ids.shape[0], k, -1)
        chosen = []
        for asked, samples in zip(input_ids, rows, strict=True):
            prompt = as_prompt(tokenizer.decode(asked, skip_special_tokens=True))
            texts = tokenizer.batch_decode(samples[:, length:], skip_special_tokens=True)
            candidates = [Candidate(prompt.id, place, text) for place, text in enumerate(texts)]
            chosen.append(samples[engine.choose(prompt, candidates).place])
        return torch.stack(chosen)

    return decode


def _own(given: Any) -> Any:
    """What the caller brought; what `generate` made of its settings it makes again."""
    kept = [each for each in given or () if not type(each).__module__.startswith("transformers.")]
    return type(given)(kept) if kept else None
