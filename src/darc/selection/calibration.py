"""What the rule `auto` has learnt from ratings, as a record that can be kept in a file."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from darc.core import components
from darc.errors import InputError
from darc.files import named, parse_json, read_json
from darc.typing import Array

Pair = tuple[float, float]

VERSION = 1
FORM = "darc calibration"
# Below this z of the cross-check, selecting by disagreement has lost to the mean on other raters.
LOST = -1.5


@dataclass(frozen=True, eq=False)
class Calibration:
    """How much to trust means and disagreement, the raters' severity, the systems' effects.

    Used to decide: `within`, the variance of ratings within a candidate, and its degrees of
    freedom; `noise`, that of (mean, mean x disagreement, disagreement) a rating, in units of
    `within`, and the candidates with three ratings or more that it is from; `candidates`, the
    covariance of the candidates' own (mean, disagreement) in the same units, and its degrees of
    freedom; `shared`, the share of noise that blurs comparisons; `check`, z of what selecting by
    disagreement gained on other raters; `reliability` of disagreement; `systems`, the effect of
    each on (mean, disagreement); `raters`, how far above others each rates.

    For people: `inflation` of the systems' noise by a small panel, the `weight` of disagreement and
    the `shrink`age of the mean by number of ratings at `lam`, 95 % `intervals` of "weight" (at the
    commonest number of ratings) and "reliability", and the standard errors of `systems` (of the
    effect on the mean) and `raters`. `prompts` are hashes of some prompts that it is from, by which
    to know them again. As it is made without arguments, nothing has been learnt.
    """

    within: float = 1.0
    within_df: float = 0.0
    noise: tuple[float, float, float] = components.NOISE
    noise_df: float = components.PRIOR_DF
    candidates: tuple[Pair, Pair] = components.CANDIDATES
    candidates_df: float = components.PRIOR_DF
    shared: float = 1.0
    check: float = 0.0
    reliability: float = 0.0
    systems: Mapping[str, Pair] = field(default_factory=dict, repr=False)
    raters: Mapping[str, float] = field(default_factory=dict, repr=False)
    lam: float = 2.0
    inflation: float = 1.0
    weight: Mapping[int, float] = field(default_factory=dict, repr=False)
    shrink: Mapping[int, float] = field(default_factory=dict, repr=False)
    intervals: Mapping[str, Pair] = field(default_factory=dict, repr=False)
    system_errors: Mapping[str, float] = field(default_factory=dict, repr=False)
    rater_errors: Mapping[str, float] = field(default_factory=dict, repr=False)
    prompts: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def name(self) -> str:
        """What a decision calls it: default, or the start of a hash of its JSON."""
        if self is DEFAULT:
            return "default"
        return f"sha256:{hashlib.sha256(self.to_json().encode()).hexdigest()[:16]}"

    def by_count(self, most: int, lam: float) -> tuple[Array, Array]:
        """Weight of disagreement and shrinkage of the mean at 0 to `most` ratings, (most + 1,)."""
        return _by_count(self, most, lam)

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
            raise InputError(f"{where} is no calibration: it lacks form: {FORM!r}", _AGAIN)
        version = found.pop("version", None)
        if version != VERSION:
            raise InputError(
                f"{where} has version {version!r}, and this DARC reads version {VERSION}",
                "use the DARC that made it, or make it again with darc calibrate",
            )
        known = {each.name for each in fields(cls)}
        for name in (*known - found.keys() - {"prompts"}, *found.keys() - known):
            problem = "lacks" if name in known else "has the unknown field"
            raise InputError(f"{where} {problem} {name!r}", _AGAIN)
        return cls(**{name: _read(name, value, where) for name, value in found.items()})

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
        raise InputError(f"{given!r} is no calibration", "give darc.Calibration.load(path)")
    if len(given) != scorers:
        raise InputError(
            f"calibration has {len(given)} entries for {scorers} scorers",
            "give one calibration, or one a scorer",
        )
    return given


@lru_cache(maxsize=256)
def _by_count(calibration: Calibration, most: int, lam: float) -> tuple[Array, Array]:
    count = np.arange(most + 1)
    noise = components.noise_matrix(calibration.noise, calibration.shared, count)
    # Of the noise of disagreement nothing is known from pairs alone.
    seen = calibration.candidates_df if calibration.noise_df >= components.FEWEST_NOISE else 0.0
    own = np.array(calibration.candidates)
    weight, shrink = components.weights(own, noise, lam, calibration.reliability, seen)
    weight[:2] = 0.0
    shrink[0] = 0.0
    return (weight * 0.0 if calibration.check < LOST else weight), shrink


def _read(name: str, value: Any, where: str) -> Any:
    """A field's value from JSON, or an error that names the field."""
    default = getattr(DEFAULT, name)
    try:
        if name in ("weight", "shrink"):
            return {int(count): _number(each) for count, each in value.items()}
        if name in ("systems", "intervals"):
            return {str(key): (_number(one), _number(two)) for key, (one, two) in value.items()}
        if isinstance(default, Mapping):
            return {str(key): _number(each) for key, each in value.items()}
        if name == "prompts":
            return tuple(map(str, value))
        if name == "candidates":
            (a, b), (c, d) = value
            return (_number(a), _number(b)), (_number(c), _number(d))
        if name == "noise":
            mean, link, spread = value
            return _positive(mean), _number(link), _positive(spread)
        return _number(value) if name == "check" else _positive(value)
    except (AttributeError, TypeError, ValueError):
        raise InputError(f"{where} has {name} = {str(value)[:60]}", _AGAIN) from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _positive(value: Any) -> float:
    number = _number(value)
    if number < 0:
        raise ValueError
    return number
