"""Candidates from a causal language model on torch and transformers."""

from collections.abc import Sequence

from darc.generators.base import Settings, answers
from darc.models.completion import Report
from darc.models.transformers import TransformersModel
from darc.registry import generator
from darc.types import Candidate, Prompt


class TransformersGenerator:
    """Answers by a model of the hub, a folder, a GGUF file or an adapter.

    All prompts' candidates are sampled together, `batch_size` rows at a time.
    """

    continues = True

    def __init__(self, model: TransformersModel) -> None:
        self.model = model

    @property
    def name(self) -> str:
        """The model's name with "transformers:" before it."""
        return self.model.name

    @property
    def version(self) -> str:
        """A hash of the weights and the number format."""
        return self.model.version

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """K candidates a prompt; candidate i depends on the prompt, the settings and i alone."""
        return answers(self.model, prompts, settings, report)

    def close(self) -> None:
        """Free the model's memory."""
        self.model.close()


@generator("transformers", "MODEL")
def transformers_generator(
    model: str,
    *,
    batch_size: int = 16,
    base: str = "",
    dtype: str = "auto",
    device: str = "auto",
) -> TransformersGenerator:
    """A hub model, a folder, a GGUF file or an adapter, on torch and transformers."""
    return TransformersGenerator(
        TransformersModel(model, batch_size=batch_size, base=base, dtype=dtype, device=device)
    )
