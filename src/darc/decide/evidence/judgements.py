"""Judgements that a user gives beside ratings, and the prediction that rules take from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.decide.evidence.judged_learning import learn_with_judges
from darc.decide.ids import Ids
from darc.decide.model.calibration import Calibration
from darc.decide.rule import Rule
from darc.errors import InputError
from darc.typing import Array

# The side input by which the rule `auto` gets what judgements predict.
PREDICTION = "prediction"


@dataclass(frozen=True, eq=False)
class LearningRatings:
    """Ratings of many prompts, from which the worth of judgements can be learnt."""

    #: (P, M, K, n).
    samples: Array
    raters: Ids | None
    systems: Ids | None


def read_judgements(covariates: Any, shape: tuple[int, int]) -> dict[str, Array]:
    """Read the judgements that a user gives.

    Args:
        covariates: (P, K), (P, K, judgements), arrays (P, K) by name, or None.
        shape: The numbers of prompts and candidates.

    Returns:
        Arrays (P, K) by name; without names they are "judge 1", "judge 2" and so on.

    Raises:
        InputError: They have another shape.
    """
    if covariates is None:
        return {}
    if not isinstance(covariates, Mapping):
        array = np.asarray(covariates, dtype=np.float64)
        if array.ndim == 2:
            array = array[..., None]
        covariates = {f"judge {i + 1}": array[..., i] for i in range(array.shape[-1])}
    judgements = {}
    for name, values in covariates.items():
        array = np.asarray(values, dtype=np.float64)
        if array.shape != shape:
            raise InputError(
                f"covariates {name!r} have the shape {array.shape}",
                f"give one number per candidate, {shape}",
            )
        judgements[str(name)] = array
    return judgements


def with_prediction(
    rule: Rule,
    side: Mapping[str, Any],
    judgements: Mapping[str, Array],
    ratings: LearningRatings | None = None,
) -> tuple[Rule, dict[str, Any]]:
    """Add what judgements predict to the side inputs of a rule.

    Args:
        rule: The rule; its calibration says how far judgements may be believed.
        side: Its other side inputs.
        judgements: Arrays (P, K) by name; without any, nothing changes.
        ratings: What to learn from if the rule has no calibration.

    Returns:
        The rule, with what was learnt, and its side inputs.

    Raises:
        InputError: The rule cannot use judgements, or knows nothing about them.
    """
    side = dict(side)
    if not judgements:
        return rule, side
    if PREDICTION not in rule.side_names:
        raise InputError(f"rule {rule.name!r} does not use covariates", "use the rule auto")
    calibration = rule.parameters.get("calibration")
    if calibration is None and ratings is not None and ratings.samples.shape[1] == 1:
        learnt = learn_with_judges(
            ratings.samples[:, 0], judgements, ratings.raters, ratings.systems
        )
        side[PREDICTION] = learnt.predicted
        return rule.bind(calibration=learnt.calibration), side
    side[PREDICTION] = predict(calibration, judgements)
    return rule, side


def predict(calibration: Any, judgements: Mapping[str, Array]) -> Array:
    """What judgements predict of each candidate by a calibration, (P, K).

    Raises:
        InputError: The calibration has learnt nothing about judgements.
    """
    if not isinstance(calibration, Calibration) or calibration.judges is None:
        raise InputError(
            "the calibration knows nothing about judgements",
            "learn it from 30 prompts or more with darc calibrate RATINGS --judge FILE, or "
            "darc.calibrate(..., covariates=...)",
        )
    return calibration.judges.predict(judgements)
