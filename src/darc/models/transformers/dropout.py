"""Switching on the dropout of a model, to see how sure it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

# Attention modules keep their dropout rate as a number and apply it themselves.
_ATTENTION_ATTRIBUTES = ("attention_dropout", "dropout_prob")


class DropoutRate(NamedTuple):
    """A place in a model that has a dropout rate."""

    module: Any
    attribute: str
    rate: float


def dropout_rates(model: Any) -> list[DropoutRate]:
    """Every place in a model that has a dropout rate."""
    rates = []
    for module in model.modules():
        attributes: tuple[str, ...] = _ATTENTION_ATTRIBUTES
        if isinstance(module, torch.nn.modules.dropout._DropoutNd):
            attributes = ("p",)
        for attribute in attributes:
            rate = getattr(module, attribute, None)
            if isinstance(rate, int | float):
                rates.append(DropoutRate(module, attribute, float(rate)))
    return rates


@contextmanager
def dropout(model: Any, seed: int, rate: float | None) -> Iterator[None]:
    """Switch a model's dropout on; afterwards the model and torch's random state are as before.

    Args:
        model: The model.
        seed: The seed of what is dropped.
        rate: The rate everywhere; None for the model's own rates.
    """
    own_rates = dropout_rates(model)
    was_training = model.training
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            if rate is not None:
                for place in own_rates:
                    setattr(place.module, place.attribute, rate)
            model.train()
            yield
        finally:
            model.train(was_training)
            for place in own_rates:
                setattr(place.module, place.attribute, place.rate)
