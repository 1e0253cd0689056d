"""From the scores of one prompt to its decision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.api import lazy_search, select
from darc.core.normalization import Normalization
from darc.errors import InputError
from darc.pipeline.rule_spec import RuleSpec
from darc.pipeline.side import wanted
from darc.selection.decision import Decision
from darc.selection.lazy import LazySearch

Array = NDArray[np.float64]
Bounds = Sequence[tuple[float, float]]
Constants = tuple[list[float], list[float]]

NORMALIZATIONS = ("auto", "prompt", "fixed", "none")


@dataclass(frozen=True)
class Deciding:
    """A rule, and on which scale it sees the scorers.

    `normalize` is auto, prompt, fixed or none; auto is none for one scorer, and for several fixed
    in a lazy search and prompt otherwise. `constants` are the scorers' fixed ones, if all have any.
    Without `include_original` the first sample, the original, counts only where there is no other.
    """

    spec: RuleSpec
    bounds: Bounds
    constants: Constants | None
    normalize: str = "auto"
    seed: int = 0
    include_original: bool = True

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

    def scale(self, lazily: bool) -> Normalization:
        """The normalisation that `darc.select` is to use."""
        if self.normalize not in NORMALIZATIONS:
            raise InputError(
                f"normalize is {self.normalize!r}", f"one of {', '.join(NORMALIZATIONS)}"
            )
        if self.normalize == "none" or (self.normalize == "auto" and len(self.bounds) == 1):
            return "none"
        if self.normalize == "fixed" or (self.normalize == "auto" and lazily):
            if self.constants is None:
                raise InputError(
                    "not every scorer has a fixed location and scale",
                    "give them, as in SCORER,location=0,scale=1, or --normalize prompt",
                )
            return self.constants
        return "prompt"

    def can_search(self) -> bool:
        """Whether the lazy search is exact for this rule and scale."""
        if self.spec.rule.plan is None or self.spec.rule.required():
            return False
        if self.normalize == "prompt" and len(self.bounds) > 1:
            return False
        return self.normalize in ("none", "prompt") or len(self.bounds) == 1 or bool(self.constants)

    def search(self, candidates: int, samples: int) -> LazySearch:
        """A lazy search for this rule among `samples` places, of which it counts from `first`."""
        spec = self.spec
        return lazy_search(
            candidates,
            samples - self.first,
            spec.rule,
            self.bounds,
            clip=True,
            beta=spec.beta,
            gamma=spec.gamma,
            normalize=self.scale(lazily=True),
            sample="rewrite",
        )

    def decide(
        self, prompt_id: str, scores: Array, side: Mapping[str, Any], lazily: bool = False
    ) -> Decision:
        """The decision on all scores of one prompt, (M, K, n), clipped to the scorers' bounds."""
        spec = self.spec
        alone = not self.include_original and not np.isnan(scores[:, :, 0]).all()
        found: dict[str, Any] = dict(wanted(spec.rule, side))
        decision = select(
            clipped(scores, self.bounds),
            spec.rule,
            beta=spec.beta,
            gamma=spec.gamma,
            normalize=self.scale(lazily),
            seed=self.seed,
            prompt_id=prompt_id,
            sample="rewrite",
            **found,
        )
        return replace(decision, flags=(*decision.flags, "no_rewrites")) if alone else decision


def clipped(scores: Array, bounds: Bounds) -> Array:
    """Scores (M, K, n) within the bounds of their scorers."""
    low, high = np.array(bounds, dtype=np.float64).T[:, :, None, None]
    return np.clip(scores, low, high)


def share_clipped(scores: Array, bounds: Bounds) -> float:
    """How much of the scores lies outside the bounds."""
    seen = ~np.isnan(scores)
    changed = (clipped(scores, bounds) != scores) & seen
    return float(changed.sum() / max(1, seen.sum()))
