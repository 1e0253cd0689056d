"""The losses of preference training."""

from dataclasses import dataclass
from typing import Any

from darc.errors import InputError, UnknownName

FORMS = ("dpo", "cdpo", "sup", "unbiased")
NOISE = 0.10


@dataclass(frozen=True)
class Loss:
    """A loss of z = beta Delta, the difference of the implicit rewards of chosen and rejected.

    | form | L(z) | what it is |
    |---|---|---|
    | dpo | softplus(-z) | plain DPO |
    | cdpo | softplus(-z) + noise z | label smoothing |
    | unbiased | softplus(-z) - noise z / (1 - 2 noise) | unbiased under flipped labels |
    | sup | softplus(-z) + noise max(z, 0) | the worst case over smoothing of up to the noise |

    Raises:
        UnknownName: There is no such form.
        InputError: The noise is out of range.
    """

    form: str
    #: The share of labels that are wrong.
    noise: float = NOISE

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise UnknownName("form", self.form, FORMS)
        if self.form != "dpo" and not 0.0 <= self.noise < 0.5:
            raise InputError(
                f"the noise of {self.form} is {self.noise:g}: with half of the labels wrong there "
                "is nothing to learn",
                "give --label-noise 0 or more, below 0.5",
            )

    @property
    def slope(self) -> float:
        """(L(-z) - L(z)) / z, a constant in every form.

        With a label that is right with probability p the loss is p L(z) + (1 - p) L(-z), which is
        L(z) and (1 - p) times this times z.
        """
        slopes = {
            "dpo": 1.0,
            "cdpo": 1.0 - 2.0 * self.noise,
            "unbiased": 1.0 / (1.0 - 2.0 * self.noise),
            "sup": 1.0 - self.noise,
        }
        return slopes[self.form]

    @property
    def ceiling(self) -> float:
        """The factor of max(z, 0) that has to be added to TRL's own loss; 0 except for `sup`."""
        if self.form == "sup":
            return self.noise
        return 0.0

    def settings(self) -> dict[str, Any]:
        """The settings of TRL's configuration; the rest of the loss is added by the trainer.

        TRL has no smoothed sigmoid loss any more: `label_smoothing` counts for its robust loss R
        alone. cDPO is 2 (1 - noise) S - (1 - 2 noise) R, where S is the sigmoid loss.
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
