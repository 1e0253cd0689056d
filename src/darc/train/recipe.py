"""How to train: every number by name, the named sets of them, and the losses."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from darc.errors import InputError, UnknownName
from darc.settings.model import SettingsModel
from darc.settings.validation import validate_settings

FORMS = ("dpo", "cdpo", "sup", "unbiased")
NOISE = 0.10

Whole = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]


class TrainingRecipe(SettingsModel):
    """The settings of a training run.

    `quantised` loads the weights as 4-bit NF4 with double quantisation; `dtype` is what is computed
    in. A step sees `batch` times `accumulation` pairs; `steps`, if not 0, ends the training before
    its `epochs` do. A checkpoint is written and the held-out margin measured every `every` steps.
    """

    model: str = Field(default="", description="a hub name, a folder, a .gguf file or embedded")
    quantised: bool = False
    dtype: Literal["fp32", "bf16"] = Field(default="fp32", description="of the computation")
    rank: Whole = Field(default=16, description="of LoRA")
    alpha: Whole = Field(default=32, description="of LoRA")
    dropout: float = Field(default=0.05, ge=0, lt=1, description="of LoRA")
    beta: Positive = Field(default=0.1, description="of DPO")
    learning_rate: Positive = Field(default=1e-5, description="of AdamW")
    batch: Whole = Field(default=1, description="pairs in one pass")
    accumulation: Whole = Field(default=16, description="passes a step")
    epochs: Positive = Field(default=5.0, description="passes over the pairs")
    steps: int = Field(default=0, ge=0, description="end after so many steps")
    prompt_tokens: Whole = Field(default=512, description="of a prompt, from its end")
    response_tokens: Whole = Field(default=512, description="of an answer, from its beginning")
    every: Whole = Field(default=50, description="steps between checkpoints")
    seed: int = Field(default=7, description="of everything")

    def changed(self, **changes: Any) -> "TrainingRecipe":
        """The recipe with what is not None changed."""
        given = {name: value for name, value in changes.items() if value is not None}
        return validate_settings(TrainingRecipe, self.model_dump() | given)


# What the presets leave to the command line: all but the precision of the weights.
OPTIONS = tuple(name for name in TrainingRecipe.model_fields if name != "quantised")
PRESETS = {
    "paper": TrainingRecipe(model="meta-llama/Llama-3.1-8B-Instruct", quantised=True, dtype="bf16"),
    "cpu-small": TrainingRecipe(
        model="embedded",
        rank=8,
        alpha=16,
        learning_rate=1e-4,
        accumulation=4,
        epochs=1.0,
        prompt_tokens=128,
        response_tokens=128,
        every=5,
    ),
}

# The paper names its base model, but no preference data.
DATA = {
    "paper": "preference pairs of yours (--data): the paper does not name its own",
    "cpu-small": "preference pairs of yours (--data)",
}


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

    @property
    def slope(self) -> float:
        """(L(-z) - L(z)) / z, a constant in every form.

        With a label that is right with probability p the loss is p L(z) + (1 - p) L(-z), which is
        L(z) and (1 - p) times this times z.
        """
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
