"""A rule as users write it, with what it has learnt, on the scale of some scorers: decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.caution import parse_caution
from darc.decide.decision import Decision
from darc.decide.model.calibration import DEFAULT
from darc.decide.model.calibration_file import Calibrations
from darc.decide.pools import Ids
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.search import plans
from darc.decide.search.lazy import LazySearch, SearchMode
from darc.decide.select import lazy_search, select
from darc.decide.side_inputs import side_inputs_for
from darc.decide.standards import NO_STANDARDS, PANEL_SCALE, Standards
from darc.decide.statistics.kernel import Normalization
from darc.decide.statistics.repeats import without_noise
from darc.errors import InputError
from darc.registry import parse_pairs
from darc.types import Scores
from darc.typing import Array, Integers


def rater_ids(
    codes: Integers, names: Sequence[str], groups: Mapping[str, str] | None = None
) -> Ids:
    """The raters of samples (P, M, K, n), -1 being nobody, as rules see them: (P, K, n).

    `groups` has the group of each. Where scorers disagree on who gave a sample, nobody did.
    """
    one = codes.max(axis=1)
    fine = ((codes == one[:, None]) | (codes < 0)).all(axis=(1, 2, 3))
    return Ids(np.where(fine[:, None, None], one, -1), tuple(names), groups or {})


def system_ids(systems: Sequence[Sequence[str]], candidates: int) -> Ids:
    """The systems of each prompt's candidates, (P, K), "" being not known."""
    places: dict[str, int] = {"": -1}
    codes = np.full((len(systems), candidates), -1, dtype=np.int64)
    for row, own in zip(codes, systems, strict=True):
        row[: len(own)] = [places.setdefault(name, len(places) - 1) for name in own]
    return Ids(codes, tuple(places)[1:])


def recurring(systems: Ids) -> Ids | None:
    """The systems that wrote for more than one prompt: of the others nothing can be learnt."""
    prompts, candidates = systems.codes.shape
    pairs = np.arange(prompts).repeat(candidates) * (len(systems.names) + 1) + systems.codes.ravel()
    found = np.unique(pairs[systems.codes.ravel() >= 0]) % (len(systems.names) + 1)
    again = np.append(np.bincount(found, minlength=len(systems.names)) > 1, False)
    if not again.any():
        return None
    place = np.where(again, np.cumsum(again) - 1, -1)
    names = tuple(name for name, kept in zip(systems.names, again, strict=False) if kept)
    return Ids(place[systems.codes], names)


CALIBRATION = "calibration"
CAUTION = "caution"


@dataclass(frozen=True)
class RuleSpec:
    """A rule with its parameters, the beta and gamma it sees, and the label it was asked by.

    `calibrations` are what it has learnt before, for a rule that learns.
    """

    label: str
    rule: Rule
    beta: float
    gamma: float
    calibrations: Calibrations | None = None

    @property
    def learns(self) -> bool:
        """Whether the rule takes a calibration."""
        return CALIBRATION in self.rule.defaults

    @property
    def caution(self) -> float | None:
        """The caution of the rule, None for a rule that has none."""
        if not self.rule.has_parameter(CAUTION):
            return None
        return parse_caution(self.rule.bind().parameters[CAUTION])

    def calibrated(self, calibrations: Calibrations | None) -> "RuleSpec":
        """The same with these calibrations, if the rule takes any."""
        return replace(self, calibrations=calibrations) if self.learns else self

    def rule_for(self, scorers: Sequence[str]) -> Rule:
        """The rule with the calibrations of these scorers."""
        if self.calibrations is None:
            return self.rule
        return self.rule.bind(calibration=self.calibrations.of(scorers))


def as_spec(rule: str | RuleSpec, calibrations: Calibrations | None = None) -> RuleSpec:
    """The rule of a text, or the given one, with these calibrations if there are any."""
    if isinstance(rule, str):
        return parse_rules([rule], {}, calibrations=calibrations)[0]
    return rule if calibrations is None else rule.calibrated(calibrations)


def parse_rules(
    texts: Sequence[str],
    shared: Mapping[str, Any],
    beta: float = 1.0,
    gamma: float = 1.0,
    calibrations: Calibrations | None = None,
) -> list[RuleSpec]:
    """The rules of texts such as "mean" or "epsilon:epsilon=0.5,beta=2".

    `shared` parameters go to each rule that takes them, and at least one must; a rule's own text
    wins over them. So do `calibrations`, of which a text can give the default one only.
    """
    specs: list[RuleSpec] = []
    used: set[str] = set()
    for text in texts:
        name, _, rest = text.partition(":")
        rule = rules.get(name.strip())
        own = parse_pairs([part for part in rest.split(",") if part.strip()], f"rule {name!r}:")
        general = {"beta": beta, "gamma": gamma}
        general |= {key: own.pop(key) for key in general if key in own}
        taken = {key: value for key, value in shared.items() if rule.has_parameter(key)}
        used |= taken.keys()
        given = {**taken, **own}
        if CAUTION in given and given[CAUTION] is None:
            # Elsewhere the text "none" stands for a value that is missing.
            given[CAUTION] = "none"
        if given.get(CALIBRATION, DEFAULT.name) != DEFAULT.name:
            raise InputError(f"rule {name!r} is not calibrated so", "use --calibration FILE")
        bound = rule.bind(**given)
        if bound.has_parameter(CAUTION):
            # A mistake in it is better said before the answers are written.
            parse_caution(bound.parameters[CAUTION])
        spec = RuleSpec(text, bound, general["beta"], general["gamma"])
        specs.append(spec.calibrated(calibrations))
    names = ", ".join(spec.rule.name for spec in specs)
    for key in shared.keys() - used:
        hint = f"it belongs to {_takers(key)}" if _takers(key) else "see: darc rules"
        raise InputError(f"{key!r} is no parameter of {names}", hint)
    if calibrations is not None and not any(spec.learns for spec in specs):
        hint = f"leave it out, or use --rule {_takers(CALIBRATION)}"
        raise InputError(f"{names} takes no calibration", hint)
    repeated = {spec.label for spec in specs if texts.count(spec.label) > 1}
    if repeated:
        raise InputError(f"rule {min(repeated)!r} is given twice", "give each rule once")
    return specs


