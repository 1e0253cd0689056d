"""A rule applied to pools: an index, and everything needed to say why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from darc.decide import certificate as certify
from darc.decide.explanation import explain
from darc.decide.held import is_held
from darc.decide.model.calibration import Calibration
from darc.decide.opinions import Opinions, opinions_of
from darc.decide.pools import Pools
from darc.decide.rule import Choice, Rule
from darc.decide.statistics.risk import entropic_value, small_sample
from darc.decide.statistics.summary import cut
from darc.errors import InputError
from darc.types import Certificate, Flip, Statistics
from darc.typing import Array, Integers, Mask

if TYPE_CHECKING:
    from darc.views.chart import ShownFigure

FLAGS = {
    "infeasible": "no eligible candidate met the cap on the risk premium, so it was not applied",
    "no_groups": "groups differ on candidates less than candidates do, so the mean decided",
    "below_floor": "no eligible candidate met the floor in every group, so it was not applied",
    "no_majority": "no answer is shared by enough candidates, so all counted",
    "no_sigma": "sigma is undefined with one sample, so the rule did without it",
    "shrunk": "candidates with fewer samples were drawn towards the average",
    "few_samples": "candidates with too few samples were left out",
    "constant_scorer": "a scorer gave every candidate the same score and counts as 0 for all",
    "small_sample": "beta times sigma is large for so few samples: the true risk is likely larger",
    "capped": "more candidates were to be drawn than are eligible",
    "likely": "not every rating was asked for; by estimate the choice is final with probability {}",
    "unfinished": "the search was stopped early; this is the best choice so far",
    "no_rewrites": "no rewrite was accepted, so the originals were scored",
    "rating_below": (
        "every answer has a rating below the limit, so one with the fewest of those was taken"
    ),
    "held": "none of these answers is good",
    "clipped": "samples outside the bounds were clipped",
    "missing_grades": "grades that could not be had: {}",
    "rater_failed": "rater {} graded fewer than half of what it was asked",
}
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
NAMES = {"value": "value", "sigma": "sigma", "risk_premium": "risk premium"}


@dataclass(frozen=True)
class Labels:
    """What to call candidates, scorers and samples in words; `sample` is the noun for one.

    `raters` names who gave the first, second, ... sample of every candidate, where that is known.
    """

    candidates: Sequence[str] | None = None
    sample: str = "sample"
    scorers: Sequence[str] | None = None
    raters: Sequence[str] | None = None

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
    set it was chosen from, and `flags` what to know about it (`FLAGS` has them in words).
    After a lazy search `calls` counts the samples asked for and `bounded` (K,) marks the candidates
    that were given up early, whose statistics are not known: they are bounds or, where the flags
    say `likely` or `unfinished`, those of what was seen. `unseen` (K, n) marks the samples that
    were never asked for.
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
    unseen: Mask | None = None

    def __repr__(self) -> str:
        return f"Decision(index={self.index}, rule={self.rule.name!r}, flags={self.flags})"

    @property
    def partly(self) -> bool:
        """Whether some candidates were ruled out early, so that their ranks are not known."""
        return self.bounded is not None and bool(self.bounded.any())

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

    @property
    def held(self) -> bool:
        """Whether none of the answers is good."""
        return "held" in self.flags

    @property
    def is_likely(self) -> bool:
        """Whether the choice is only very probably final, since not every rating was asked for."""
        return any(flag.startswith("likely:") for flag in self.flags)

    @property
    def ratings(self) -> Array:
        """The samples of the first scorer as they were given, (K, n), NaN where there is none."""
        samples = self.pools.samples[0, 0]
        return samples if self.unseen is None else np.where(self.unseen, np.nan, samples)

    def rater_name(self, candidate: int, place: int) -> str:
        """Who gave a sample of a candidate, empty where that is not known."""
        if self.pools.raters is not None:
            code = int(self.pools.raters.codes[0, candidate, place])
            return self.pools.raters.names[code] if code >= 0 else ""
        return "" if self.labels.raters is None else str(self.labels.raters[place])

    @cached_property
    def opinions(self) -> Opinions | None:
        """What people think of the answers; None for scores of rewrites or of several scorers."""
        return opinions_of(self)

    def explain(self, details: bool = False) -> str:
        """Why this candidate, in words about people.

        Args:
            details: Add the numbers that the rule compared: ranks, value, sigma and premium.
        """
        flags = [flag_words(flag) for flag in self.flags]
        notes = [f"{words[0].upper()}{words[1:]}." for words in flags]
        sentences = [explain(self), *notes]
        if details:
            sentences.append(f"In numbers: {numbers_in_words(self)}.")
        return " ".join(sentences)

    def plot(
        self,
        path: str | Path | None = None,
        texts: Mapping[str, str] | Sequence[str] | None = None,
    ) -> "ShownFigure":
        """Draw how every answer was rated or scored, one dot per rater or wording.

        Args:
            path: Where to save the picture (.png, .svg or .pdf), None for nowhere.
            texts: The answers' texts, by the candidates' names or in their order.

        Returns:
            The picture, which a notebook shows; its `figure` is matplotlib's own.

        Raises:
            MissingExtra: If matplotlib is not installed.
        """
        from darc.decide.pictures import dot_picture
        from darc.views import ShownFigure, draw_ratings

        figure = draw_ratings(dot_picture(self, texts))
        shown = ShownFigure(figure, "decision")
        if path is not None:
            shown.save(path)
        return shown

    def _repr_html_(self) -> str:
        """Why this candidate, and how every answer was rated, for a notebook."""
        from darc.decide.pictures import dot_picture
        from darc.views.dots_html import notebook_html

        explanation = self.without_flag("held").explain()
        return notebook_html(dot_picture(self), answer="", explanation=explanation, rows=[])

    def without_flag(self, name: str) -> "Decision":
        """The same decision without one of its flags."""
        return replace(self, flags=tuple(flag for flag in self.flags if flag != name))

    def certificate(self, bounds: ArrayLike | None = None, delta: float = 0.05) -> Certificate:
        """What is certain of the choice; with the scale's `bounds` (a, b), a lower bound too."""
        return certify.certificate(self, bounds, delta)

    def flip(self, bounds: ArrayLike | None = None) -> Flip | None:
        """The smallest change of one sample that changes the choice, or None where there is none.

        Searches every sample in both directions, within `bounds` or three spans of the scores
        around them; costs some 60 batched decisions over 2 M K n pools.
        """
        return certify.flip(self, bounds)

    def _known(self, name: str, candidate: int) -> float:
        """A statistic of a candidate, NaN where only a bound of it is known."""
        if self.bounded is not None and self.bounded[candidate]:
            return float("nan")
        return float(getattr(self.statistics, name)[candidate])

    def _seen(self, candidate: int) -> int:
        """How many samples of a candidate were seen."""
        count = int(self.statistics.count[candidate])
        if self.bounded is None or self.unseen is None or not self.bounded[candidate]:
            return count
        missing = np.isnan(self.pools.samples[0]).any(axis=0)
        return int((~missing[candidate] & ~self.unseen[candidate]).sum())

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain data, ready for JSON (NaN becomes None).

        Candidates that a lazy search ruled out early have no statistics: only bounds are known.
        """
        names = ("value", "mean", "sigma", "risk_premium")
        rows = [
            {
                "index": k,
                "id": None if self.labels.candidates is None else str(self.labels.candidates[k]),
                **{name: _plain(self._known(name, k)) for name in names},
                "samples": self._seen(k),
                "feasible": bool(self.feasible[k]),
                **({} if self.bounded is None else {"bounded": bool(self.bounded[k])}),
            }
            for k in np.flatnonzero(self.pools.present[0]).tolist()
        ]
        result = {
            "rule": self.rule.name,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "index": self.index,
            "candidate": self.labels.candidate(self.index),
            "flags": list(self.flags),
            "explanation": self.explain(),
            "people": None if self.opinions is None else self.opinions.to_dict(),
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
    candidate_ids: Sequence[Sequence[str]] | None = None

    def __repr__(self) -> str:
        return f"Decisions({len(self)} prompts, rule={self.rule.name!r})"

    @property
    def index(self) -> Integers:
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
    def flags(self) -> Mapping[str, Mask]:
        """What to know about the choices: where each flag is raised, (P,), by its name."""
        pools = self.pools
        rows = np.arange(len(self.index))
        flags = {
            **self.choice.flags,
            "few_samples": np.any(pools.left_out, axis=1),
            "constant_scorer": np.any(self.statistics.constant, axis=1),
        }
        if pools.standards.no_rating_below is not None:
            flags["rating_below"] = pools.ratings_too_low[rows, self.index] > 0
        if pools.standards.poor_limit is not None:
            flags["held"] = is_held(pools, self.index, _not_ruled_out(pools, self.choice))
        if self.rule.by_value:
            sigma = self.chosen["sigma"]
            flags["small_sample"] = small_sample(pools.beta, sigma, self.chosen["count"])
        return flags

    @cached_property
    def chosen(self) -> dict[str, Array]:
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
            choice=self.choice.one(spot),
            pools=self.pools.one(spot),
            labels=Labels(names, self.pools.sample),
        )

    def __iter__(self) -> Iterator[Decision]:
        return (self[i] for i in range(len(self)))


def decide(
    rule: Rule,
    pools: Pools,
    candidate_ids: Sequence[Sequence[str]] | None = None,
) -> Decisions:
    """The `Decisions` of a rule; a rule that is fitted to a batch is fitted here."""
    pools.check()
    for name in pools.side:
        if name not in (*rule.required(), *rule.takes):
            raise InputError(f"rule {rule.name!r} does not use {name!r}", "leave it out")
    pools = pools.keeping_few() if rule.few else pools
    bound = rule.fitted(pools)
    choice = bound.choose(pools)
    return Decisions(bound, pools, choice, candidate_ids)


def _not_ruled_out(pools: Pools, choice: Choice) -> Mask:
    """Present candidates that the rule compared with others, or chose, (P, K)."""
    among = pools.present & ~np.isnan(choice.objective)
    if pools.settled is not None:
        among = among & ~pools.settled.dropped
    among[np.arange(len(choice.index)), choice.index] = True
    return among


def numbers_in_words(decision: Decision) -> str:
    """The numbers behind a choice: its ranks, the rule's reason, who leads by mean and lost."""
    name, partly = decision.labels.candidate(decision.index), decision.partly
    of_these = ""
    if _some_too_few(decision):
        of_these = "of those with enough samples " if partly else "of these "
    sentences = [f"{name}: {_ranks(decision)}", of_these + _reason(decision)]
    mean = decision.statistics.mean
    ahead = decision.pools.eligible[0] & _above(mean, decision.index, decision)
    if ahead.any() and decision.rule.by_value and not partly:
        sentences.append(_lost_lead(decision, int(np.argmax(np.where(ahead, mean, -np.inf)))))
    return "; ".join(sentences)


