"""A rule applied to pools: an index, and everything needed to say why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from darc.core.risk import small_sample
from darc.core.statistics import cut
from darc.errors import InputError
from darc.selection import certify, explain
from darc.selection.calibration import Calibration
from darc.selection.pools import Pools
from darc.selection.rule import Choice, Rule
from darc.types import Certificate, Flip, Statistics
from darc.typing import Mask


@dataclass(frozen=True)
class Labels:
    """What to call candidates, scorers and samples in words; `sample` is the noun for one."""

    candidates: Sequence[str] | None = None
    sample: str = "sample"
    scorers: Sequence[str] | None = None

    def candidate(self, index: int) -> str:
        """The candidate's own name, or "candidate 3"."""
        return f"candidate {index}" if self.candidates is None else str(self.candidates[index])

    def scorer(self, index: int) -> str:
        """The scorer's own name, or "scorer 1"."""
        return f"scorer {index}" if self.scorers is None else str(self.scorers[index])


@dataclass(frozen=True, eq=False, repr=False)
class Decision:
    """One prompt's choice.

    `index` is the chosen candidate, `statistics` (K,) what it was chosen by, `feasible` (K,) the
    set it was chosen from, and `flags` what to know about it (`explain.FLAGS` has them in words).
    After a lazy search `calls` counts the samples asked for and `bounded` (K,) marks the candidates
    that were ruled out early, whose statistics are bounds only.
    """

    index: int
    rule: Rule
    statistics: Statistics
    feasible: Mask
    flags: tuple[str, ...]
    choice: Choice
    pools: Pools
    labels: Labels = field(default_factory=Labels)
    calls: int | None = None
    bounded: Mask | None = None

    def __repr__(self) -> str:
        return f"Decision(index={self.index}, rule={self.rule.name!r}, flags={self.flags})"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the decision, the rule's own and beta, gamma and normalisation."""
        normalize = self.pools.normalize
        if normalize is None:
            normalize = "prompt" if self.pools.shape[1] > 1 else "none"
        return {
            **self.rule.parameters,
            "beta": self.pools.beta,
            "gamma": self.pools.gamma,
            "normalize": normalize if isinstance(normalize, str) else "fixed",
        }

    def explain(self) -> str:
        """Why this candidate, in words."""
        return explain.words(self)

    def certificate(self, bounds: ArrayLike | None = None, delta: float = 0.05) -> Certificate:
        """What is certain of the choice; with the scale's `bounds` (a, b), a lower bound too."""
        return certify.certificate(self, bounds, delta)

    def flip(self, bounds: ArrayLike | None = None) -> Flip | None:
        """The smallest change of one sample that changes the choice, or None where there is none.

        Searches every sample in both directions, within `bounds` or three spans of the scores
        around them; costs some 60 batched decisions over 2 M K n pools.
        """
        return certify.flip(self, bounds)

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data, ready for JSON (NaN becomes None)."""
        statistics = self.statistics
        rows = [
            {
                "index": k,
                "id": None if self.labels.candidates is None else str(self.labels.candidates[k]),
                "value": _plain(statistics.value[k]),
                "mean": _plain(statistics.mean[k]),
                "sigma": _plain(statistics.sigma[k]),
                "risk_premium": _plain(statistics.risk_premium[k]),
                "samples": int(statistics.count[k]),
                "feasible": bool(self.feasible[k]),
                **({} if self.bounded is None else {"bounded": bool(self.bounded[k])}),
            }
            for k in range(len(statistics.value))
            if self.pools.present[0, k]
        ]
        result = {
            "rule": self.rule.name,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "index": self.index,
            "candidate": self.labels.candidate(self.index),
            "flags": list(self.flags),
            "explanation": self.explain(),
            "candidates": rows,
        }
        return result if self.calls is None else {**result, "calls": self.calls}


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else (None if np.isnan(value) else str(value))
    if isinstance(value, Calibration):
        return value.name
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """The choices for P prompts: arrays at once, a `Decision` by index or iteration.

    `index` is (P,), `statistics` and `feasible` are (P, K), and `flags` maps a name to (P,).
    """

    rule: Rule
    pools: Pools
    choice: Choice
    flags: Mapping[str, Mask]
    candidate_ids: Sequence[Sequence[str]] | None = None
    sample: str = "sample"

    def __repr__(self) -> str:
        return f"Decisions({len(self)} prompts, rule={self.rule.name!r})"

    @property
    def index(self) -> NDArray[np.int64]:
        """The chosen candidate of each prompt, (P,)."""
        return self.choice.index

    @property
    def statistics(self) -> Statistics:
        """The statistics of all candidates, (P, K)."""
        return self.pools.statistics

    @property
    def feasible(self) -> Mask:
        """The sets chosen from, (P, K)."""
        return self.choice.feasible

    @cached_property
    def chosen(self) -> dict[str, NDArray[np.float64]]:
        """Value, mean, sigma, risk premium and count of each choice, (P,)."""
        rows = np.arange(len(self.index))
        names = ("value", "mean", "sigma", "risk_premium", "count")
        return {name: getattr(self.statistics, name)[rows, self.index] for name in names}

    def flags_of(self, position: int) -> tuple[str, ...]:
        """The names of the flags raised for one prompt."""
        return tuple(name for name, raised in self.flags.items() if raised[position])

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, position: int) -> Decision:
        spot = range(len(self))[position]
        names = None if self.candidate_ids is None else self.candidate_ids[spot]
        if names is not None:
            names = [*names, *("" for _ in range(self.pools.shape[2] - len(names)))]
        return Decision(
            index=int(self.index[spot]),
            rule=self.rule,
            statistics=cut(self.statistics, spot),
            feasible=self.feasible[spot],
            flags=self.flags_of(spot),
            choice=_one(self.choice, spot),
            pools=self.pools.one(spot),
            labels=Labels(names, self.sample),
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))


def _one(choice: Choice, spot: int) -> Choice:
    part = slice(spot, spot + 1)
    return Choice(
        choice.index[part],
        choice.objective[part],
        choice.feasible[part],
        {name: array[part] for name, array in choice.flags.items()},
        {name: array[part] for name, array in choice.facts.items()},
    )


def decide(
    rule: Rule,
    pools: Pools,
    candidate_ids: Sequence[Sequence[str]] | None = None,
    sample: str = "sample",
) -> Decisions:
    """The `Decisions` of a rule; a rule that is fitted to a batch is fitted here."""
    pools.check()
    for name in pools.side:
        if name not in (*rule.required(), *rule.takes):
            raise InputError(f"rule {rule.name!r} does not use {name!r}", "leave it out")
    pools = pools.keeping_few() if rule.few else pools
    bound = rule.bind()
    if rule.calibrate is not None:
        bound = bound.bind(**rule.calibrate(pools, bound.parameters))
    choice = bound.choose(pools)
    statistics, rows = pools.statistics, np.arange(len(choice.index))
    flags = {
        **choice.flags,
        "few_samples": np.any(pools.left_out, axis=1),
        "constant_scorer": np.any(statistics.constant, axis=1),
    }
    if rule.by_value:
        sigma, count = statistics.sigma[rows, choice.index], statistics.count[rows, choice.index]
        flags["small_sample"] = small_sample(pools.beta, sigma, count)
    return Decisions(bound, pools, choice, flags, candidate_ids, sample)
