"""Candidates from the model that runs in this process."""

from collections.abc import Sequence

from darc.generators.base import Settings, answers
from darc.models.completion import Report
from darc.models.embedded import EmbeddedModel
from darc.models.installed import require
from darc.registry import generator
from darc.types import Candidate, Prompt


@generator("embedded")
class EmbeddedGenerator:
    """Answers by the installed model; all prompts' candidates share its slots.

    Without a `model` the installed one is used, and loaded at the first prompt.
    """

    name = "embedded"
    parallel = 16
    continues = True

    def __init__(self, model: EmbeddedModel | None = None) -> None:
        self._model = model
        self._hash = "" if model is not None else require().sha256

    @property
    def version(self) -> str:
        """The hash of the installed weights."""
        return self._hash

    @property
    def model(self) -> EmbeddedModel:
        """The model in use."""
        if self._model is None:
            self._model = EmbeddedModel(require().path)
        return self._model

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """K candidates a prompt; candidate i depends on the prompt, the settings and i alone."""
        return answers(self.model, prompts, settings, report)

    def close(self) -> None:
        """Free the model's memory."""
        if self._model is not None:
            self._model.close()
