"""Named entities found by a token-classification model."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from darc.models.transformers import Checkpoint
from darc.models.transformers.loading import TOKENS

SHARE = 4


def entity_finder(
    model: str, *, dtype: str = "auto", device: str = "auto"
) -> Callable[[str], Sequence[str]]:
    """What finds the named entities of a text, as they stand in it, for the filters' hook.

    The model, a hub name or a folder, is loaded at the first text. A text longer than the model's
    context is read in windows that overlap by a quarter.
    """
    checkpoint = Checkpoint(model, TOKENS, dtype=dtype, device=device)

    @cache
    def reader() -> Any:
        from transformers import pipeline

        loaded = checkpoint.loaded
        windows = {}
        if loaded.context is not None:
            loaded.tokenizer.model_max_length = loaded.context
            windows = {"stride": loaded.context // SHARE}
        return pipeline(
            "token-classification",
            model=loaded.model,
            tokenizer=loaded.tokenizer,
            device=loaded.device,
            aggregation_strategy="simple",
            **windows,
        )

    def find(text: str) -> Sequence[str]:
        found = reader()(text) if text.strip() else []
        return [text[part["start"] : part["end"]].strip() for part in found]

    return find