def _takers(key: str) -> str:
    return ", ".join(name for name in rules if rules.get(name).has_parameter(key))


Normalize = Literal["auto", "prompt", "fixed", "none"]
NORMALIZATIONS = get_args(Normalize)


@dataclass(frozen=True)
class Deciding:
    """A rule, and on which scale it sees the scorers.

    `normalize` is auto, prompt, fixed or none; auto is none for one scorer, and for several fixed
    where they have constants and the decision may be searched for, prompt otherwise. Without
    `include_original` the first sample, the original, counts only where there is no other. A
    candidate with fewer samples than `min_samples` is left out where another has as many; None
    leaves out those with less than half of the most. `standards` say what counts as a good rating;
    a panel's scale is known without them. `search_mode` says when a lazy search stops.
    """

    spec: RuleSpec
    normalize: str = "auto"
    seed: int = 0
    include_original: bool = True
    min_samples: int | None = 1
    standards: Standards = NO_STANDARDS
    search_mode: SearchMode = "exact"

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

    @property
    def best_of_k(self) -> "Deciding":
        """The same by the largest mean."""
        (mean,) = parse_rules(["mean"], {}, self.spec.beta, self.spec.gamma)
        return replace(self, spec=mean)

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
        nor where a calibration knows the systems. Raters that it knows are no hindrance to a
        single scorer: where each has graded every candidate their severities lower all means by
        the same number, and spreads are those of the ratings as they are.
        """
        rule = self.spec.rule
        if self.standards.no_rating_below is not None:
            # Which answers have no rating below the limit is known from all ratings only.
            return False
        if rule.plan is None or rule.required() or scores.repeats > 1:
            return False
        known_ids = self.ids(scores).keys()
        if len(scores.scorers) == 1:
            return known_ids <= {"rater_ids"}
        if known_ids or (rule.plan is plans.auto and scores.sample != "rewrite"):
            return False
        has_constants = self.normalize != "prompt" and scores.constants is not None
        return self.normalize == "none" or has_constants

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
            bounds=scores.bounds,
            clip=True,
            # Known severities cancel among complete candidates only.
            search="exact" if self.ids(scores) else self.search_mode,
            **self._how(scores, lazily=True),
        )

    def decide(self, prompt_id: str, scores: Scores, side: Mapping[str, Any]) -> Decision:
        """The decision on all scores of one prompt, clipped to the scorers' bounds.

        Raters who were asked several times count without their own noise (`without_noise`).
        """
        alone = not self.include_original and not np.isnan(scores.values[:, :, 0]).all()
        decision = select(
            decided_on(scores),
            seed=self.seed,
            prompt_id=prompt_id,
            **self._how(scores, lazily=False),
            **self.ids(scores),
            **side_inputs_for(self.spec.rule, side),
        )
        decision = with_raters(flagged(decision, scores), scores)
        return replace(decision, flags=(*decision.flags, "no_rewrites")) if alone else decision

    def standards_for(self, scores: Scores) -> Standards:
        """What counts as a good rating among these scores.

        A panel's scale is that of its grades. Scores of rewrites are on no scale of satisfaction:
        limits that were given for them are kept, and nothing is assumed.
        """
        if scores.sample == "rater" and self.standards.scale is None:
            return replace(self.standards, scale=PANEL_SCALE)
        return self.standards

    def _how(self, scores: Scores, lazily: bool) -> dict[str, Any]:
        standards = self.standards_for(scores)
        return {
            "rule": self.spec.rule_for(scores.scorers),
            "beta": self.spec.beta,
            "gamma": self.spec.gamma,
            "normalize": self.scale(scores, lazily),
            "min_samples": self.min_samples,
            "candidate_ids": scores.candidates or None,
            "scorer_ids": scores.scorers,
            "sample": scores.sample,
            "scale": standards.scale,
            "threshold": standards.threshold,
            "no_rating_below": standards.no_rating_below,
            "poor_below": standards.poor_below,
        }


def with_raters(decision: Decision, scores: Scores) -> Decision:
    """The decision with the names of a panel's raters."""
    if scores.sample != "rater" or not scores.samples:
        return decision
    return replace(decision, labels=replace(decision.labels, raters=scores.samples))


def flagged(decision: Decision, scores: Scores) -> Decision:
    """The decision, flagged with how many grades are missing, and raters of whom most are."""
    if not scores.failed:
        return decision
    missing = np.zeros(scores.values.shape[1:], dtype=bool)
    missing[tuple(zip(*scores.failed, strict=True))] = True
    had = (~np.isnan(scores.values[0]) & ~missing).sum(axis=0)
    lost = np.flatnonzero(missing.sum(axis=0) > had)
    told = [f"rater_failed:{scores.samples[i]}" for i in lost]
    flags = (*decision.flags, f"missing_grades:{len(scores.failed)}", *told)
    return replace(decision, flags=flags)


def decided_on(scores: Scores) -> Array:
    """What rules see of scores, (M, K, n): within their bounds, and without raters' own noise."""
    if scores.repeats == 1 or scores.grades is None:
        return scores.clipped
    drawn = without_noise(scores.grades.mean(axis=0))[None]
    # What counts as the lowest grade because it is missing stays.
    return np.where(np.isnan(drawn), scores.clipped, drawn)
