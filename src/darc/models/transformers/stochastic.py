"""Forward passes with dropout switched on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

# Attention modules keep the rate as a number and apply it themselves.
ATTRIBUTES = ("attention_dropout", "dropout_prob")


def rates(model: Any) -> list[tuple[Any, str, float]]:
    """Every place in a model that has a dropout rate: module, attribute, rate."""
    found = []
    for module in model.modules():
        names = ("p",) if isinstance(module, torch.nn.modules.dropout._DropoutNd) else ATTRIBUTES
        found += [
            (module, name, float(getattr(module, name)))
            for name in names
            if isinstance(getattr(module, name, None), int | float)
        ]
    return found


@contextmanager
def dropout(model: Any, seed: int, rate: float | None) -> Iterator[None]:
    """Switch a model's dropout on, seeded, at its own rates or at `rate` everywhere.

    Afterwards the model and torch's random numbers are as they were.
    """
    before = rates(model)
    training = model.training
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            if rate is not None:
                for module, name, _ in before:
                    setattr(module, name, rate)
            model.train()
            yield
        finally:
            model.train(training)
            for module, name, own in before:
                setattr(module, name, own)
