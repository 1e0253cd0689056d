"""A method: a rule with its parameters and everything else that a decision depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, get_args

import numpy as np

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.caution import parse_caution
from darc.decide.decision import Decision, Decisions, decide
from darc.decide.evidence.adaptive import AskingModel
from darc.decide.evidence.asking import DEFAULT_PRICE
from darc.decide.evidence.posterior import RatingNoise
from darc.decide.evidence.winner import calibration_of, promise_of
from darc.decide.model.calibration import DEFAULT
from darc.decide.model.calibration_file import Calibrations
from darc.decide.options import SelectOptions
from darc.decide.pools import Pools
from darc.decide.registry import rules
from darc.decide.rule import Rule
from darc.decide.rule_text import CAUTION, split_rule_text
from darc.decide.sample_batch import SampleBatch
from darc.decide.search import plans
from darc.decide.search.lazy import LazySearch
from darc.decide.select import lazy_search, select
from darc.decide.side_inputs import side_inputs_for
from darc.decide.standards import NO_STANDARDS, PANEL_SCALE, Standards
from darc.decide.statistics.draws import prompt_seeds
from darc.decide.statistics.normalization import Normalization
from darc.decide.statistics.panel_disagreement import (
    MIN_CANDIDATES,
    disagreement_alone,
    panel_disagreement,
)
from darc.decide.trial import check_parameters
from darc.errors import InputError
from darc.settings.choices import Normalize, SearchMode, Slate
from darc.types import Scores
from darc.typing import Array

CALIBRATION = "calibration"
BEST_OF_K_RULE = "mean"
# Parameters of a method's text that are not the rule's own.
LEVELS = ("beta", "gamma")

NORMALIZATIONS = get_args(Normalize)


@dataclass(frozen=True)
class Method:
    """A rule with its parameters and everything else that a decision depends on.

    It is made by `Method.parse` from a text such as "epsilon:epsilon=0.5,beta=2", which `str`
    prints back, or by `Method.of` from a rule's name and parameters.
    """

    #: As users write it, and as tables call it.
    text: str
    #: The rule with its parameters bound, the calibration excepted.
    rule: Rule
    #: What the text gives: parameters of the rule, and beta and gamma.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: Risk aversion of the entropic value.
    beta: float = 1.0
    #: Hedge over scorers: the weight of the soft minimum.
    gamma: float = 1.0
    #: What the rule has learnt before, by scorer; None for a rule that does not learn.
    calibrations: Calibrations | None = None
    #: The scale on which the rule sees the scorers. "auto" means "none" for one scorer; for several
    #: it means "fixed" where they have constants and the search is lazy, and "prompt" otherwise.
    normalize: str = "auto"
    #: Seed of the rules that draw at random.
    seed: int = 0
    #: Whether the first sample, the original, counts also where there are rewrites.
    include_original: bool = True
    #: Candidates with fewer samples are left out where another has as many. None means half of the
    #: pool's largest count; rules that allow for few samples themselves then leave out none.
    min_samples: int | None = None
    #: What counts as a good rating. The scale of a panel is known without it.
    standards: Standards = NO_STANDARDS
    #: When a lazy search stops.
    search_mode: SearchMode = "exact"
    #: What one call to a rater of a panel must improve the choice by, in standard deviations of an
    #: answer's grades; None where raters are not asked by what their grades are worth.
    call_price: float | None = None
    #: Which answers are returned where several are.
    slate: Slate = "different"

    def __post_init__(self) -> None:
        """Refuse a rule that wants the original's score where there is none."""
        if not self.include_original and self.rule.parameters.get("reward") == "original":
            raise InputError(
                f"rule {self.rule.name!r} with reward=original needs the original's score",
                "include the original, or use reward=mean",
            )

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(
        cls,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        calibrations: Calibrations | None = None,
        **options: Any,
    ) -> "Method":
        """Read a method from text.

        Args:
            text: The name of a rule and its parameters, such as "mean" or
                "epsilon:epsilon=0.5,beta=2".
            parameters: Further parameters of the rule; the text wins over them.
            calibrations: What the rule has learnt before.
            **options: Other fields of the method, such as `beta` or `min_samples`.

        Raises:
            UnknownName: If there is no such rule or parameter.
            InputError: If the rule takes no calibration, or a value is not allowed.
        """
        (method,) = parse_methods([text], parameters, calibrations=calibrations, **options)
        return method

    @classmethod
    def of(cls, rule_name: str, parameters: Mapping[str, Any] | None = None) -> "Method":
        """Make a method of a rule's name and parameters, among which may be beta and gamma.

        Its text names all of the parameters, such as "epsilon:epsilon=0.5,beta=2".
        """
        values = dict(parameters or {})
        text = _method_text(rule_name, values)
        levels = {name: values[name] for name in LEVELS if name in values}
        rule_parameters = {name: value for name, value in values.items() if name not in levels}
        rule = rules.get(rule_name).bind(**rule_parameters)
        return cls(text, rule, values, **levels)

    @property
    def learns(self) -> bool:
        """Whether the rule takes a calibration."""
        return self.rule.has_parameter(CALIBRATION)

    @property
    def learns_from_samples(self) -> bool:
        """Whether the rule is fitted to the samples that it decides on."""
        return self.rule.calibrate is not None and self.calibrations is None

    @property
    def caution(self) -> float | None:
        """The caution of the rule, None for a rule that has none."""
        if not self.rule.has_parameter(CAUTION):
            return None
        return parse_caution(self.rule.parameters[CAUTION])

    @property
    def _has_promise(self) -> bool:
        """Whether a calibration says which answers to hold back."""
        if self.calibrations is None:
            return promise_of(self.rule) is not None
        return any(one.promise is not None for one in self.calibrations.by_scorer.values())

    @property
    def first_sample(self) -> int:
        """The place of the first sample that counts."""
        if self.include_original:
            return 0
        return 1

    @property
    def best_of_k(self) -> "Method":
        """The same method with the rule "mean", which takes the largest mean."""
        return replace(
            self,
            text=BEST_OF_K_RULE,
            rule=rules.get(BEST_OF_K_RULE),
            parameters={},
            calibrations=None,
        )

    def with_rule_of(self, other: "Method") -> "Method":
        """The same method with another one's rule, beta and gamma.

        Calibrations are the other's, or else this method's if the other rule learns.
        """
        calibrations = other.calibrations
        if calibrations is None and other.learns:
            calibrations = self.calibrations
        return replace(
            self,
            text=other.text,
            rule=other.rule,
            parameters=other.parameters,
            beta=other.beta,
            gamma=other.gamma,
            calibrations=calibrations,
        )

    def with_parameters(self, **parameters: Any) -> "Method":
        """The same method with other values of some of the rule's parameters; the text stays."""
        return replace(self, rule=self.rule.bind(**parameters))

    def with_calibrations(self, calibrations: Calibrations | None) -> "Method":
        """The same method with these calibrations, if the rule takes any."""
        if not self.learns:
            return self
        return replace(self, calibrations=calibrations)

    def without_learning(self) -> "Method":
        """The same method, which does not learn from the samples that it decides on."""
        if not self.learns or self.calibrations is not None:
            return self
        return self.with_parameters(calibration=DEFAULT)

    def bound_to(self, scorers: Sequence[str]) -> "Method":
        """The same method with the calibrations of these scorers among the rule's parameters."""
        if self.calibrations is None:
            return self
        return replace(self, rule=self.rule_for(scorers), calibrations=None)

    def fitted(self, batch: SampleBatch) -> "Method":
        """The same method with what its rule learns from some samples, if it does."""
        if not self.learns_from_samples:
            return self.bound_to(batch.scorers)
        return replace(self, rule=self.rule.fitted(self.pools(batch)))

    def rule_for(self, scorers: Sequence[str]) -> Rule:
        """The rule with the calibrations of these scorers."""
        if self.calibrations is None:
            return self.rule
        return self.rule.bind(calibration=self.calibrations.of(scorers))

    def pools(self, batch: SampleBatch) -> Pools:
        """The samples of a batch as the rule sees them, without side inputs."""
        normalization: Normalization = self.normalize
        if self.normalize == "auto":
            normalization = None
        elif self.normalize == "fixed":
            if batch.constants is None:
                raise InputError("the scorers have no constants", "use auto, prompt or none")
            normalization = batch.constants
        return Pools(
            batch.samples,
            self.beta,
            self.gamma,
            normalization,
            min_samples=self.min_samples,
            seed_source=partial(prompt_seeds, self.seed, batch.prompt_ids),
            raters=batch.raters,
            systems=batch.systems,
            sample=batch.sample,
            judged=batch.judged,
            standards=self.standards,
        )

    def decide_batch(self, batch: SampleBatch, pools: Pools | None = None) -> Decisions:
        """Decide on many prompts.

        Args:
            batch: The samples of the prompts.
            pools: What `pools` returns for the batch, to share statistics between methods.
        """
        rule = self.rule_for(batch.scorers)
        if pools is None:
            pools = self.pools(batch)
        side = {name: batch.side[name] for name in rule.side_names if name in batch.side}
        if side:
            pools = pools.sharing(side=side)
        return decide(rule, pools, batch.candidate_ids)

    def decide(self, prompt_id: str, scores: Scores, side: Mapping[str, Any]) -> Decision:
        """Decide on all scores of one prompt, clipped to the bounds of the scorers.

        The grades of a panel that graded every candidate count without the raters' severity, and
        without their own noise where they were asked several times.

        Args:
            prompt_id: The id of the prompt, by which rules that draw are seeded.
            scores: The scores of its candidates.
            side: Side inputs by name, of which the rule gets those that it uses.
        """
        decision = select(
            self.decided_on(scores),
            seed=self.seed,
            prompt_id=prompt_id,
            **self._select_options(scores, lazily=False),
            **self.ids(scores),
            **side_inputs_for(self.rule, side),
        )
        decision = with_raters(flagged(decision, scores), scores)
        only_originals = not np.isnan(scores.values[:, :, 0]).all()
        if not self.include_original and only_originals:
            return replace(decision, flags=(*decision.flags, "no_rewrites"))
        return decision

    def decided_on(self, scores: Scores) -> Array:
        """What the rule sees of scores, (M, K, n).

        These are the scores within their bounds. Of a panel that was asked about all candidates at
        once or repeatedly, the grades vary by disagreement alone. The rule `auto` allows for chance
        itself and so is shown the raters' own noise.
        """
        is_limited = self.standards.no_rating_below is not None
        if is_limited or not (scores.judged and (scores.repeats > 1 or scores.orders)):
            return scores.clipped
        means = scores.clipped[0]
        disagreement = panel_disagreement(
            grades_of_repeats(scores),
            scores.orders,
            means=means,
            subtract_noise=self.rule.plan is not plans.auto,
        )
        return disagreement_alone(means, disagreement)[None]

    def scale(self, scores: Scores, lazily: bool) -> Normalization:
        """The normalisation that `darc.select` is to use.

        Args:
            scores: The scores, with the constants of their scorers.
            lazily: Whether the decision is searched for.

        Raises:
            InputError: If the scale must be fixed, and a scorer has no constants.
        """
        if self.normalize not in NORMALIZATIONS:
            raise InputError(
                f"normalize is {self.normalize!r}", f"one of {', '.join(NORMALIZATIONS)}"
            )
        automatic = self.normalize == "auto"
        if self.normalize == "none" or (automatic and len(scores.scorers) == 1):
            return "none"
        if self.normalize == "fixed" or (automatic and lazily):
            if scores.constants is None:
                raise InputError(
                    "not every scorer has a fixed location and scale",
                    "give them, as in SCORER,location=0,scale=1, or --normalize prompt",
                )
            return scores.constants
        return "prompt"

    def can_search(self, scores: Scores) -> bool:
        """Whether a lazy search decides as the rule does on all samples.

        It does not where raters are asked several times, since their noise is estimated from all
        grades, nor where a calibration knows the systems. Raters that a calibration knows do not
        matter to a single scorer: where each has graded every candidate their severities lower all
        means by the same number, and spreads are those of the ratings as they are.
        """
        if scores.orders or scores.compared:
            # A rater who sees all answers at once, or compares them, has judged all of them.
            return False
        if self.standards.no_rating_below is not None:
            # Which answers have no rating below the limit is known from all ratings only.
            return False
        if self._has_promise:
            # Whether an answer is sure enough to be shown is known from all ratings only.
            return False
        if self.rule.plan is None or self.rule.required() or scores.repeats > 1:
            return False
        known_ids = self.ids(scores).keys()
        if len(scores.scorers) == 1:
            return known_ids <= {"rater_ids"}
        if known_ids or (self.rule.plan is plans.auto and scores.sample != "rewrite"):
            return False
        has_constants = self.normalize != "prompt" and scores.constants is not None
        return self.normalize == "none" or has_constants

    def asking_model(self, scorers: Sequence[str], raters: Sequence[str]) -> AskingModel:
        """What the calibration knows of raters who are asked by what their grades are worth.

        Args:
            scorers: The name of the scorer that the raters are.
            raters: The names of the raters; none for raters who judge all answers at once, whose
                severity does not matter.

        Raises:
            InputError: If the rule, or something else of the method, needs every grade, or the
                calibration does not know enough.
        """
        self._check_adaptive()
        calibration = calibration_of(self.rule_for(scorers))
        if calibration.within_df <= 0:
            raise InputError(
                "asking adaptively needs to know how far the raters' grades vary",
                "learn it from earlier grades: darc calibrate RUN --out FILE, then --calibration "
                "FILE",
            )
        for name in raters:
            if name not in calibration.raters:
                raise InputError(
                    f"the calibration does not know how severe the rater {name!r} is",
                    "make it from grades of the same panel: darc calibrate RUN --out FILE",
                )
        (candidates, _), _ = calibration.candidates
        noise = RatingNoise(
            rating=calibration.within * calibration.shared,
            candidates=calibration.within * candidates,
        )
        severity = np.array([calibration.raters[name] for name in raters])
        price = DEFAULT_PRICE if self.call_price is None else self.call_price
        return AskingModel(noise, severity, price)

    def _check_adaptive(self) -> None:
        if self.rule.plan is not plans.auto:
            raise InputError(
                f"the rule {self.rule.name} needs every grade, and cannot ask adaptively",
                "leave out --adaptive, or use --rule auto",
            )
        if self.standards.no_rating_below is not None:
            raise InputError(
                "a lowest acceptable grade is known from every grade only",
                "leave out --adaptive or --no-rating-below",
            )
        if self._has_promise:
            raise InputError(
                "whether an answer is sure enough to be shown is known from every grade only",
                "leave out --adaptive, or calibrate without a promise",
            )

    def check_parameters(self) -> None:
        """Refuse parameters that only the rule itself can judge, before anything is scored.

        Raises:
            InputError: If a parameter cannot be used.
        """
        if self.rule.plan is None or self.rule.required():
            # Without its side inputs such a rule cannot be tried.
            return
        options = SelectOptions(beta=self.beta, gamma=self.gamma, min_samples=self.min_samples)
        check_parameters(self.rule, options)

    def search(self, scores: Scores) -> LazySearch:
        """A lazy search by this method, among the samples that count from the first on."""
        # Known severities cancel among complete candidates only.
        search_mode = self.search_mode
        if self.ids(scores):
            search_mode = "exact"
        return lazy_search(
            scores.values.shape[1],
            scores.values.shape[2] - self.first_sample,
            bounds=scores.bounds,
            clip=True,
            search=search_mode,
            check=False,
            **self._select_options(scores, lazily=True),
        )

    def ids(self, scores: Scores) -> dict[str, Any]:
        """The raters and systems of some scores, where a calibration knows any of them.

        Returns:
            Keywords of `darc.select`: `rater_ids`, `system_ids`, both or none.
        """
        ids: dict[str, Any] = {}
        if self.rule.has_parameter("group") and scores.samples:
            ids["rater_ids"] = [scores.samples] * scores.values.shape[1]
            ids["rater_groups"] = self._rater_groups(scores)
        if self.calibrations is None:
            return ids
        calibrations = self.calibrations.by_scorer.values()
        if any(name in one.raters for one in calibrations for name in scores.samples):
            ids["rater_ids"] = [scores.samples] * scores.values.shape[1]
        if any(name in one.systems for one in calibrations for name in scores.candidates):
            ids["system_ids"] = scores.candidates
        return ids

    def _rater_groups(self, scores: Scores) -> dict[str, str]:
        """The groups of raters: as given, else the one that a rater is named like."""
        groups: dict[str, str] = {}
        calibrations = [] if self.calibrations is None else self.calibrations.by_scorer.values()
        for calibration in calibrations:
            if calibration.groups is not None:
                named = {
                    name: name for name in scores.samples if name in calibration.groups.effects
                }
                groups |= named
                groups |= calibration.groups.members
        return groups | dict(scores.groups)

    def standards_for(self, scores: Scores) -> Standards:
        """What counts as a good rating among these scores.

        A panel's scale is that of its grades. Scores of rewrites are not on a scale of
        satisfaction, nor are comparisons, so nothing is assumed for them.
        """
        is_graded = scores.sample == "rater" and not scores.compared
        if is_graded and self.standards.scale is None:
            return replace(self.standards, scale=PANEL_SCALE)
        return self.standards

    def _select_options(self, scores: Scores, lazily: bool) -> dict[str, Any]:
        """The keywords that `select` and `lazy_search` share."""
        standards = self.standards_for(scores)
        return {
            "rule": self.rule_for(scores.scorers),
            "beta": self.beta,
            "gamma": self.gamma,
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


def as_method(method: str | Method, calibrations: Calibrations | None = None) -> Method:
    """The method of a text, or the given one, with these calibrations if there are any."""
    if isinstance(method, str):
        return Method.parse(method, calibrations=calibrations)
    if calibrations is None:
        return method
    return method.with_calibrations(calibrations)


def parse_methods(
    texts: Sequence[str],
    parameters: Mapping[str, Any] | None = None,
    *,
    calibrations: Calibrations | None = None,
    **options: Any,
) -> list[Method]:
    """Read several methods that share their options.

    Args:
        texts: What `Method.parse` takes, each text once.
        parameters: Parameters for each rule that takes them; at least one rule must take each.
            A rule's own text wins over them.
        calibrations: What the rules have learnt before, for those that learn. A text can name the
            default calibration only.
        **options: Other fields of the methods, such as `beta` or `min_samples`.

    Raises:
        UnknownName: If there is no such rule or parameter.
        InputError: If no rule takes a parameter or the calibrations, if a value is not allowed, or
            if a text is given twice.
    """
    shared = parameters or {}
    methods = [_parse_method(text, shared, options) for text in texts]
    names = ", ".join(method.rule.name for method in methods)
    for name in shared:
        if not any(method.rule.has_parameter(name) for method in methods):
            takers = _rules_that_take(name)
            hint = f"it belongs to {takers}"
            if not takers:
                hint = "see: darc rules"
            raise InputError(f"{name!r} is not a parameter of {names}", hint)
    if calibrations is not None and not any(method.learns for method in methods):
        hint = f"leave it out, or use --rule {_rules_that_take(CALIBRATION)}"
        raise InputError(f"{names} takes no calibration", hint)
    for text in texts:
        if texts.count(text) > 1:
            raise InputError(f"rule {text!r} is given twice", "give each rule once")
    return [method.with_calibrations(calibrations) for method in methods]


def _parse_method(text: str, shared: Mapping[str, Any], options: Mapping[str, Any]) -> Method:
    """One method without calibrations; `shared` parameters go to a rule that takes them."""
    name, text_parameters = split_rule_text(text)
    rule = rules.get(name)
    levels: dict[str, Any] = {key: value for key, value in text_parameters.items() if key in LEVELS}
    parameters = {key: value for key, value in shared.items() if rule.has_parameter(key)}
    parameters |= {key: value for key, value in text_parameters.items() if key not in levels}
    if parameters.get(CALIBRATION, DEFAULT.name) != DEFAULT.name:
        raise InputError(f"rule {name!r} is not calibrated so", "use --calibration FILE")
    bound = rule.bind(**parameters)
    if bound.has_parameter(CAUTION):
        # A mistake in it is better reported before the answers are written.
        parse_caution(bound.parameters[CAUTION])
    return Method(text, bound, text_parameters, **{**options, **levels})


def _rules_that_take(parameter: str) -> str:
    """The names of the rules that have a parameter."""
    return ", ".join(name for name in rules if rules.get(name).has_parameter(parameter))


def _method_text(rule_name: str, parameters: Mapping[str, Any]) -> str:
    """A rule and its parameters as every command takes them."""
    pairs = [f"{name}={_value_text(value)}" for name, value in parameters.items()]
    if not pairs:
        return rule_name
    return f"{rule_name}:{','.join(pairs)}"


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return format(value, ".6g")


def with_raters(decision: Decision, scores: Scores) -> Decision:
    """The decision with the names and grades of a panel's raters, and whether they are judges."""
    if scores.judged:
        pools = replace(decision.pools, judged=True)
        decision = replace(decision, pools=pools, grades=scores.clipped[0])
    if scores.sample != "rater" or not scores.samples:
        return decision
    return replace(decision, labels=replace(decision.labels, raters=scores.samples))


def flagged(decision: Decision, scores: Scores) -> Decision:
    """Flag what is missing of a panel's grades, and whether severity is part of disagreement."""
    if scores.judged and scores.values.shape[1] == MIN_CANDIDATES - 1 and len(scores.samples) > 1:
        decision = replace(decision, flags=(*decision.flags, "severity_not_removed"))
    if not scores.failed:
        return decision
    missing = np.zeros(scores.values.shape[1:], dtype=bool)
    missing[tuple(zip(*scores.failed, strict=True))] = True
    graded = (~np.isnan(scores.values[0]) & ~missing).sum(axis=0)
    failed_raters = np.flatnonzero(missing.sum(axis=0) > graded)
    flags = [*decision.flags, f"missing_grades:{len(scores.failed)}"]
    flags += [f"rater_failed:{scores.samples[i]}" for i in failed_raters]
    return replace(decision, flags=tuple(flags))


def grades_of_repeats(scores: Scores) -> Array:
    """The grades (K, n, repeats) of a panel, means over its criteria."""
    if scores.grades is None:
        return scores.values[0][:, :, None]
    return np.asarray(scores.grades.mean(axis=0))
