"""A reward model read several times with dropout: how sure is it."""

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

    The `passes` of a pair are one batch of equal rows, whose masks are drawn from (seed, pair)
    alone, so that neither padding nor the other pairs matter. Each reads the whole text, since
    passes that shared a prefix would share its masks. `rate` replaces the model's own
    dropout rates, for models that were trained without.
    """

    passes: int = 8
    seed: int = 0
    rate: float = 0.0
    # A forward pass is the passes of a pair, whatever their number.
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

    def _counting(self) -> tuple[object, ...]:
        return self.label, self.passes, self.seed, f"{self.rate:g}"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """The mean over the passes, (n,)."""
        return np.asarray(self.samples(pairs).mean(axis=1))

    def samples(self, pairs: Sequence[Pair]) -> Array:
        """One raw output a pair and pass, (n, passes); a forward pass of `passes` rows a pair."""
        from darc.models.transformers.dropout import dropout, dropout_rates
        from darc.models.transformers.scoring import forward

        if not pairs:
            return np.empty((0, self.passes))
        loaded = self.checkpoint.loaded
        found = dropout_rates(loaded.model)
        if not found or (not self.rate and all(rate == 0 for _, _, rate in found)):
            raise InputError(
                f"{self.name} has no dropout, so all its passes would be the same",
                "give rate=0.1" if found else "use another model",
            )
        column = self._column(loaded)
        result = np.empty((len(pairs), self.passes))
        for place, row in enumerate(self._rows(loaded, pairs)):
            (seed,) = prompt_seeds(self.seed, [row["input_ids"]])
            with dropout(loaded.model, int(seed), self.rate or None):
                result[place] = forward(loaded, [row] * self.passes)[:, column]
        return require_finite(result, self.name)
