"""How to train: every number by name, and presets of them."""

from typing import Any

from darc.settings.train import RecipeSettings
from darc.settings.validation import validate_settings


class TrainingRecipe(RecipeSettings):
    """The settings of a training run."""

    #: Whether the weights are loaded as 4-bit NF4 with double quantisation.
    quantised: bool = False

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
