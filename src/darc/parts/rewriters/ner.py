"""Named entities found by a token-classification model."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from darc.models.transformers import Checkpoint
from darc.models.transformers.loading import TOKENS

# Windows of a long text overlap by one of so many parts.
_OVERLAP_PARTS = 4


def entity_finder(
    model: str, *, dtype: str = "auto", device: str = "auto"
) -> Callable[[str], Sequence[str]]:
    """Make a function that finds the named entities of a text, for the filters of rewrites.

    Args:
        model: A hub name or a folder. The model is loaded at the first text.
        dtype: The type of the weights; see `Checkpoint`.
        device: The device; see `Checkpoint`.

    Returns:
        A function from a text to its entities as they stand in it. A text longer than the model's
        context is read in windows that overlap by a quarter.
    """
    checkpoint = Checkpoint(model, TOKENS, dtype=dtype, device=device)

    @cache
    def load_pipeline() -> Any:
        from transformers import pipeline

        loaded = checkpoint.loaded
        windows = {}
        if loaded.context is not None:
            loaded.tokenizer.model_max_length = loaded.context
            windows["stride"] = loaded.context // _OVERLAP_PARTS
        return pipeline(
            "token-classification",
            model=loaded.model,
            tokenizer=loaded.tokenizer,
            device=loaded.device,
            aggregation_strategy="simple",
            **windows,
        )

    def find_entities(text: str) -> Sequence[str]:
        if not text.strip():
            return []
        return [text[span["start"] : span["end"]].strip() for span in load_pipeline()(text)]

    return find_entities
