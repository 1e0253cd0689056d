"""Decisions for a table of ratings, a batch of prompts at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from darc.core.draws import prompt_seeds
from darc.core.kernel import Normalization
from darc.engine.deciding import RuleSpec, rater_ids, recurring, system_ids
from darc.engine.side_inputs import SideTable, check_side, side_inputs
from darc.selection.decision import Decision, Decisions, decide
from darc.selection.pools import Ids, Pools
from darc.tables import Batch, RatingTable

Report = Callable[[int, int], None]
# Padded scores that a fit is made of: what is held in memory of a table of any size.
FITTED = 2_000_000


@dataclass(frozen=True)
class DecidedBatch:
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
    system: str = "auto",
    progress: Report | None = None,
) -> Iterator[DecidedBatch]:
    """The decisions of some rules on a table, batch by batch.

    A rule that is fitted is fitted once, on the table's `head`, so that how prompts are batched
    changes nothing. Rules with the same beta and gamma share their statistics. Rules that learn or
    ask for raters see them, and rules that learn see systems too, unless `system` is "none".
    `progress(done, total)` counts prompts.
    """
    check_side((spec.rule for spec in specs), side, table.extra_columns)
    learns, named = any(spec.learns for spec in specs), system != "none"
    ids = learns or any(spec.rule.raters for spec in specs)
    groups = table.groups() if ids else {}

    def pools_of(spec: RuleSpec, part: Batch, systems: Ids | None) -> Pools:
        seeds = prompt_seeds(seed, part.prompt_ids)
        pools = Pools(part.scores, spec.beta, spec.gamma, normalize, None, min_samples, seeds)
        raters = rater_ids(part.raters, part.rater_names, groups) if ids else None
        return replace(pools, raters=raters, systems=systems)

    fitted, done = [replace(spec, rule=spec.rule_for(table.scorer_ids)) for spec in specs], 0
    unfitted = [spec for spec in fitted if spec.rule.calibrate and spec.calibrations is None]
    if unfitted:
        first = table.head(FITTED)
        most = first.scores.shape[2]
        known = recurring(system_ids(table.systems(first), most)) if learns and named else None
        for spec in unfitted:
            rule = spec.rule.fitted(pools_of(spec, first, known))
            fitted[fitted.index(spec)] = replace(spec, rule=rule)
    for batch in table.batches():
        most = batch.scores.shape[2]
        systems = system_ids(table.systems(batch), most) if learns and named else None
        shared: dict[tuple[float, float], Pools] = {}
        decisions = []
        for spec in fitted:
            key = (spec.beta, spec.gamma)
            if key not in shared:
                shared[key] = pools_of(spec, batch, systems)
            pools = shared[key]
            extra = side_inputs(spec.rule, batch, side)
            if extra:
                pools = pools.sharing(side=extra)
            decisions.append(decide(spec.rule, pools, batch.candidate_ids, "rater"))
        yield DecidedBatch(batch, tuple(fitted), decisions)
        done += len(batch.prompt_ids)
        if progress is not None:
            progress(done, table.prompts)