def flag_words(flag: str, words: Mapping[str, str] = FLAGS) -> str:
    """A flag in words; what follows its colon has a place in them."""
    name, _, detail = flag.partition(":")
    if name not in words:
        return flag
    if name == "likely":
        detail = f"{100 * float(detail):.0f} %"
    return words[name].format(detail)


def _some_too_few(decision: Decision) -> bool:
    """Whether a candidate has, or may turn out to have, too few samples to be chosen."""
    pools, count = decision.pools, decision.statistics.count
    if not decision.partly:
        return bool(pools.left_out.any())
    least = count.max() / 2 if pools.min_samples is None else pools.min_samples
    return bool(pools.left_out.any() or (pools.present[0] & (count < least)).any())


def _ranks(decision: Decision) -> str:
    """The chosen candidate's places among the eligible ones, or its numbers where not known."""
    statistics, own, eligible = decision.statistics, decision.index, decision.pools.eligible[0]
    arrays = {"mean": statistics.mean, "value": statistics.value, "sigma": statistics.sigma}
    known = {name: array for name, array in arrays.items() if not np.isnan(array[own])}
    if decision.partly:
        return ", ".join(f"{name} {known[name][own]:.3g}" for name in known if name != "mean")
    left_out = bool(decision.pools.left_out.any())
    if eligible.sum() == 1:
        return "the only one with enough samples" if left_out else "the only candidate"
    parts = []
    for name, array in known.items():
        key = -array if name == "sigma" else array
        better = int((eligible & _above(key, own, decision)).sum())
        with np.errstate(invalid="ignore"):
            close = eligible & (np.abs(key - key[own]) <= _slack(decision, own))
        place = ORDINALS[better] if better < len(ORDINALS) else f"{better + 1}th"
        place = f"{place} by {name}" if name != "sigma" else f"{place} lowest sigma"
        tied = "joint " if int(close.sum()) > 1 else ""
        parts.append(tied + place.replace("first lowest", "lowest"))
    return (f"of the {eligible.sum()} with enough samples " if left_out else "") + ", ".join(parts)


