"""The scorer `dropout`: a reward model read several times with dropout, to see how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from darc.decide.statistics.draws import prompt_seeds
from darc.errors import InputError
from darc.parts.scorers.base import Pair, require_finite
from darc.parts.scorers.reward import RewardScorer
from darc.registry import scorer
from darc.typing import Array

SOURCES = (
    *RewardScorer.sources,
    "dropout.py",
    "../../decide/statistics/draws.py",
    "../../models/transformers/dropout.py",
)


@scorer("dropout", "MODEL")
@dataclass(eq=False, repr=False, kw_only=True)
class DropoutScorer(RewardScorer):
    """A reward model's outputs over passes with dropout switched on; the score is their mean.

    The passes of a pair are one batch of equal rows, whose masks are drawn from the seed and the
    pair alone, so that neither padding nor the other pairs matter. Each pass reads the whole text,
    since passes that shared a prefix would share its masks.
    """

    #: The number of passes per pair.
    passes: int = 8
    seed: int = 0
    #: Replaces the model's own dropout rates, for models that were trained without; 0 keeps them.
    rate: float = 0.0
    # A forward pass holds the passes of one pair, whatever their number.
    batch_size: int = field(default=16, init=False)

    prefix = "dropout"
    sources = SOURCES

    def __post_init__(self) -> None:
        if self.passes < 1 or not 0 <= self.rate < 1:
            raise InputError(
                f"passes={self.passes}, rate={self.rate} cannot be used",
                "1 or more, and a rate below 1",
            )
        super().__post_init__()

    def _version_options(self) -> tuple[object, ...]:
        return self.label, self.passes, self.seed, f"{self.rate:g}"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs by the mean over the passes, (pairs,)."""
        return np.asarray(self.samples(pairs).mean(axis=1))

    def samples(self, pairs: Sequence[Pair]) -> Array:
        """Return the raw output of each pass, (pairs, passes).

        Raises:
            InputError: If the model has no dropout.
        """
        from darc.models.transformers.dropout import dropout, dropout_rates
        from darc.models.transformers.scoring import forward

        if not pairs:
            return np.empty((0, self.passes))
        loaded = self.checkpoint.loaded
        problem = f"{self.name} has no dropout, so all its passes would be the same"
        rates = dropout_rates(loaded.model)
        if not rates:
            raise InputError(problem, "use another model")
        if not self.rate and all(rate == 0 for _, _, rate in rates):
            raise InputError(problem, "give rate=0.1")
        column = self._score_column(loaded)
        outputs = np.empty((len(pairs), self.passes))
        for index, row in enumerate(self._encode(loaded, pairs)):
            (seed,) = prompt_seeds(self.seed, [row["input_ids"]])
            with dropout(loaded.model, int(seed), self.rate or None):
                outputs[index] = forward(loaded, [row] * self.passes)[:, column]
        return require_finite(outputs, self.name)
