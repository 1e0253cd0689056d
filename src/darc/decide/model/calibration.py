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

from darc.decide.model import components
from darc.decide.model.spread import DEFAULT_PRIOR, SpreadPrior
from darc.errors import InputError
from darc.files import named, parse_json, read_json
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
# Fields that version 1 did not have; a file of version 1 gets their defaults.
NEW_FIELDS = ("spread_alike", "sigma_df_factor", "share_different", "earned")


@dataclass(frozen=True, eq=False)
class Calibration:
    """How much to trust means and disagreement, the raters' severity, the systems' effects.

    Used to decide: `within`, the variance of ratings within a candidate, and its degrees of
    freedom; `noise`, that of (mean, mean x disagreement, disagreement) a rating, in units of
    `within`, and the candidates with three ratings or more that it is from; `candidates`, the
    covariance of the candidates' own (mean, disagreement) in the same units, and its degrees of
    freedom; `shared`, the share of noise that blurs comparisons; `check`, z of what selecting by
    disagreement gained on other raters; `reliability` of disagreement; `systems`, the effect of
    each on (mean, disagreement); `raters`, how far above others each rates. `spread_alike`,
    `sigma_df_factor` and `share_different` are the `SpreadPrior` of a pool, and `earned` is False
    where three ratings each were too few to gain by disagreement.

    For people: `inflation` of the systems' noise by a small panel, the `weight` of disagreement and
    the `shrink`age of the mean by number of ratings at `lam`, 95 % `intervals` of "weight" (at the
    commonest number of ratings) and "reliability", and the standard errors of `systems` (of the
    effect on the mean) and `raters`. `prompts` are hashes of some prompts that it is from, by which
    to know them again. As it is made without arguments, nothing has been learnt.
    """

    within: Amount = 1.0
    within_df: Amount = 0.0
    noise: tuple[Amount, Finite, Amount] = components.NOISE
    noise_df: Amount = components.PRIOR_DF
    candidates: tuple[Pair, Pair] = components.CANDIDATES
    candidates_df: Amount = components.PRIOR_DF
    shared: Amount = 1.0
    check: Finite = 0.0
    reliability: Amount = 0.0
    systems: Mapping[str, Pair] = field(default_factory=dict, repr=False)
    raters: Mapping[str, Finite] = field(default_factory=dict, repr=False)
    spread_alike: Amount = DEFAULT_PRIOR.spread_alike
    sigma_df_factor: Amount = DEFAULT_PRIOR.sigma_df_factor
    share_different: Amount = DEFAULT_PRIOR.share_different
    earned: bool = True
    lam: Amount = 2.0
    inflation: Amount = 1.0
    weight: Mapping[int, Finite] = field(default_factory=dict, repr=False)
    shrink: Mapping[int, Finite] = field(default_factory=dict, repr=False)
    intervals: Mapping[str, Pair] = field(default_factory=dict, repr=False)
    system_errors: Mapping[str, Finite] = field(default_factory=dict, repr=False)
    rater_errors: Mapping[str, Finite] = field(default_factory=dict, repr=False)
    prompts: tuple[str, ...] = field(default=(), repr=False)

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
        """Weight of disagreement and shrinkage of the mean at 0 to `most` ratings, (most + 1,)."""
        return _by_count(self, most)

    def to_json(self) -> str:
        """The calibration as JSON."""
        return json.dumps({"form": FORM, "version": VERSION, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = "the calibration") -> "Calibration":
        """The calibration that `to_json` wrote; `where` names it in errors."""
        return cls._of(parse_json(text, where, hint=_AGAIN), where)

    @classmethod
    def _of(cls, found: Any, where: str) -> "Calibration":
        if not isinstance(found, dict) or found.pop("form", None) != FORM:
            raise InputError(f"{where} is not a calibration: it lacks form: {FORM!r}", _AGAIN)
        version = found.pop("version", None)
        if version not in READABLE_VERSIONS:
            raise InputError(
                f"{where} has version {version!r}, and this DARC reads versions 1 and {VERSION}",
                "use the DARC that made it, or make it again with darc calibrate",
            )
        known = {each.name for each in fields(cls)}
        optional = {"prompts", *(NEW_FIELDS if version == 1 else ())}
        for name in (*known - found.keys() - optional, *found.keys() - known):
            wrong = "lacks" if name in known else "has the unknown field"
            raise InputError(f"{where} {wrong} {name!r}", _AGAIN)
        # Deferred: `import darc` does without it.
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_json(json.dumps(found), strict=True)
        except ValidationError as problem:
            name = str(problem.errors()[0]["loc"][0])
            raise InputError(f"{where} has {name} = {str(found[name])[:60]}", _AGAIN) from None

    def save(self, path: str | Path) -> None:
        """Write the calibration to a file."""
        with named(path):
            Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Calibration":
        """The calibration in a file."""
        return cls._of(read_json(Path(path), hint=_AGAIN), str(path))


DEFAULT = Calibration()

# "default" is what decisions call the usual one.
Given = Calibration | Sequence[Calibration] | str | None

_AGAIN = "make it again with darc calibrate"


def calibrations(given: Given, scorers: int) -> Sequence[Calibration]:
    """One calibration a scorer."""
    if given is None or (isinstance(given, str) and given == DEFAULT.name):
        given = DEFAULT
    if isinstance(given, Calibration):
        return [given] * scorers
    fine = isinstance(given, Sequence) and all(isinstance(one, Calibration) for one in given)
    if isinstance(given, str) or not fine:
        raise InputError(f"{given!r} is not a calibration", "give darc.Calibration.load(path)")
    if len(given) != scorers:
        raise InputError(
            f"calibration has {len(given)} entries for {scorers} scorers",
            "give one calibration, or one a scorer",
        )
    return given


@lru_cache(maxsize=256)
def _by_count(calibration: Calibration, most: int) -> tuple[Array, Array]:
    """Weight of disagreement and shrinkage of the mean at 0 to `most` ratings."""
    count = np.arange(most + 1)
    noise = components.noise_matrix(calibration.noise, calibration.shared, count)
    # Of the noise of disagreement nothing is known from pairs alone.
    degrees = 0.0
    if calibration.noise_df >= components.FEWEST_NOISE:
        degrees = calibration.candidates_df
    covariance = np.array(calibration.candidates)
    weight, shrink = components.weights(
        covariance, noise, calibration.lam, calibration.reliability, degrees
    )
    if calibration.within_df == 0:
        weight[:] = DEFAULT_WEIGHT
    if calibration.check < LOST:
        weight[:] = 0.0
    if not calibration.earned:
        weight[: THREE_RATINGS + 1] = 0.0
    weight[:2] = 0.0
    shrink[0] = 0.0
    return weight, shrink