def _slack(decision: Decision, own: int) -> Array:
    """How far each candidate may be from this one and still tie with it, (K,)."""
    tolerance = decision.pools.tolerance[0]
    return np.asarray(np.maximum(tolerance, tolerance[own]))


def _above(key: Array, own: int, decision: Decision) -> Mask:
    """Which candidates are above this one by more than a tie, (K,)."""
    with np.errstate(invalid="ignore"):
        return np.asarray(key > key[own] + _slack(decision, own))


def _reason(decision: Decision) -> str:
    facts: dict[str, Any] = {n: array[0] for n, array in decision.choice.facts.items()}
    if "near" in facts:
        facts["near"] = "those" if decision.partly else f"the {facts['near']}"
    facts["hedge"] = ""
    if "scorer" in facts:
        lowest = decision.labels.scorer(int(facts["scorer"]))
        facts["hedge"] = f", hedged over its scorers, of which {lowest} is lowest"
    rule = decision.rule
    text = next((rule.instead[flag] for flag in decision.flags if flag in rule.instead), "")
    lonely = bool(rule.alone) and int(decision.feasible.sum()) == 1 and not decision.partly
    text = f"it is {rule.alone}" if lonely and not text else f"it has {text or rule.because}"
    return text.format(**{**rule.parameters, **facts})


