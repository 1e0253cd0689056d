"""The methods that are compared, deciding by the selecting half of a split."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.decide_all import decide_all
from darc.decide.decision import Decisions
from darc.decide.method import Method, parse_methods
from darc.decide.model.calibration_file import Calibrations
from darc.decide.registry import rules
from darc.errors import InputError
from darc.ratings.ratings import Halves, Ratings
from darc.typing import Integers

#: The rule of Best-of-K, which everything is compared with.
BASELINE = "mean"
# The choice for a prompt that is not usable in a split.
_NO_CHOICE = -1


@dataclass
class SplitDecisions:
    """What each method decided in one split, by the method's text."""

    #: The choice for each prompt, (P,), -1 where the prompt is not usable.
    choices: dict[str, Integers] = field(default_factory=dict)
    #: Why a method could not decide.
    failures: dict[str, str] = field(default_factory=dict)
    #: On how many prompts each flag was raised.
    flags: dict[str, dict[str, int]] = field(default_factory=dict)
    #: The time each method took. Statistics count for the first method that uses them.
    seconds: dict[str, float] = field(default_factory=dict)


def compared_methods(
    texts: Sequence[str] = (),
    beta: float = 1.0,
    gamma: float = 1.0,
    calibrations: Calibrations | None = None,
    caution: str | None = None,
) -> list[Method]:
    """The methods to compare, Best-of-K first.

    Args:
        texts: Rules such as "epsilon:epsilon=0.5"; the usual ones without any.
        beta: Risk aversion of methods whose text gives none.
        gamma: Hedge over scorers of methods whose text gives none.
        calibrations: What rules that learn go by.
        caution: The caution of the rules that have one.

    Raises:
        InputError: No rule takes the calibrations or the caution.
    """
    usual = [name for name in rules if rules.get(name).evaluated_by_default]
    others = [text for text in texts or usual if text != BASELINE]
    parameters = {}
    if caution is not None:
        parameters["caution"] = caution
    return parse_methods(
        [BASELINE, *others], parameters, beta=beta, gamma=gamma, calibrations=calibrations
    )


def ready_methods(methods: Sequence[Method], ratings: Ratings) -> list[Method]:
    """The methods with the calibrations of the ratings' scorers.

    Rewrites teach nothing about people: on them nothing is learnt.
    """
    if not ratings.has_raters:
        methods = [method.without_learning() for method in methods]
    return [method.bound_to(ratings.scorers) for method in methods]


def with_normalization(methods: Sequence[Method], ratings: Ratings, normalize: str) -> list[Method]:
    """The methods with a normalisation.

    Raises:
        InputError: It is "fixed", and the scorers have no constants.
    """
    if normalize == "fixed" and ratings.constants is None:
        raise InputError(
            f"{ratings.name} has no normalization {normalize!r}", "use auto, prompt or none"
        )
    return [replace(method, normalize=normalize) for method in methods]


def decide_halves(methods: Sequence[Method], halves: Halves, seed: int = 0) -> SplitDecisions:
    """Decide on the usable prompts by the half that selects.

    A method that learns does so from that half alone, or goes by its calibrations. A method whose
    side inputs are missing or that raises anything has failed, and the others go on.

    Args:
        methods: The methods.
        halves: The halves of one split.
        seed: Seed of rules that draw at random.
    """
    result = SplitDecisions()
    select = halves.select
    prompts = np.flatnonzero(halves.usable)
    if not prompts.size:
        return result
    runnable = []
    for method in methods:
        missing = [name for name in method.rule.required() if name not in select.side]
        if missing:
            names = " and no ".join(missing)
            result.failures[method.text] = f"there is no {names} for the candidates"
        else:
            runnable.append(replace(method, seed=seed))
    batch = select.sample_batch(prompts, systems=_systems_for(runnable, select))
    for outcome in decide_all(ready_methods(runnable, select), batch, keep_going=True):
        text = outcome.method.text
        if outcome.decisions is None:
            result.failures[text] = str(outcome.error)
            continue
        choice = np.full(len(select.prompt_ids), _NO_CHOICE, dtype=np.int64)
        choice[prompts] = outcome.decisions.index
        result.choices[text] = choice
        result.flags[text] = _flag_counts(outcome.decisions)
        result.seconds[text] = outcome.seconds
    return result


def _systems_for(methods: Sequence[Method], ratings: Ratings) -> str:
    """Which systems methods are told of, as `Ratings.sample_batch` takes it."""
    if not any(method.learns for method in methods):
        return "none"
    if learns_from_ratings(methods, ratings):
        return "recurring"
    return "all"


def learns_from_ratings(methods: Sequence[Method], ratings: Ratings) -> bool:
    """Whether methods that learn do so from the ratings, without calibrations."""
    return ratings.has_raters and all(method.calibrations is None for method in methods)


def _flag_counts(decisions: Decisions) -> dict[str, int]:
    """On how many prompts each flag was raised that was raised at all."""
    return {name: int(raised.sum()) for name, raised in decisions.flags.items() if raised.any()}
