"""Reward models: sequence classifiers on torch and transformers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.models.transformers import Checkpoint, Loaded
from darc.models.transformers.loading import SEQUENCE
from darc.registry import scorer
from darc.scorers.base import Pair, finite, in_transformers, source_version
from darc.scorers.presets import preset
from darc.typing import Array

SOURCES = ("reward.py", *in_transformers("batching", "loading", "prefix", "rewards"))


@scorer("reward", "MODEL")
@scorer("transformers", "MODEL")
class RewardScorer:
    """A reward model of the hub or a folder: the raw output of a sequence classifier.

    The prompt's messages and the answer go through the tokenizer's chat template; without one, the
    last question and the answer are read as a pair of texts. Inputs longer than `max_length`
    tokens lose their middle (the first quarter and the end of the answer stay), those of pairs the
    end of the longer text. With several labels `label` names the one that counts, by its name or
    number. `low` and `high` are the bounds, to which scores are clipped before a rule sees them;
    `location` and `scale` are None unless given.
    """

    sources = SOURCES

    def __init__(
        self,
        model: str,
        *,
        name: str = "",
        max_length: int = 1024,
        batch_size: int = 16,
        label: str = "",
        low: float = -10.0,
        high: float = 10.0,
        location: float | None = None,
        scale: float | None = None,
        base: str = "",
        dtype: str = "auto",
        device: str = "auto",
    ) -> None:
        if max_length < 8 or batch_size < 1 or not low < high:
            raise InputError(
                f"max_length={max_length}, batch_size={batch_size}, low={low}, high={high} "
                "cannot be used",
                "at least 8 tokens, 1 row, and low below high",
            )
        self.name = name or f"transformers:{model}"
        self.max_length = max_length
        self.batch_size = batch_size
        self.label = label
        self.location = location
        self.scale = scale
        self.bounds = (low, high)
        self.checkpoint = Checkpoint(preset(model), SEQUENCE, base=base, dtype=dtype, device=device)

    @property
    def version(self) -> str:
        """A hash of the weights and the code, with the length limit and the label.

        Its ending stands for prefixes that are read once, whose scores round differently.
        """
        return f"{self._read}-prefix" if self._read else ""

    @property
    def _read(self) -> str:
        """What the model reads and which output counts, as part of a version."""
        weights = self.checkpoint.version
        code = source_version(*self.sources)
        return f"{weights}-{code}-{self.max_length}-{self.label}" if weights else ""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One raw output a pair, (n,); rows of similar length share a forward pass.

        A decoder reads what the conversations of one prompt begin with once for all its answers.
        """
        from darc.models.transformers.rewards import logits

        if not pairs:
            return np.empty(0)
        loaded = self.checkpoint.loaded
        rows = self._rows(loaded, pairs)
        limit = self._limit(loaded)
        # Shortened conversations have less in common, and would leave the others as little.
        groups = [
            (prompt.messages, len(row["input_ids"]) < limit)
            for (prompt, _), row in zip(pairs, rows, strict=True)
        ]
        column = self._column(loaded)
        return finite(logits(loaded, rows, self._most(loaded), groups)[:, column], self.name)

    def hidden(self, pairs: Sequence[Pair]) -> Array:
        """The features that the score is made of: the last token's hidden state, (n, d)."""
        from darc.models.transformers.rewards import hidden

        loaded = self.checkpoint.loaded
        return finite(hidden(loaded, self._rows(loaded, pairs), self._most(loaded)), self.name)

    def close(self) -> None:
        """Free the model's memory."""
        self.checkpoint.close()

    def _limit(self, loaded: Loaded) -> int:
        return min(self.max_length, loaded.context or self.max_length)

    def _most(self, loaded: Loaded) -> int:
        from darc.models.transformers.batching import most_tokens

        return most_tokens(self.batch_size, self._limit(loaded), loaded.device)

    def _rows(self, loaded: Loaded, pairs: Sequence[Pair]) -> list[dict[str, list[int]]]:
        from darc.models.transformers.rewards import encoded

        limit = self._limit(loaded)
        return [
            encoded(loaded.tokenizer, prompt.messages, answer, limit) for prompt, answer in pairs
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
