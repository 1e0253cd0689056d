"""All rules deciding from the same selection halves."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.decide_all import decide_all
from darc.decide.ids import rater_ids, recurring_systems, system_ids
from darc.decide.method import Method, parse_methods
from darc.decide.model.calibration_file import Calibrations
from darc.decide.registry import rules
from darc.decide.sample_batch import SampleBatch
from darc.errors import InputError
from darc.ratings.ratings import Halves, Ratings
from darc.types import clipped
from darc.typing import Integers

BASELINE = "mean"
DROPPED = -1


@dataclass
class Decided:
    """The choices (P,) of each method by its label, -1 for a prompt that is not kept.

    `failures` has a sentence for each method that could not decide, `flags` how many prompts each
    method flagged by name, and `seconds` what each took, the statistics counted with the first
    method that shares them.
    """

    index: dict[str, Integers] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    flags: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def methods(
    texts: Sequence[str] = (),
    beta: float = 1.0,
    gamma: float = 1.0,
    calibrations: Calibrations | None = None,
    caution: str | None = None,
) -> list[Method]:
    """The rules of texts such as "epsilon:epsilon=0.5", the usual rules for none.

    Best-of-K, which everything is compared with, always comes first. Rules that learn go by the
    `calibrations`, if there are any, and those that have a caution by `caution`.
    """
    usual = [name for name in rules if rules.get(name).evaluated_by_default]
    wanted = [BASELINE, *(text for text in texts or usual if text != BASELINE)]
    shared = {} if caution is None else {"caution": caution}
    return parse_methods(wanted, shared, beta=beta, gamma=gamma, calibrations=calibrations)


def ready_methods(methods: Sequence[Method], source: Ratings) -> list[Method]:
    """The methods with the calibrations of the source's scorers.

    Rewrites teach nothing of people: on them nothing is learnt.
    """
    if not source.has_raters:
        methods = [method.without_learning() for method in methods]
    return [method.bound_to(source.scorers) for method in methods]


def ids_of(source: Ratings, raters: Integers, prompts: Integers, learning: bool) -> dict[str, Any]:
    """Who gave the samples that select, and which systems wrote the candidates, as `Pools` has it.

    `raters` are of all prompts, and `prompts` those that are decided. A system of one prompt is no
    system to a rule that is `learning`.
    """
    found: dict[str, Any] = {}
    if source.has_raters:
        found["raters"] = rater_ids(raters[prompts], source.rater_names, source.groups)
    if source.systems:
        systems = system_ids(source.systems, raters.shape[2]).part(prompts)
        found["systems"] = recurring_systems(systems) if learning else systems
    return found


def with_normalization(methods: Sequence[Method], source: Ratings, normalize: str) -> list[Method]:
    """The methods with a normalisation, which the source must have."""
    if normalize == "fixed" and source.constants is None:
        raise InputError(
            f"{source.name} has no normalization {normalize!r}", "use auto, prompt or none"
        )
    return [replace(method, normalize=normalize) for method in methods]


def decide_halves(
    methods: Sequence[Method], halves: Halves, source: Ratings, seed: int = 0
) -> Decided:
    """The choices of all methods from the selection halves of the kept prompts.

    A method that learns does so from the selection halves alone, or goes by its calibrations. A
    method whose side inputs are not there or that raises anything has failed, and the others go on.
    """
    result = Decided()
    kept = np.flatnonzero(halves.usable)
    if not kept.size:
        return result
    usable = []
    for method in methods:
        missing = [name for name in method.rule.required() if name not in source.side]
        if missing:
            words = f"there is no {' and no '.join(missing)} for the candidates"
            result.failures[method.text] = words
        else:
            usable.append(replace(method, seed=seed))
    ids: dict[str, Any] = {}
    if any(method.learns or method.rule.inputs.raters for method in usable):
        learning = source.has_raters and all(method.calibrations is None for method in usable)
        ids = ids_of(source, halves.select.raters, kept, learning)
    batch = SampleBatch(
        samples=clipped(halves.select.samples[kept], source.bounds),
        prompt_ids=[source.prompt_ids[p] for p in kept.tolist()],
        scorers=source.scorers,
        constants=source.constants,
        side={name: array[kept] for name, array in source.side.items()},
        sample=source.kind,
        **ids,
    )
    for outcome in decide_all(ready_methods(usable, source), batch, keep_going=True):
        text = outcome.method.text
        if outcome.decisions is None:
            result.failures[text] = str(outcome.error)
            continue
        index = np.full(len(source.prompt_ids), DROPPED, dtype=np.int64)
        index[kept] = outcome.decisions.index
        result.index[text] = index
        flags = outcome.decisions.flags
        result.flags[text] = {
            name: int(raised.sum()) for name, raised in flags.items() if raised.any()
        }
        result.seconds[text] = outcome.seconds
    return result
