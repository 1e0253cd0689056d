"""Reading once what the rows of a group begin with, into a cache that they all continue."""

import copy
import inspect
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from darc.models.transformers.batching import batches_by_length, pad_batch
from darc.models.transformers.loading import Loaded

# Tokens spared, from which on the pass over the prefix alone pays.
_MIN_SPARED_TOKENS = 128
# How far the last states with and without the cache may be apart, as a share of their length.
_TOLERANCES = {torch.float32: 1e-4, torch.float64: 1e-4}
_COARSE_TOLERANCE = 0.05


@dataclass(frozen=True)
class Prefix:
    """The cache over the first tokens of all rows that are to follow."""

    loaded: Loaded
    cache: Any
    #: How many tokens it covers.
    length: int

    @classmethod
    def common(cls, loaded: Loaded, rows: Sequence[list[int]], max_length: int) -> "Prefix | None":
        """Read what rows have in common.

        Whether the model continues a cache to the same numbers is tried on the first rows, and
        again on the first with more in common than a sliding window holds.

        Args:
            loaded: The model.
            rows: The tokens of each row.
            max_length: The most tokens of the prefix.

        Returns:
            The prefix; None if it would spare too little, or the model cannot continue it.
        """
        length = min(_common_length(rows), max_length)
        if length * (len(rows) - 1) < _MIN_SPARED_TOKENS:
            return None
        if False in loaded.continues.values() or not takes_cache(loaded.model):
            return None
        prefix = cls(loaded, _read_tokens(loaded, rows[0][:length]), length)
        layers = getattr(prefix.cache, "layers", ())
        windows = [getattr(layer, "sliding_window", None) for layer in layers]
        beyond_window = any(window and length >= window for window in windows)
        if beyond_window not in loaded.continues:
            loaded.continues[beyond_window] = _has_plain_layers(layers) and prefix.agrees(rows)
        if not loaded.continues[beyond_window]:
            return None
        return prefix

    def follow(self, rows: Sequence[list[int]]) -> dict[str, Any]:
        """The model's input for the rows' tokens behind the prefix, padded on the right."""
        padding = self.loaded.model.config.pad_token_id
        suffixes = [row[self.length :] for row in rows]
        batch = pad_batch(suffixes, padding, self.loaded.device, left=False)
        prefix_mask = batch["attention_mask"].new_ones((len(rows), self.length))
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(len(rows))
        return {
            "input_ids": batch["input_ids"],
            "attention_mask": torch.cat([prefix_mask, batch["attention_mask"]], dim=1),
            "past_key_values": cache,
            "use_cache": True,
        }

    def agrees(self, rows: Sequence[list[int]]) -> bool:
        """Whether the shortest and the longest row end in the states of a pass without a cache."""
        tried = [min(rows, key=len), max(rows, key=len)]
        core = below_adapter(self.loaded.model).base_model
        tolerance = _TOLERANCES.get(self.loaded.model.dtype, _COARSE_TOLERANCE)
        try:
            with torch.inference_mode():
                followed = core(**self.follow(tried)).last_hidden_state.double()
                for row, states in zip(tried, followed, strict=True):
                    ids = torch.tensor([row], device=self.loaded.device)
                    plain = core(input_ids=ids, use_cache=False).last_hidden_state[0, -1].double()
                    cached = states[len(row) - self.length - 1]
                    error = (cached - plain).norm() / plain.norm()
                    # A comparison with NaN is false.
                    if not error <= tolerance:
                        return False
        except Exception:  # every model has errors of its own for a cache that it cannot continue
            return False
        return True


def _common_length(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with alike."""
    columns = zip(*rows, strict=False)
    alike = takewhile(lambda column: len(set(column)) == 1, columns)
    return len(list(alike))


def _read_tokens(loaded: Loaded, tokens: list[int]) -> Any:
    """The cache of a pass over tokens; None if the model gives none."""
    ids = torch.tensor([tokens], device=loaded.device)
    with torch.inference_mode():
        output = below_adapter(loaded.model).base_model(input_ids=ids, use_cache=True)
    return getattr(output, "past_key_values", None)


def _has_plain_layers(layers: Sequence[Any]) -> bool:
    """Whether a cache holds keys and values alone; a padding token would change other states."""
    types = {type(layer) for layer in layers}
    return bool(types) and types <= {DynamicLayer, DynamicSlidingWindowLayer}


def takes_cache(model: Any) -> bool:
    """Whether a model, by its declaration, is a decoder that goes on from keys and values."""
    inner = below_adapter(model)
    if model.training or inner.config.is_encoder_decoder:
        return False
    # Adapters that learn a prompt put tokens of their own in front.
    adapter = getattr(model, "active_peft_config", None)
    if getattr(adapter, "is_prompt_learning", False):
        return False
    parameters = inspect.signature(inner.forward).parameters
    return {"past_key_values", "use_cache", "attention_mask"} <= set(parameters)


def below_adapter(model: Any) -> Any:
    """The model below an adapter, or the model itself."""
    get_base_model = getattr(model, "get_base_model", None)
    if get_base_model is None:
        return model
    return get_base_model()


class ForwardPass(NamedTuple):
    """A forward pass for some rows."""

    #: The places of the rows.
    places: NDArray[np.int64]
    #: The model's input behind a prefix; None for rows that go without one.
    batch: dict[str, Any] | None


@dataclass(frozen=True)
class RowGroups:
    """Rows of tokens, in groups that begin alike."""

    rows: Sequence[list[int]]
    #: The group of each row.
    groups: Sequence[Hashable]
    #: How many tokens of each row a prefix may cover at most.
    max_prefixes: Sequence[int]

    def places_by_group(self) -> list[list[int]]:
        """The places of the rows of each group."""
        places: dict[Hashable, list[int]] = {}
        for place, group in enumerate(self.groups):
            places.setdefault(group, []).append(place)
        return list(places.values())


def forward_passes(
    loaded: Loaded, rows: RowGroups, max_tokens: int, max_rows: int | None = None
) -> Iterator[ForwardPass]:
    """Plan the forward passes for rows; rows of similar length go together.

    Args:
        loaded: The model.
        rows: The rows.
        max_tokens: The most tokens of a pass with their padding.
        max_rows: The most rows of a pass.

    Yields:
        The passes.
    """
    without_prefix: list[int] = []
    for places in rows.places_by_group():
        group = [rows.rows[i] for i in places]
        prefix = Prefix.common(loaded, group, min(rows.max_prefixes[i] for i in places))
        if prefix is None:
            without_prefix += places
            continue
        lengths = [len(row) - prefix.length for row in group]
        for batch in batches_by_length(lengths, max_tokens, prefix.length, max_rows):
            yield ForwardPass(np.array(places)[batch], prefix.follow([group[i] for i in batch]))
    lengths = [len(rows.rows[i]) for i in without_prefix]
    for batch in batches_by_length(lengths, max_tokens, 0, max_rows):
        yield ForwardPass(np.array(without_prefix)[batch], None)
