"""All rules deciding from the same selection halves."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import darc.decide.rules  # noqa: F401  (registers the rules)
from darc.decide.decision import decide
from darc.decide.method import (
    RuleSpec,
    parse_rules,
    rater_ids,
    recurring,
    system_ids,
)
from darc.decide.model.calibration import DEFAULT
from darc.decide.model.calibration_file import Calibrations
from darc.decide.pools import Pools
from darc.decide.registry import rules
from darc.decide.statistics.draws import prompt_seeds
from darc.decide.statistics.kernel import Normalization
from darc.errors import InputError
from darc.ratings.halves import Halves
from darc.ratings.ratings import Source
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
) -> list[RuleSpec]:
    """The rules of texts such as "epsilon:epsilon=0.5", the usual rules for none.

    Best-of-K, which everything is compared with, always comes first. Rules that learn go by the
    `calibrations`, if there are any, and those that have a caution by `caution`.
    """
    usual = [name for name in rules if rules.get(name).unasked]
    wanted = [BASELINE, *(text for text in texts or usual if text != BASELINE)]
    shared = {} if caution is None else {"caution": caution}
    return parse_rules(wanted, shared, beta, gamma, calibrations)


def learnt_before(source: Source, calibrations: Calibrations | None) -> Any:
    """The calibration that a rule goes by, None where it learns from the samples that select.

    Rewrites teach nothing of people: for them it is the default one.
    """
    if calibrations is not None:
        return calibrations.of(source.scorers)
    return None if source.rated else DEFAULT


def ids_of(source: Source, givers: Integers, prompts: Integers, learning: bool) -> dict[str, Any]:
    """Who gave the samples that select, and which systems wrote the candidates, as `Pools` has it.

    `givers` are of all prompts, and `prompts` those that are decided. A system of one prompt is no
    system to a rule that is `learning`.
    """
    found: dict[str, Any] = {}
    if source.rated:
        found["raters"] = rater_ids(givers[prompts], source.giver_names, source.groups)
    if source.systems:
        systems = system_ids(source.systems, givers.shape[2]).part(prompts)
        found["systems"] = recurring(systems) if learning else systems
    return found


def normalization(source: Source, name: str = "auto") -> Normalization:
    """What `name` means for a source; "fixed" are its scorers' own constants."""
    if name == "fixed" and source.constants is None:
        raise InputError(f"{source.name} has no normalization {name!r}", "use auto, prompt or none")
    known: dict[str, Normalization] = {"auto": None, "fixed": source.constants}
    return known.get(name, name)


def decide_all(
    specs: Sequence[RuleSpec],
    halves: Halves,
    source: Source,
    seed: int = 0,
    normalize: Normalization = None,
) -> Decided:
    """The choices of all methods from the selection halves of the kept prompts.

    Methods with the same beta and gamma share the statistics. A method that learns does so from
    the selection halves alone, or goes by its calibrations. A method whose side inputs are not
    there or that raises anything has failed, and the others go on.
    """
    result = Decided()
    kept = np.flatnonzero(halves.kept)
    if not kept.size:
        return result
    samples = clipped(halves.select[kept], source.bounds)
    seeds = prompt_seeds(seed, [source.prompt_ids[p] for p in kept.tolist()])
    shared: dict[tuple[float, float], Pools] = {}
    given = next((spec.calibrations for spec in specs if spec.calibrations is not None), None)
    learnt = learnt_before(source, given)
    ids = {}
    if any(spec.learns or spec.rule.raters for spec in specs):
        ids = ids_of(source, halves.select_givers, kept, learnt is None)
    for spec in specs:
        started, key = time.perf_counter(), (spec.beta, spec.gamma)
        if missing := [name for name in spec.rule.required() if name not in source.side]:
            words = f"there is no {' and no '.join(missing)} for the candidates"
            result.failures[spec.label] = words
            continue
        try:
            if key not in shared:
                shared[key] = Pools(
                    samples, *key, normalize, drawn=seeds, sample=source.kind, **ids
                )
            known = spec.learns and learnt is not None
            rule = spec.rule.bind(calibration=learnt) if known else spec.rule
            names = [name for name in (*rule.required(), *rule.takes) if name in source.side]
            pools = shared[key]
            if names:
                pools = pools.sharing(side={name: source.side[name][kept] for name in names})
            decisions = decide(rule, pools)
        except Exception as problem:  # a rule of another package may fail in any way
            result.failures[spec.label] = str(problem)
            continue
        index = np.full(len(source.prompt_ids), DROPPED, dtype=np.int64)
        index[kept] = decisions.index
        result.index[spec.label] = index
        result.flags[spec.label] = {
            name: int(raised.sum()) for name, raised in decisions.flags.items() if raised.any()
        }
        result.seconds[spec.label] = time.perf_counter() - started
    return result
