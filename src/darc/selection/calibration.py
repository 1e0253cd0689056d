"""What the rule `auto` learns from ratings, as a record that can be kept in a file."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Lt

from darc.core import components
from darc.core.components import Features
from darc.core.raters import inflation, severity, shared_noise
from darc.core.statistics import c4
from darc.errors import InputError
from darc.files import named, parse_json, read_json
from darc.selection.pools import Ids
from darc.typing import Array

Finite = Annotated[float, Gt(-math.inf), Lt(math.inf)]
Amount = Annotated[float, Ge(0), Lt(math.inf)]
Pair = tuple[Finite, Finite]

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


# Above this a system's mean is the taste of a small panel, and says nothing of other raters.
PANEL = 2.0
FEWEST_SYSTEMS = 3
# The cross-check: halves of the raters drawn, and what it takes to be worth drawing them.
SPLITS, FEWEST_PROMPTS, FEWEST_RATINGS = 6, 20, 4
GROUPS = 20


def learn(
    ratings: Array, raters: Ids | None = None, systems: Ids | None = None, lam: float = 2.0
) -> Calibration:
    """The `Calibration` of ratings (P, K, n), NaN where there is none."""
    learnt, features = _components(ratings, raters, systems)
    weight, _ = learnt.by_count(ratings.shape[2], lam)
    check = cross_check(features, weight[features.count]) if weight.any() else 0.0
    learnt = replace(learnt, lam=lam, check=check)
    weight, shrink = learnt.by_count(ratings.shape[2], lam)
    counts = np.unique(features.count[features.count > 0]).tolist()
    return replace(
        learnt,
        weight={n: float(weight[n]) for n in counts},
        shrink={n: float(shrink[n]) for n in counts},
    )


def _components(
    ratings: Array, raters: Ids | None, systems: Ids | None
) -> tuple[Calibration, Features]:
    """Everything but the weights, and the features of the ratings."""
    features = Features(ratings)
    within, within_df = components.within_variance(features)
    noise, noise_df = components.noise_per_rating(features, within)
    learnt = Calibration(within, within_df, noise, noise_df)
    mean = features.mean
    if raters is not None and raters.names:
        learnt, mean = _with_raters(learnt, features, raters)
    # Candidates with a disagreement, or all where there are hardly any.
    used = features.count >= 2
    used = used if used.sum() > 2 else features.count > 0
    cells = np.stack([mean[used], features.disagreement[used]], axis=1)
    prompt, names = np.nonzero(used)[0], () if systems is None else systems.names
    system = np.full(len(prompt), -1) if systems is None else systems.codes[used]
    found = components.residuals(cells, prompt, system, len(ratings), len(names))
    average = components.noise_matrix(noise, learnt.shared, features.count[used]).mean(axis=0)
    parts = components.components(found.left / np.sqrt(within), found.df, average)
    inflated = 1.0
    if systems is not None and (found.cells > 0).sum() >= FEWEST_SYSTEMS:
        variance = parts.observed * within
        if raters is not None and raters.names:
            inflated = _inflation(ratings, raters, systems, found, variance[0, 0])
        if inflated > PANEL:
            return replace(_components(ratings, raters, None)[0], inflation=inflated), features
        effects, errors = components.shrunken(found.effects, found.cells, inflated * variance)
        learnt = replace(
            learnt,
            systems=_named(names, map(tuple, effects.tolist())),
            system_errors=_named(names, errors[:, 0].tolist()),
        )
    (mean_mean, link), (_, spread) = parts.candidates.tolist()
    return replace(
        learnt,
        candidates=((mean_mean, link), (link, spread)),
        candidates_df=found.df,
        reliability=parts.reliability,
        inflation=inflated,
    ), features


def _with_raters(learnt: Calibration, features: Features, raters: Ids) -> tuple[Calibration, Array]:
    """The calibration with the raters' severity and shared noise; the means without severity."""
    known, (prompts, candidates) = features.known, features.count.shape
    cell = np.arange(prompts * candidates).reshape(prompts, candidates, 1)
    cell = np.broadcast_to(cell, known.shape)[known]
    flat, rater = features.ratings[known], raters.codes[known]
    found = severity(flat, cell, rater, len(raters.names))
    learnt = replace(
        learnt,
        shared=shared_noise(flat, cell, cell // candidates, rater),
        raters=_named(raters.names, found.offset.tolist()),
        rater_errors=_named(raters.names, found.error.tolist()),
    )
    offsets = np.append(found.offset, 0.0)[raters.codes]
    return learnt, Features(features.ratings - offsets).mean


def _inflation(
    ratings: Array, raters: Ids, systems: Ids, found: components.Residuals, variance: float
) -> float:
    """How much noisier systems' means are than their cells say, as the same raters gave them."""
    named = (systems.codes >= 0)[..., None] & (raters.codes >= 0) & ~np.isnan(ratings)
    system = np.broadcast_to(systems.codes[..., None], ratings.shape)
    level = found.level[:, None, None] + found.effects[systems.codes, :1]
    cells = np.where(found.cells > 0, found.cells, np.nan)
    return inflation(
        (ratings - level)[named],
        raters.codes[named],
        system[named],
        len(systems.names),
        variance / cells,
    )


def cross_check(features: Features, weight: Array) -> float:
    """What mean - weight disagreement gains over the mean on other raters, as a z; weight (P, K).

    Half of a candidate's raters select and the other half judges by mean - 2 sigma, for six seeded
    halvings. 0 below 20 prompts or 4 ratings.
    """
    ratings, count = features.ratings, features.count
    if len(ratings) < FEWEST_PROMPTS or np.median(count[count > 0]) < FEWEST_RATINGS:
        return 0.0
    generator, rows = np.random.default_rng(0), np.arange(len(ratings))
    good, half = count >= FEWEST_RATINGS, (count // 2)[..., None]
    place = np.arange(ratings.shape[2])
    gains = []
    for _ in range(SPLITS):
        drawn = np.where(features.known, generator.random(ratings.shape), 2.0)
        mixed = np.take_along_axis(ratings, np.argsort(drawn, axis=-1), axis=-1)
        selecting = Features(np.where(place < half, mixed, np.nan))
        judging = Features(np.where(place >= half, mixed, np.nan))
        plain = np.where(good, selecting.mean, -np.inf).argmax(axis=1)
        calm = selecting.mean - weight * selecting.sigma / c4(count // 2)
        other = np.where(good, calm, -np.inf).argmax(axis=1)
        worth = judging.mean - 2 * judging.sigma
        gains.append(np.where(good.any(axis=1), worth[rows, other] - worth[rows, plain], np.nan))
    gain = np.mean(gains, axis=0)
    gain = gain[~np.isnan(gain)]
    if len(gain) < FEWEST_PROMPTS or not gain.std() > 0:
        return 0.0
    return float(gain.mean() / (gain.std() / np.sqrt(len(gain))))


def with_intervals(
    learnt: Calibration, ratings: Array, raters: Ids | None, systems: Ids | None
) -> Calibration:
    """The calibration with 95 % intervals of the weight of disagreement and its reliability.

    By the jackknife over 20 groups of prompts; the weight is that at the commonest count.
    """
    groups = min(GROUPS, len(ratings))
    if groups < 3:
        return learnt
    counts = np.bincount((~np.isnan(ratings)).sum(axis=-1).ravel())
    counts[0] = 0
    usual = int(counts.argmax())
    group = np.random.default_rng(0).permutation(len(ratings)) % groups
    left_out = []
    for each in range(groups):
        kept = np.flatnonzero(group != each)
        ids = [None if given is None else given.part(kept) for given in (raters, systems)]
        part, _ = _components(ratings[kept], *ids)
        weight, _ = replace(part, check=learnt.check).by_count(ratings.shape[2], learnt.lam)
        left_out.append((weight[usual], part.reliability))
    spread = np.std(left_out, axis=0) * np.sqrt(groups - 1)
    whole = learnt.by_count(ratings.shape[2], learnt.lam)[0][usual], learnt.reliability
    most = learnt.lam, 1.0
    intervals: dict[str, Pair] = {
        name: (max(0.0, float(one - 1.96 * error)), min(top, float(one + 1.96 * error)))
        for name, one, error, top in zip(
            ("weight", "reliability"), whole, spread, most, strict=True
        )
    }
    return replace(learnt, intervals=intervals)


def _named(names: Sequence[str], values: Any) -> dict[str, Any]:
    return dict(zip(names, values, strict=True))