def _lost_lead(decision: Decision, leader: int) -> str:
    """What the candidate with the largest mean has against it."""
    own, name = decision.index, decision.labels.candidate(leader)
    these = decision.pools.left_out.any()
    low = _outliers(decision, leader)
    if low:
        count = NUMBERS[low] if low < len(NUMBERS) else str(low)
        noun = decision.labels.sample if low == 1 else f"{decision.labels.sample}s"
        lead = "its lead among these" if these else "its lead"
        return f"{count} {noun} far below the rest cost {name} {lead}"
    leads = f"{name} leads these by mean" if these else f"{name} leads by mean"
    value = decision.statistics.value
    weaknesses = ["risk_premium", "value", "sigma"]
    if _above(value, own, decision)[leader]:
        leads += " and value"
        weaknesses = [decision.rule.weakness]
    else:
        leads += f" ({_against(decision.statistics.mean, leader, own)})"
    for weakness in weaknesses:
        array = getattr(decision.statistics, weakness)
        if np.isnan(array[leader]):
            return f"{leads}, but its {NAMES[weakness]} is undefined"
        worse = -array if weakness == "value" else array
        if _above(worse, own, decision)[leader]:
            return f"{leads}, but its {NAMES[weakness]} is {_against(array, leader, own)}"
    return leads


def _against(array: Array, one: int, other: int) -> str:
    """Two numbers with as many digits as it takes to tell them apart."""
    shown = [[f"{array[k]:.{digits}g}" for k in (one, other)] for digits in range(3, 18)]
    return " against ".join(next((pair for pair in shown if pair[0] != pair[1]), shown[0]))


def _outliers(decision: Decision, leader: int) -> int:
    """How many of the leader's lowest samples, at most a third, cost it the largest value.

    0 unless they also lie further from the rest than the rest spreads; one scorer only.
    """
    pools, value = decision.pools, decision.statistics.value
    if pools.shape[1] != 1 or pools.weights is not None:
        return 0
    samples = np.sort(pools.normalized(pools.samples)[0, 0, leader])
    samples = samples[~np.isnan(samples)]
    best = float(np.nanmax(np.where(pools.eligible[0], value, np.nan)))
    slack = float(np.max(pools.tolerance[0]))
    if value[leader] >= best - slack:
        return 0
    for low in range(1, len(samples) // 3 + 1):
        rest = samples[low:]
        gap, spread = rest[0] - samples[low - 1], rest[-1] - rest[0]
        if float(entropic_value(rest, pools.beta)) > best + slack:
            return low if gap >= spread else 0
    return 0
