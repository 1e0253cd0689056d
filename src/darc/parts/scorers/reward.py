"""The scorer `reward`: a reward model on torch and transformers, a sequence classifier."""

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

SOURCES: tuple[str, ...] = ("reward.py", *model_scorer.SOURCES)
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
    end of the longer text.
    """

    #: The label that counts if there are several, by its name or number.
    label: str = ""
    #: The bounds, to which scores are clipped before a rule sees them.
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

    def _version_options(self) -> tuple[object, ...]:
        return self.label, "prefix"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs by raw outputs, (pairs,).

        Rows of similar length share a forward pass. A decoder reads the common beginning of the
        conversations of one prompt once for all its answers.
        """
        from darc.models.transformers.scoring import logits

        if not pairs:
            return np.empty(0)
        loaded = self.checkpoint.loaded
        rows = self._encode(loaded, pairs)
        limit = self.row_limit(loaded)
        # Shortened conversations have less in common, and would reduce what the others share.
        groups = [
            (prompt.messages, len(row["input_ids"]) < limit)
            for (prompt, _), row in zip(pairs, rows, strict=True)
        ]
        outputs = logits(loaded, rows, self.batch_tokens(loaded), groups)
        return require_finite(outputs[:, self._score_column(loaded)], self.name)

    def hidden(self, pairs: Sequence[Pair]) -> Array:
        """Return the features of the score: the last token's hidden state, (pairs, d)."""
        from darc.models.transformers.scoring import hidden_states

        loaded = self.checkpoint.loaded
        rows = self._encode(loaded, pairs)
        states = hidden_states(loaded, rows, self.batch_tokens(loaded))
        return require_finite(states, self.name)

    def _encode(self, loaded: Loaded, pairs: Sequence[Pair]) -> list[dict[str, list[int]]]:
        from darc.models.transformers.scoring import encode_answer

        limit = self.row_limit(loaded)
        return [
            encode_answer(loaded.tokenizer, prompt.messages, answer, limit)
            for prompt, answer in pairs
        ]

    def _score_column(self, loaded: Loaded) -> int:
        """Which of the model's outputs is the score."""
        config: Any = loaded.model.config
        names = [str(config.id2label[number]) for number in range(config.num_labels)]
        if not self.label and len(names) == 1:
            return 0
        if self.label in names:
            return names.index(self.label)
        if self.label.isdecimal() and int(self.label) < len(names):
            return int(self.label)
        problem = f"{self.name} has {len(names)} labels"
        if self.label:
            problem += f", and none is {self.label!r}"
        labels = ", ".join(f"{number} ({name})" for number, name in enumerate(names))
        raise InputError(problem, f"give label= one of {labels}")
