"""A rule as users write it, with what it has learnt, on the scale of some scorers: decisions."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import numpy as np

import darc.rules  # noqa: F401  (registers the rules)
from darc.api import lazy_search, select
from darc.core.kernel import Normalization
from darc.core.repeats import without_noise
from darc.engine.options import Normalize
from darc.engine.parts import wanted
from darc.errors import InputError
from darc.files import atomic_writer, read_json
from darc.registry import parse_pairs, rules
from darc.selection.calibration import DEFAULT, Calibration
from darc.selection.decision import Decision
from darc.selection.lazy import LazySearch
from darc.selection.pools import Ids
from darc.selection.rule import Rule
from darc.types import Scores
from darc.typing import Array, Integers

FORM, VERSION = "darc calibrations", 1
AGAIN = "make it again with darc calibrate"


@dataclass(frozen=True, eq=False)
class Calibrations:
    """One calibration a scorer, by its name; one that is named "" is for whatever scorer there is.

    A file of the latter is that of `Calibration.save`.
    """

    by_scorer: Mapping[str, Calibration]

    def of(self, scorers: Sequence[str]) -> Calibration | tuple[Calibration, ...]:
        """The calibrations of some scorers, in their order; a scorer without one is refused.

        Where scorers have no names, those of several scorers are of no use.
        """
        if "" in self.by_scorer or not scorers:
            return self.by_scorer.get("", DEFAULT)
        for name in scorers:
            if name not in self.by_scorer:
                raise InputError(
                    f"the calibration knows nothing of scorer {name!r}",
                    f"it is of {', '.join(self.by_scorer)}; calibrate on scores of the same",
                )
        found = tuple(self.by_scorer[name] for name in scorers)
        return found[0] if len(found) == 1 else found

    @cached_property
    def text(self) -> str:
        """The content of its file."""
        if "" in self.by_scorer:
            return self.by_scorer[""].to_json()
        parts = {name: json.loads(one.to_json()) for name, one in self.by_scorer.items()}
        return json.dumps({"form": FORM, "version": VERSION, "scorers": parts}, indent=1) + "\n"

    @property
    def digest(self) -> str:
        """What tells it from another."""
        return f"sha256:{hashlib.sha256(self.text.encode()).hexdigest()}"

    def save(self, path: Path, *, private: bool = False) -> None:
        """Write the file, whole or not at all; a new one that is `private` for its owner only."""
        with atomic_writer(path, private=private) as file:
            file.write(self.text)

    @classmethod
    def load(cls, path: str | Path) -> "Calibrations":
        """The calibrations in a file; one that cannot be used is refused with its field's name."""
        found = read_json(Path(path), hint=AGAIN)
        if not isinstance(found, dict) or found.get("form") != FORM:
            return cls({"": Calibration.load(path)})
        parts = found.get("scorers")
        if found.get("version") != VERSION or not isinstance(parts, dict) or not parts:
            raise InputError(f"{path} has no scorers of version {VERSION}", AGAIN)
        return cls(
            {
                name: Calibration.from_json(json.dumps(part), f"{path}, scorer {name!r}")
                for name, part in parts.items()
            }
        )


def as_calibrations(given: Any) -> Calibrations | None:
    """What is meant by a file's path, a `Calibration`, several by scorer, or nothing."""
    if given is None or isinstance(given, Calibrations):
        return given
    if isinstance(given, Calibration):
        return Calibrations({"": given})
    if isinstance(given, Mapping):
        return Calibrations(dict(given))
    return Calibrations.load(given)


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
        taken = {key: value for key, value in shared.items() if key in rule.defaults}
        used |= taken.keys()
        if {**taken, **own}.get(CALIBRATION, DEFAULT.name) != DEFAULT.name:
            raise InputError(f"rule {name!r} is not calibrated so", "use --calibration FILE")
        bound = rule.bind(**{**taken, **own})
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
    return ", ".join(name for name in rules if key in rules.get(name).defaults)


NORMALIZATIONS = get_args(Normalize)


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
        single scorer: where each has graded every candidate their severities cancel.
        """
        rule = self.spec.rule
        one, ids = len(scores.scorers) == 1, self.ids(scores).keys()
        if rule.plan is None or rule.required() or scores.repeats > 1 or ids - {"rater_ids"}:
            return False
        if one or self.normalize == "none":
            return one or not ids
        return not ids and self.normalize != "prompt" and scores.constants is not None

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
            **wanted(self.spec.rule, side),
        )
        decision = flagged(decision, scores)
        return replace(decision, flags=(*decision.flags, "no_rewrites")) if alone else decision

    def _how(self, scores: Scores, lazily: bool) -> dict[str, Any]:
        return {
            "rule": self.spec.rule_for(scores.scorers),
            "beta": self.spec.beta,
            "gamma": self.spec.gamma,
            "normalize": self.scale(scores, lazily),
            "min_samples": self.min_samples,
            "candidate_ids": scores.candidates or None,
            "scorer_ids": scores.scorers,
            "sample": scores.sample,
        }


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
