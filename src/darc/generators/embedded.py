"""Candidates from the model that runs in this process."""

from collections.abc import Sequence

from darc.generators.base import Settings, candidate_seeds
from darc.models.completion import Request
from darc.models.embedded import EmbeddedModel, Report
from darc.models.installed import require
from darc.types import Candidate, Prompt


class EmbeddedGenerator:
    """Answers by the installed model; all prompts' candidates share its slots.

    Without a `model` the installed one is used, and loaded at the first prompt. `report(done,
    total)` counts the answers of each call.
    """

    name = "embedded"

    def __init__(self, model: EmbeddedModel | None = None, report: Report | None = None) -> None:
        self._model, self._report = model, report

    @property
    def model(self) -> EmbeddedModel:
        """The model in use."""
        if self._model is None:
            self._model = EmbeddedModel(require().path)
        return self._model

    def generate(self, prompts: Sequence[Prompt], settings: Settings) -> list[list[Candidate]]:
        """K candidates a prompt; candidate i depends on the prompt, the settings and i alone."""
        seeds = [candidate_seeds(settings, prompt.id) for prompt in prompts]
        answers = iter(
            self.model.complete(
                [
                    Request(
                        messages=prompt.messages,
                        max_tokens=settings.max_tokens,
                        temperature=settings.temperature,
                        top_p=settings.top_p,
                        seed=seed,
                    )
                    for prompt, own in zip(prompts, seeds, strict=True)
                    for seed in own
                ],
                self._report,
            )
        )
        return [
            [
                Candidate(
                    prompt_id=prompt.id,
                    index=index,
                    text=answer.text,
                    tokens=answer.tokens,
                    truncated=answer.truncated,
                    log_likelihood=answer.log_likelihood,
                    seed=seed,
                )
                # The seeds come first: zip must not take an answer that belongs to the next prompt.
                for (index, seed), answer in zip(enumerate(own), answers, strict=False)
            ]
            for prompt, own in zip(prompts, seeds, strict=True)
        ]

    def close(self) -> None:
        """Free the model's memory."""
        if self._model is not None:
            self._model.close()
