"""transformers: `model.generate(..., custom_generate=best_of(tokenizer))`."""

from collections.abc import Callable
from typing import Any

from darc.engine.engine import Engine
from darc.parts.generators.inputs import as_prompt
from darc.types import Candidate


def best_of(tokenizer: Any, k: int = 8, **options: Any) -> Callable[..., Any]:
    """Make a decoding method for `generate`, which returns the sample that DARC chooses.

    The tokens before the samples are the question, without special tokens. The settings of
    `generate`, such as max_new_tokens and temperature, hold for every sample.

    Args:
        tokenizer: The model's tokenizer.
        k: The number of samples per prompt.
        options: Options of `Engine`.

    Returns:
        The decoding method; it gives one row per prompt.
    """
    engine = Engine(**options)

    def decode(model: Any, input_ids: Any, generation_config: Any, **arguments: Any) -> Any:
        import torch

        samples = model.generate(
            input_ids=input_ids,
            attention_mask=arguments.get("attention_mask"),
            generation_config=_sampling_settings(generation_config, k),
            logits_processor=_brought_by_caller(arguments.get("logits_processor")),
            stopping_criteria=_brought_by_caller(arguments.get("stopping_criteria")),
        )
        samples = samples.view(input_ids.shape[0], k, -1)
        prompt_length = input_ids.shape[1]
        chosen = []
        for prompt_ids, rows in zip(input_ids, samples, strict=True):
            prompt = as_prompt(tokenizer.decode(prompt_ids, skip_special_tokens=True))
            texts = tokenizer.batch_decode(rows[:, prompt_length:], skip_special_tokens=True)
            candidates = [Candidate(prompt.id, index, text) for index, text in enumerate(texts)]
            chosen.append(rows[engine.choose(prompt, candidates).place])
        return torch.stack(chosen)

    return decode


def _sampling_settings(generation_config: Any, k: int) -> Any:
    """The caller's settings, for k samples."""
    settings = generation_config.to_dict()
    # They were turned into lengths already.
    settings.pop("max_new_tokens", None)
    settings.pop("min_new_tokens", None)
    settings |= {
        "do_sample": True,
        "num_return_sequences": k,
        "return_dict_in_generate": False,
        "max_length": generation_config.max_length,
    }
    return type(generation_config).from_dict(settings)


def _brought_by_caller(processors: Any) -> Any:
    """The processors that the caller brought; `generate` makes those of its settings again."""
    brought = [
        processor
        for processor in processors or ()
        if not type(processor).__module__.startswith("transformers.")
    ]
    if not brought:
        return None
    return type(processors)(brought)
