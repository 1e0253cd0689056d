"""What the rule `auto` learns from ratings, as a record that can be kept in a file."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Lt

from darc.decide.evidence.groups import GroupModel
from darc.decide.evidence.promise import Promise
from darc.decide.model import components
from darc.decide.model.judge_weights import JudgeWeights
from darc.decide.model.spread import DEFAULT_PRIOR, SpreadPrior
from darc.errors import InputError
from darc.files import name_in_errors
from darc.json_files import parse_json, read_json
from darc.typing import Array

Finite = Annotated[float, Gt(-math.inf), Lt(math.inf)]
Amount = Annotated[float, Ge(0), Lt(math.inf)]
Pair = tuple[Finite, Finite]

VERSION = 2
READABLE_VERSIONS = (1, 2)
FORM = "darc calibration"
# Below this z of the cross-check, selecting by disagreement has lost to the mean on other raters.
LOST = -1.5
# Where three ratings each have not earned it, disagreement has no weight up to this many.
THREE_RATINGS = 3
# The weight of disagreement where nothing has been learnt.
DEFAULT_WEIGHT = 0.06
# Fields that are written only where another command has added them.
ADDED_FIELDS = ("promise", "judges", "groups")
# Fields that version 1 did not have; a file of version 1 gets their defaults.
NEW_FIELDS = ("spread_alike", "sigma_df_factor", "share_different", "earned")


@dataclass(frozen=True, eq=False)
class Calibration:
    """What many prompts teach: how far to trust means and disagreement, raters and systems.

    Made without arguments, nothing has been learnt. Variances and covariances are in units of
    `within`.
    """

    # What decisions depend on.

    #: The variance of ratings within a candidate, and its degrees of freedom.
    within: Amount = 1.0
    within_df: Amount = 0.0
    #: The noise of one rating: variance of the mean, covariance of mean and disagreement, and
    #: variance of disagreement; and how many candidates with three ratings or more it is from.
    noise: tuple[Amount, Finite, Amount] = components.NOISE
    noise_df: Amount = components.PRIOR_DF
    #: The covariance of the candidates' own (mean, disagreement), and its degrees of freedom.
    candidates: tuple[Pair, Pair] = components.CANDIDATES
    candidates_df: Amount = components.PRIOR_DF
    #: The share of noise that blurs comparisons within a prompt.
    shared: Amount = 1.0
    #: z of what selecting by disagreement gained on other raters.
    check: Finite = 0.0
    #: The reliability of disagreement.
    reliability: Amount = 0.0
    #: The effect of each system on (mean, disagreement).
    systems: Mapping[str, Pair] = field(default_factory=dict, repr=False)
    #: How far above the others each rater rates.
    raters: Mapping[str, Finite] = field(default_factory=dict, repr=False)
    #: The `SpreadPrior` of a pool.
    spread_alike: Amount = DEFAULT_PRIOR.spread_alike
    sigma_df_factor: Amount = DEFAULT_PRIOR.sigma_df_factor
    share_different: Amount = DEFAULT_PRIOR.share_different
    #: False where three ratings each were too few to gain by disagreement.
    earned: bool = True
    #: What a unit of sigma is worth in units of mean.
    lam: Amount = 2.0
    #: What judgements of the answers say about people's ratings; None where there were none, or
    #: too few prompts to learn it.
    judges: JudgeWeights | None = None

    # What only people read.

    #: How much noisier systems' means are because a small panel gave them.
    inflation: Amount = 1.0
    #: The weight of disagreement and the shrinkage of the mean, by number of ratings.
    weight: Mapping[int, Finite] = field(default_factory=dict, repr=False)
    shrink: Mapping[int, Finite] = field(default_factory=dict, repr=False)
    #: The 95 % interval of "reliability"; older files also have one of "weight".
    intervals: Mapping[str, Pair] = field(default_factory=dict, repr=False)
    #: Standard errors of the systems' effects on the mean, and of the raters' severities. One with
    #: a single rating has none.
    system_errors: Mapping[str, Finite] = field(default_factory=dict, repr=False)
    rater_errors: Mapping[str, Finite] = field(default_factory=dict, repr=False)
    #: Hashes of some of the prompts that it is from, by which to know them again.
    prompts: tuple[str, ...] = field(default=(), repr=False)

    # What other commands add.

    #: Which answers are held back, and what that promises; written by `darc tune --risk`.
    promise: Promise | None = field(default=None, repr=False)
    #: By how much groups of raters differ, where the ratings had groups.
    groups: GroupModel | None = field(default=None, repr=False)

    @cached_property
    def name(self) -> str:
        """What a decision calls it: default, or the start of a hash of its JSON."""
        if self is DEFAULT:
            return "default"
        return f"sha256:{hashlib.sha256(self.to_json().encode()).hexdigest()[:16]}"

    @property
    def spread_prior(self) -> SpreadPrior:
        """What is assumed about the sigmas of a pool."""
        return SpreadPrior(self.spread_alike, self.share_different, self.sigma_df_factor)

    def by_count(self, most: int) -> tuple[Array, Array]:
        """How disagreement and means count with 0, 1, ... `most` ratings.

        Args:
            most: The largest number of ratings.

        Returns:
            The weight of disagreement and the shrinkage of the mean, (most + 1,) each.
        """
        return _by_count(self, most)

    def to_json(self) -> str:
        """The calibration as JSON."""
        data = asdict(self)
        for name in ADDED_FIELDS:
            if data[name] is None:
                del data[name]
        return json.dumps({"form": FORM, "version": VERSION, **data}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = "the calibration") -> "Calibration":
        """Read the calibration that `to_json` wrote.

        Args:
            text: The JSON.
            where: What to call it in errors.

        Raises:
            InputError: If it is not a calibration of a known version.
        """
        return cls._from_data(parse_json(text, where, hint=_MAKE_AGAIN), where)

    @classmethod
    def _from_data(cls, data: Any, where: str) -> "Calibration":
        if not isinstance(data, dict) or data.pop("form", None) != FORM:
            raise InputError(f"{where} is not a calibration: it lacks form: {FORM!r}", _MAKE_AGAIN)
        version = data.pop("version", None)
        if version not in READABLE_VERSIONS:
            raise InputError(
                f"{where} has version {version!r}, and this DARC reads versions 1 and {VERSION}",
                "use the DARC that made it, or make it again with darc calibrate",
            )
        names = {calibration_field.name for calibration_field in fields(cls)}
        optional = {"prompts", *ADDED_FIELDS}
        if version == 1:
            optional |= {*NEW_FIELDS}
        for name in names - data.keys() - optional:
            raise InputError(f"{where} lacks {name!r}", _MAKE_AGAIN)
        for name in data.keys() - names:
            raise InputError(f"{where} has the unknown field {name!r}", _MAKE_AGAIN)
        # Deferred: `import darc` does without it.
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_json(json.dumps(data), strict=True)
        except ValidationError as problem:
            name = str(problem.errors()[0]["loc"][0])
            raise InputError(f"{where} has {name} = {str(data[name])[:60]}", _MAKE_AGAIN) from None

    def save(self, path: str | Path) -> None:
        """Write the calibration to a file.

        Args:
            path: The file.
        """
        with name_in_errors(path):
            Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Calibration":
        """Read the calibration in a file.

        Args:
            path: The file.
        """
        return cls._from_data(read_json(Path(path), hint=_MAKE_AGAIN), str(path))


DEFAULT = Calibration()

# "default" is what decisions call the usual one.
Given = Calibration | Sequence[Calibration] | str | None

_MAKE_AGAIN = "make it again with darc calibrate"


def calibrations(calibration: Given, scorers: int) -> Sequence[Calibration]:
    """One calibration per scorer.

    Args:
        calibration: What a user gives: one calibration for all scorers, or one per scorer; None or
            "default" for the default one.
        scorers: The number of scorers.

    Raises:
        InputError: If it is something else, or there are too few or too many.
    """
    if calibration is None:
        return [DEFAULT] * scorers
    if isinstance(calibration, Calibration):
        return [calibration] * scorers
    if isinstance(calibration, str) and calibration == DEFAULT.name:
        return [DEFAULT] * scorers
    is_list = isinstance(calibration, Sequence) and not isinstance(calibration, str)
    if not is_list or not all(isinstance(one, Calibration) for one in calibration):
        hint = "give darc.Calibration.load(path)"
        raise InputError(f"{calibration!r} is not a calibration", hint)
    by_scorer = [one for one in calibration if isinstance(one, Calibration)]
    if len(by_scorer) != scorers:
        raise InputError(
            f"calibration has {len(by_scorer)} entries for {scorers} scorers",
            "give one calibration, or one per scorer",
        )
    return by_scorer


@lru_cache(maxsize=256)
def _by_count(calibration: Calibration, most: int) -> tuple[Array, Array]:
    """Weight of disagreement and shrinkage of the mean at 0 to `most` ratings."""
    count = np.arange(most + 1)
    noise = components.noise_matrix(calibration.noise, calibration.shared, count)
    # Of the noise of disagreement nothing is known from pairs alone.
    df = 0.0
    if calibration.noise_df >= components.FEWEST_NOISE:
        df = calibration.candidates_df
    covariance = np.array(calibration.candidates)
    weight, shrinkage = components.weights(
        covariance, noise, calibration.lam, calibration.reliability, df
    )
    if calibration.within_df == 0:
        weight[:] = DEFAULT_WEIGHT
    if calibration.check < LOST:
        weight[:] = 0.0
    if not calibration.earned:
        weight[: THREE_RATINGS + 1] = 0.0
    weight[:2] = 0.0
    shrinkage[0] = 0.0
    return weight, shrinkage
