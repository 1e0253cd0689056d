"""How to train: every number by name, and presets of them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from darc.settings.model import SettingsModel
from darc.settings.validation import validate_settings

Whole = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]


class TrainingRecipe(SettingsModel):
    """The settings of a training run."""

    model: str = Field(default="", description="a hub name, a folder, a .gguf file or embedded")
    #: Whether the weights are loaded as 4-bit NF4 with double quantisation.
    quantised: bool = False
    dtype: Literal["fp32", "bf16"] = Field(
        default="fp32", description="the number format of the computation"
    )
    rank: Whole = Field(default=16, description="the rank of LoRA")
    alpha: Whole = Field(default=32, description="the scale of LoRA")
    dropout: float = Field(default=0.05, ge=0, lt=1, description="the dropout rate of LoRA")
    beta: Positive = Field(default=0.1, description="the strength of DPO's tie to the reference")
    learning_rate: Positive = Field(default=1e-5, description="the learning rate of AdamW")
    batch: Whole = Field(default=1, description="pairs per pass")
    accumulation: Whole = Field(default=16, description="passes per step")
    epochs: Positive = Field(default=5.0, description="how often to go through the pairs")
    steps: int = Field(default=0, ge=0, description="end after so many steps; 0 for no limit")
    prompt_tokens: Whole = Field(default=512, description="tokens of a prompt, from its end")
    response_tokens: Whole = Field(
        default=512, description="tokens of an answer, from its beginning"
    )
    every: Whole = Field(
        default=50, description="steps between checkpoints, which also measure held-out pairs"
    )
    seed: int = Field(default=7, description="the seed of everything")

    def changed(self, **changes: Any) -> "TrainingRecipe":
        """Change settings of the recipe.

        Args:
            changes: The new values by name; None leaves a setting as it is.

        Returns:
            The changed recipe.

        Raises:
            InputError: A value is out of range.
        """
        new_values = {name: value for name, value in changes.items() if value is not None}
        return validate_settings(TrainingRecipe, self.model_dump() | new_values)


#: What the presets leave to the command line: all but the precision of the weights.
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

#: The preference data of each preset; the paper names its base model, but no data.
DATA = {
    "paper": "your own preference pairs (--data): the paper does not name its data",
    "cpu-small": "your own preference pairs (--data)",
}
