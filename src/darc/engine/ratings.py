"""Decisions for a table of ratings, a batch of prompts at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from darc.core.draws import prompt_seeds
from darc.core.normalization import Normalization
from darc.engine.rule_spec import RuleSpec
from darc.selection.decide import decide
from darc.selection.decision import Decision, Decisions
from darc.selection.pools import Pools
from darc.tables import Batch, RatingTable
from darc.tables.side import SideTable, check_side, side_inputs

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Decided:
    """A batch of prompts and each rule's decisions on it, in the order of the rules."""

    batch: Batch
    specs: Sequence[RuleSpec]
    decisions: Sequence[Decisions]

    def changed(self, rule: int) -> NDArray[np.bool_]:
        """Where a rule chose another candidate than the first rule, (P,)."""
        return np.asarray(self.decisions[rule].index != self.decisions[0].index)

    def of(self, position: int) -> list[Decision]:
        """Every rule's decision on one prompt."""
        return [each[position] for each in self.decisions]


def decide_table(
    table: RatingTable,
    specs: Sequence[RuleSpec],
    *,
    normalize: Normalization = None,
    min_samples: int | None = None,
    seed: int = 0,
    side: SideTable | None = None,
    progress: Report | None = None,
) -> Iterator[Decided]:
    """The decisions of some rules on a table, batch by batch.

    A rule that is fitted is fitted once, on the first batch. Rules with the same beta and gamma
    share their statistics. `progress(done, total)` counts prompts.
    """
    check_side((spec.rule for spec in specs), side, table.extra_columns)
    fitted, done = list(specs), 0
    for batch in table.batches():
        seeds = prompt_seeds(seed, batch.prompt_ids)
        shared: dict[tuple[float, float], Pools] = {}
        decisions = []
        for position, spec in enumerate(fitted):
            key = (spec.beta, spec.gamma)
            if key not in shared:
                shared[key] = Pools(batch.scores, *key, normalize, None, min_samples, seeds)
            pools = shared[key]
            extra = side_inputs(spec.rule, batch, side)
            if extra:
                pools = replace(pools, side=extra)
            made = decide(spec.rule, pools, batch.candidate_ids, "rater")
            fitted[position] = replace(spec, rule=made.rule)
            decisions.append(made)
        yield Decided(batch, tuple(fitted), decisions)
        done += len(batch.prompt_ids)
        if progress is not None:
            progress(done, table.prompts)
