"""The losses: what each form means, and how TRL is told of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.errors import InputError, UnknownName
from darc.typing import Array

FORMS = ("dpo", "cdpo", "sup", "unbiased")
NOISE = 0.10


@dataclass(frozen=True)
class Loss:
    """A loss of z = beta Delta, the difference of the implicit rewards of chosen and rejected.

    `dpo` is softplus(-z); `cdpo` softplus(-z) + noise z, label smoothing; `unbiased`
    softplus(-z) - noise z / (1 - 2 noise), unbiased under labels flipped with that probability and
    unbounded below; `sup` softplus(-z) + noise max(z, 0), the worst case over smoothing of up to
    the noise.
    """

    form: str
    noise: float = NOISE

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownName("form", self.form, FORMS)
        if self.form != "dpo" and not 0.0 <= self.noise < 0.5:
            raise InputError(
                f"the noise of {self.form} is {self.noise:g}: with half of the labels wrong there "
                "is nothing to learn",
                "give --noise 0 or more, below 0.5",
            )

    def value(self, z: Array, probability: Array | float = 1.0) -> Array:
        """The loss of each z, in its shape; `probability` is that of the label being right.

        With probability p the loss is p L(z) + (1 - p) L(-z), which adds (1 - p) times a multiple
        of z in every form.
        """
        base = np.logaddexp(0.0, -z)
        added = {
            "dpo": np.zeros_like(z),
            "cdpo": self.noise * z,
            "unbiased": -self.noise * z / (1.0 - 2.0 * self.noise),
            "sup": self.noise * np.maximum(z, 0.0),
        }[self.form]
        return np.asarray(base + added + self.slope * (1.0 - probability) * z)

    @property
    def slope(self) -> float:
        """(L(-z) - L(z)) / z, a constant in every form."""
        return {
            "dpo": 1.0,
            "cdpo": 1.0 - 2.0 * self.noise,
            "unbiased": 1.0 / (1.0 - 2.0 * self.noise),
            "sup": 1.0 - self.noise,
        }[self.form]

    @property
    def ceiling(self) -> float:
        """The factor of max(z, 0) that has to be added to TRL's own loss; 0 but for `sup`."""
        return self.noise if self.form == "sup" else 0.0

    def settings(self) -> dict[str, Any]:
        """What TRL's configuration is given; the rest, if any, is added by the trainer.

        TRL has no smoothed sigmoid loss any more: `label_smoothing` counts for its robust loss R
        alone. cDPO is 2 (1 - noise) S - (1 - 2 noise) R, S being the sigmoid loss.
        """
        if self.form == "cdpo":
            return {
                "loss_type": ["sigmoid", "robust"],
                "loss_weights": [2.0 * (1.0 - self.noise), -(1.0 - 2.0 * self.noise)],
                "label_smoothing": self.noise,
            }
        if self.form == "unbiased":
            return {"loss_type": ["robust"], "label_smoothing": self.noise}
        return {"loss_type": ["sigmoid"]}
