"""A rule on the scale of some scorers: from `Scores` to a decision, whole or searched for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.api import lazy_search, select
from darc.core.normalization import Normalization
from darc.core.repeats import without_noise
from darc.engine.rule_spec import RuleSpec
from darc.engine.side_inputs import wanted
from darc.errors import InputError
from darc.selection.decision import Decision
from darc.selection.lazy import LazySearch
from darc.types import Scores
from darc.typing import Array

NORMALIZATIONS = ("auto", "prompt", "fixed", "none")


@dataclass(frozen=True)
class Deciding:
    """A rule, and on which scale it sees the scorers.

    `normalize` is auto, prompt, fixed or none; auto is none for one scorer, and for several fixed
    where they have constants and the decision may be searched for, prompt otherwise. Without
    `include_original` the first sample, the original, counts only where there is no other. A
    candidate with fewer samples than `min_samples` is left out where another has as many; None
    leaves out those with less than half of the most.
    """

    spec: RuleSpec
    normalize: str = "auto"
    seed: int = 0
    include_original: bool = True
    min_samples: int | None = 1

    def __post_init__(self) -> None:
        """Refuse a rule that wants the original's score where there is none."""
        rule = self.spec.rule
        if not self.include_original and rule.parameters.get("reward") == "original":
            raise InputError(
                f"rule {rule.name!r} with reward=original needs the original's score",
                "include the original, or use reward=mean",
            )

    @property
    def first(self) -> int:
        """The place of the first sample that counts."""
        return 0 if self.include_original else 1

    def scale(self, scores: Scores, lazily: bool) -> Normalization:
        """The normalisation that `darc.select` is to use."""
        if self.normalize not in NORMALIZATIONS:
            raise InputError(
                f"normalize is {self.normalize!r}", f"one of {', '.join(NORMALIZATIONS)}"
            )
        one = len(scores.scorers) == 1
        if self.normalize == "none" or (self.normalize == "auto" and one):
            return "none"
        if self.normalize == "fixed" or (self.normalize == "auto" and lazily):
            if scores.constants is None:
                raise InputError(
                    "not every scorer has a fixed location and scale",
                    "give them, as in SCORER,location=0,scale=1, or --normalize prompt",
                )
            return scores.constants
        return "prompt"

    def can_search(self, scores: Scores) -> bool:
        """Whether the lazy search is exact for this rule and scale.

        Not where raters are asked several times, since their noise is estimated from all grades,
        nor where a calibration knows the raters or the systems.
        """
        if self.spec.rule.plan is None or self.spec.rule.required() or scores.repeats > 1:
            return False
        if self.ids(scores):
            return False
        one = len(scores.scorers) == 1
        if self.normalize == "prompt" and not one:
            return False
        return self.normalize in ("none", "prompt") or one or scores.constants is not None

    def ids(self, scores: Scores) -> dict[str, Any]:
        """Who gave the samples and who wrote the candidates, where a calibration knows of them."""
        known = () if self.spec.calibrations is None else self.spec.calibrations.by_scorer.values()
        found: dict[str, Any] = {}
        if any(name in one.raters for one in known for name in scores.samples):
            found["rater_ids"] = [scores.samples] * scores.values.shape[1]
        if any(name in one.systems for one in known for name in scores.candidates):
            found["system_ids"] = scores.candidates
        return found

    def search(self, scores: Scores) -> LazySearch:
        """A lazy search for this rule, among the samples that count from the first on."""
        return lazy_search(
            scores.values.shape[1],
            scores.values.shape[2] - self.first,
            self.spec.rule_for(scores.scorers),
            scores.bounds,
            clip=True,
            beta=self.spec.beta,
            gamma=self.spec.gamma,
            normalize=self.scale(scores, lazily=True),
            min_samples=self.min_samples,
            candidate_ids=scores.candidates or None,
            scorer_ids=scores.scorers,
            sample=scores.sample,
        )

    def decide(
        self, prompt_id: str, scores: Scores, side: Mapping[str, Any], lazily: bool = False
    ) -> Decision:
        """The decision on all scores of one prompt, clipped to the scorers' bounds.

        Raters who were asked several times count without their own noise (`without_noise`).
        """
        found: dict[str, Any] = dict(wanted(self.spec.rule, side))
        alone = not self.include_original and not np.isnan(scores.values[:, :, 0]).all()
        decision = select(
            decided_on(scores),
            self.spec.rule_for(scores.scorers),
            beta=self.spec.beta,
            gamma=self.spec.gamma,
            normalize=self.scale(scores, lazily),
            min_samples=self.min_samples,
            seed=self.seed,
            prompt_id=prompt_id,
            candidate_ids=scores.candidates or None,
            scorer_ids=scores.scorers,
            sample=scores.sample,
            **self.ids(scores),
            **found,
        )
        decision = flagged(decision, scores)
        return replace(decision, flags=(*decision.flags, "no_rewrites")) if alone else decision


def flagged(decision: Decision, scores: Scores) -> Decision:
    """The decision, flagged with how many grades are missing, and raters of whom most are."""
    if not scores.failed:
        return decision
    told = [f"missing_grades:{len(scores.failed)}"]
    missing = set(scores.failed)
    for place, name in enumerate(scores.samples):
        own = sum(i == place for _, i in missing)
        had = sum(
            not np.isnan(x) and (k, place) not in missing
            for k, x in enumerate(scores.values[0, :, place])
        )
        told += [f"rater_failed:{name}"] if own > had else []
    return replace(decision, flags=(*decision.flags, *told))


def decided_on(scores: Scores) -> Array:
    """What rules see of scores, (M, K, n): within their bounds, and without raters' own noise."""
    if scores.repeats == 1 or scores.grades is None:
        return scores.clipped
    drawn = without_noise(scores.grades.mean(axis=0))[None]
    # What counts as the lowest grade because it is missing stays.
    return np.where(np.isnan(drawn), scores.clipped, drawn)
