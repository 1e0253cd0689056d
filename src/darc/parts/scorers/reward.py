"""Reward models: sequence classifiers on torch and transformers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.models.transformers import Loaded
from darc.models.transformers.loading import SEQUENCE
from darc.parts.scorers import model_scorer
from darc.parts.scorers.base import Pair, require_finite
from darc.parts.scorers.model_scorer import ModelScorer
from darc.registry import scorer
from darc.typing import Array

SOURCES = ("reward.py", *model_scorer.SOURCES)
# The reward models that the method was published with.
PRESETS = {
    "skywork": "Skywork/Skywork-Reward-Llama-3.1-8B-v0.2",
    "aira": "nicholasKluge/RewardModel",
    "openassistant": "OpenAssistant/reward-model-deberta-v3-large-v2",
}


@scorer("reward", "MODEL")
@scorer("transformers", "MODEL")
@dataclass(eq=False, repr=False, kw_only=True)
class RewardScorer(ModelScorer):
    """A reward model of the hub or a folder: the raw output of a sequence classifier.

    The prompt's messages and the answer go through the tokenizer's chat template; without one, the
    last question and the answer are read as a pair of texts. Inputs longer than `max_length`
    tokens lose their middle (the first quarter and the end of the answer stay), those of pairs the
    end of the longer text. With several labels `label` names the one that counts, by its name or
    number. `low` and `high` are the bounds, to which scores are clipped before a rule sees them.
    """

    label: str = ""
    low: float = -10.0
    high: float = 10.0

    kind = SEQUENCE
    prefix = "transformers"
    aliases = PRESETS
    sources = SOURCES

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"low={self.low}, high={self.high} cannot be used", "low below high")
        super().__post_init__()
        self.bounds = (self.low, self.high)

    def _counting(self) -> tuple[object, ...]:
        return self.label, "prefix"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One raw output a pair, (n,); rows of similar length share a forward pass.

        A decoder reads what the conversations of one prompt begin with once for all its answers.
        """
        from darc.models.transformers.scoring import logits

        if not pairs:
            return np.empty(0)
        loaded = self.checkpoint.loaded
        rows = self._rows(loaded, pairs)
        limit = self.limit(loaded)
        # Shortened conversations have less in common, and would leave the others as little.
        groups = [
            (prompt.messages, len(row["input_ids"]) < limit)
            for (prompt, _), row in zip(pairs, rows, strict=True)
        ]
        column = self._column(loaded)
        return require_finite(logits(loaded, rows, self.most(loaded), groups)[:, column], self.name)

    def hidden(self, pairs: Sequence[Pair]) -> Array:
        """The features that the score is made of: the last token's hidden state, (n, d)."""
        from darc.models.transformers.scoring import hidden_states

        loaded = self.checkpoint.loaded
        return require_finite(
            hidden_states(loaded, self._rows(loaded, pairs), self.most(loaded)), self.name
        )

    def _rows(self, loaded: Loaded, pairs: Sequence[Pair]) -> list[dict[str, list[int]]]:
        from darc.models.transformers.scoring import encode_answer

        limit = self.limit(loaded)
        return [
            encode_answer(loaded.tokenizer, prompt.messages, answer, limit)
            for prompt, answer in pairs
        ]

    def _column(self, loaded: Loaded) -> int:
        """Which of the model's outputs is the score."""
        settings: Any = loaded.model.config
        names = [str(settings.id2label[place]) for place in range(settings.num_labels)]
        if not self.label and len(names) == 1:
            return 0
        if self.label in names:
            return names.index(self.label)
        if self.label.isdecimal() and int(self.label) < len(names):
            return int(self.label)
        known = ", ".join(f"{place} ({name})" for place, name in enumerate(names))
        raise InputError(
            f"{self.name} has {len(names)} labels"
            + (f", and none is {self.label!r}" if self.label else ""),
            f"give label= one of {known}",
        )
