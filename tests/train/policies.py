"""Synthetic preferences that a tiny model can learn, and how it is trained on them."""

import random
from typing import Any

import numpy as np

from darc.train.losses import Loss
from darc.train.recipe import TrainingRecipe
from darc.typing import Array

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TINY = TrainingRecipe(
    rank=8,
    alpha=16,
    dropout=0.0,
    learning_rate=5e-3,
    batch=4,
    accumulation=1,
    epochs=1.0,
    prompt_tokens=64,
    response_tokens=64,
    every=4,
)


def preferences(count: int, seed: int = 0, flipped: float = 0.0) -> list[dict[str, Any]]:
    """Answers with vowels are preferred to those without; a share of labels is the wrong way."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        good = "".join(draw.choice("aeiou") for _ in range(6))
        bad = "".join(draw.choice("bcdfg") for _ in range(6))
        if draw.random() < flipped:
            good, bad = bad, good
        asked = "".join(draw.choice(LETTERS) for _ in range(5))
        rows.append(
            {
                "prompt": [{"role": "user", "content": f"{number} {asked}?"}],
                "chosen": [{"role": "assistant", "content": good}],
                "rejected": [{"role": "assistant", "content": bad}],
            }
        )
    return rows


def loss_value(loss: Loss, z: Array, probability: Array | float = 1.0) -> Array:
    """The loss of each z by its formula; `probability` is that of the label being right."""
    base = np.logaddexp(0.0, -z)
    added = {
        "dpo": np.zeros_like(z),
        "cdpo": loss.noise * z,
        "unbiased": -loss.noise * z / (1.0 - 2.0 * loss.noise),
        "sup": loss.noise * np.maximum(z, 0.0),
    }[loss.form]
    return np.asarray(base + added + loss.slope * (1.0 - probability) * z)
