"""What rows begin with, computed once: a cache of keys and values that they all continue."""

import copy
import inspect
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from darc.models.transformers.batching import padded
from darc.models.transformers.loading import Loaded

# Tokens spared, from which on the pass over the prefix alone pays.
LEAST_SPARED = 128
# How far the last states with and without the cache may be apart, as a share of their length.
ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-4}
COARSE_ROUNDING = 0.05


@dataclass(frozen=True)
class Prefix:
    """The cache over the first `length` tokens of all rows that are to follow."""

    loaded: Loaded
    cache: Any
    length: int

    @classmethod
    def common(cls, loaded: Loaded, rows: Sequence[list[int]], longest: int) -> "Prefix | None":
        """What the rows have in common, at most `longest` tokens; None where rows go alone.

        That is where it would spare too little, and where the model does not continue a cache to
        the same numbers. Whether it does is tried on the first rows, and again on the first with
        more in common than a sliding window holds.
        """
        length = min(in_common(rows), longest)
        if length * (len(rows) - 1) < LEAST_SPARED:
            return None
        if False in loaded.continues.values() or not takes_cache(loaded.model):
            return None
        ids = torch.tensor([rows[0][:length]], device=loaded.device)
        with torch.inference_mode():
            read = below_adapter(loaded.model).base_model(input_ids=ids, use_cache=True)
        prefix = cls(loaded, getattr(read, "past_key_values", None), length)
        beyond = any(length >= window for window in windows(prefix.cache))
        if beyond not in loaded.continues:
            loaded.continues[beyond] = holds_keys(prefix.cache) and prefix.agrees(rows)
        return prefix if loaded.continues[beyond] else None

    def follow(self, rows: Sequence[list[int]]) -> dict[str, Any]:
        """The model's input for the rows' tokens behind the prefix, padded on the right."""
        pad = self.loaded.model.config.pad_token_id
        batch = padded([row[self.length :] for row in rows], pad, self.loaded.device, left=False)
        seen = batch["attention_mask"].new_ones((len(rows), self.length))
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(len(rows))
        return {
            "input_ids": batch["input_ids"],
            "attention_mask": torch.cat([seen, batch["attention_mask"]], dim=1),
            "past_key_values": cache,
            "use_cache": True,
        }

    def agrees(self, rows: Sequence[list[int]]) -> bool:
        """Whether the shortest and the longest row end in the states of a pass without a cache."""
        tried = [min(rows, key=len), max(rows, key=len)]
        core = below_adapter(self.loaded.model).base_model
        try:
            with torch.inference_mode():
                followed = core(**self.follow(tried)).last_hidden_state.double()
                for row, states in zip(tried, followed, strict=True):
                    ids = torch.tensor([row], device=self.loaded.device)
                    plain = core(input_ids=ids, use_cache=False).last_hidden_state[0, -1].double()
                    error = (states[len(row) - self.length - 1] - plain).norm() / plain.norm()
                    if not error <= ROUNDING.get(self.loaded.model.dtype, COARSE_ROUNDING):
                        return False
        except Exception:  # every model has errors of its own for a cache that it cannot continue
            return False
        return True


def takes_cache(model: Any) -> bool:
    """Whether a model, by its declaration, is a decoder that goes on from keys and values."""
    inner = below_adapter(model)
    known = inspect.signature(inner.forward).parameters
    adapter = getattr(model, "active_peft_config", None)
    return (
        not model.training
        and not inner.config.is_encoder_decoder
        # Such adapters put tokens of their own in front.
        and not getattr(adapter, "is_prompt_learning", False)
        and {"past_key_values", "use_cache", "attention_mask"} <= set(known)
    )


def holds_keys(cache: Any) -> bool:
    """Whether a cache holds keys and values alone, no states that a padding token would change."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    layers = getattr(cache, "layers", ())
    return bool(layers) and all(
        type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers
    )


def windows(cache: Any) -> set[int]:
    """The lengths of the cache's sliding windows."""
    sizes = (getattr(layer, "sliding_window", None) for layer in getattr(cache, "layers", ()))
    return {size for size in sizes if size}


def below_adapter(model: Any) -> Any:
    """The model below an adapter."""
    below = getattr(model, "get_base_model", None)
    return below() if below is not None else model


def in_common(rows: Sequence[list[int]]) -> int:
    """How many tokens all rows begin with; the first and the last in order differ soonest."""
    first, last = min(rows), max(rows)
    pairs = enumerate(zip(first, last, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(last)))


def grouped(keys: Sequence[Hashable]) -> list[list[int]]:
    """The places of equal keys, in the order in which the keys come first."""
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    return list(groups.values())
