"""Calibrations of the rule `auto` from a source, or from a run and people's ratings of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from darc.analysis.frame import WORDS
from darc.analysis.weighted_ranks import partial_correlation
from darc.decide.ids import Ids, recurring_systems, system_ids
from darc.decide.model.calibration import DEFAULT, Calibration
from darc.decide.model.calibration_file import Calibrations
from darc.decide.model.components import CAP_PER_RELIABILITY, USUAL_DF, USUAL_WEIGHT, Features
from darc.decide.model.learning import learn, with_intervals
from darc.decide.pools import Pools
from darc.errors import InputError
from darc.ratings.joining import join
from darc.ratings.ratings import Ratings
from darc.types import clipped
from darc.typing import Array

# Weights of disagreement differ by about this much from the usual one.
SPREAD = 0.25
GROUPS, FEWEST_PROMPTS = 20, 10
# So many hashes of prompts are kept, the smallest: enough to meet any notable overlap.
KEPT = 64


def calibrate_source(source: Ratings, lam: float = 2.0) -> Calibrations:
    """What a source teaches, scorer by scorer.

    Rewrites show how wording moves a scorer, not whether people disagree: from them nothing but the
    systems' effects is learnt, and disagreement keeps its usual weight.
    """
    ratings, systems = _on_one_scale(source), None
    if source.systems:
        systems = recurring_systems(system_ids(source.systems, source.shape[2]))
    found = []
    for m in range(ratings.shape[1]):
        raters = Ids(source.raters[:, m], tuple(source.rater_names)) if source.has_raters else None
        learnt = learn(ratings[:, m], raters, systems, lam)
        if raters is not None:
            found.append(with_intervals(learnt, ratings[:, m], raters, systems))
        else:
            names = ("within", "within_df", "systems", "system_errors", "inflation")
            kept = {name: getattr(learnt, name) for name in names}
            found.append(_with_weights(replace(DEFAULT, lam=lam, **kept), ratings[:, m]))
    return _named(source, found)


def calibrate_against(run: Ratings, people: Ratings, lam: float = 2.0) -> Calibrations:
    """What a run teaches, disagreement weighed as far as people's ratings of its answers bear out.

    For each scorer, people's mean - lam sigma of a candidate is regressed, within prompts, on the
    mean and the disagreement of its rewrites. What that makes of a unit of disagreement counts as
    precisely as it is known, beside the usual weight.
    """
    if run.kind == "rater" or people.kind != "rater":
        raise InputError(
            f"{run.name} and {people.name} are not a run and ratings of its answers",
            "give a run folder or an audit log first, then a file of ratings",
        )
    joined = join(run, people)
    judged = [Features(joined.human.samples[:, m]) for m in range(joined.human.shape[1])]
    known = np.all([each.count > 0 for each in judged], axis=0)
    spread = np.mean([each.disagreement for each in judged], axis=0)
    worth = np.mean([each.mean for each in judged], axis=0) - lam * spread
    whole = calibrate_source(run, lam)
    scores = _on_one_scale(joined.proxy)
    found = []
    for m, learnt in enumerate(whole.by_scorer.values()):
        features = Features(scores[:, m])
        among = known & (features.count >= 2)
        earned = _earned(features, worth, spread, among, lam)
        found.append(_with_weight(learnt, features, lam, *earned) if earned else learnt)
    return _named(run, found)


def _earned(
    features: Features, worth: Array, spread: Array, among: NDArray[np.bool_], lam: float
) -> tuple[float, float, float, float] | None:
    """What people make of the candidates marked (P, K), None where they are too few to say.

    The weight that they give a unit of rewrites' disagreement, and its standard error; the
    correlation of rewrites' disagreement with theirs, the means taken out; and z of what choosing
    by mean - weight disagreement gains over the mean.
    """
    among = among & (among.sum(axis=1, keepdims=True) > 1)
    prompts = np.flatnonzero(among.any(axis=1))
    if len(prompts) < FEWEST_PROMPTS:
        return None
    columns = np.stack([features.mean, features.disagreement, worth, spread], axis=2)
    middle = np.where(among[..., None], columns, 0.0).sum(axis=1, keepdims=True)
    middle /= np.maximum(among.sum(axis=1), 1)[:, None, None]
    rows = (columns - middle)[among]
    group = (np.random.default_rng(0).permutation(len(worth)) % GROUPS)[np.nonzero(among)[0]]
    weight = _weight(rows, lam)
    without = [_weight(rows[group != each], lam) for each in range(GROUPS)]
    error = float(np.std(without) * np.sqrt(GROUPS - 1))
    related = partial_correlation(np.corrcoef(rows[:, [1, 3, 0]].T)[None])[0]
    calm = features.mean - weight * features.disagreement
    ours, base = (np.where(among, by, -np.inf).argmax(axis=1) for by in (calm, features.mean))
    gain = worth[prompts, ours[prompts]] - worth[prompts, base[prompts]]
    noise = float(gain.std() / np.sqrt(len(gain)))
    check = float(gain.mean()) / noise if noise > 0 else 0.0
    return weight, error, max(0.0, float(np.nan_to_num(related))), check


def _weight(rows: Array, lam: float) -> float:
    """What a unit of disagreement counts against one of the mean, by least squares."""
    slope, cost = np.linalg.lstsq(rows[:, :2], rows[:, 2], rcond=None)[0].tolist()
    return float(np.clip(-cost / slope, 0.0, lam)) if slope > 0 else 0.0


def _with_weight(
    learnt: Calibration,
    features: Features,
    lam: float,
    weight: float,
    error: float,
    related: float,
    check: float,
) -> Calibration:
    """The calibration whose weight at the commonest count is what was earned.

    Variances that give this weight are written down, and as many degrees of freedom as make its
    precision count beside the usual weight.
    """
    usual = int(np.bincount(features.count[features.count >= 2]).argmax())
    weight = min(weight, max(0.5, CAP_PER_RELIABILITY * related))
    spread = learnt.noise[2]
    _, shrink = learnt.by_count(usual)
    gain = min(weight * float(shrink[usual]) / max(lam, 1e-9), 0.99)
    variance = spread / (usual - 1) * gain / (1 - gain)
    seen = USUAL_DF * (SPREAD / max(error, 1e-3)) ** 2
    share = seen / (seen + USUAL_DF)
    middle = share * weight + (1 - share) * min(USUAL_WEIGHT, lam)
    width = 1.96 * share * error
    made = replace(
        learnt,
        noise=(1.0, 0.0, spread),
        noise_df=float((features.count >= 3).sum()) + 10.0,
        candidates=((learnt.candidates[0][0], 0.0), (0.0, variance)),
        candidates_df=seen,
        reliability=min(1.0, related),
        check=check,
        intervals={"weight": (max(0.0, middle - width), min(lam, middle + width))},
    )
    return _with_weights(made, features.ratings)


def _with_weights(learnt: Calibration, ratings: Array) -> Calibration:
    """The calibration with its weight and shrinkage at the counts that there are."""
    count = (~np.isnan(ratings)).sum(axis=-1)
    weight, shrink = learnt.by_count(int(count.max()))
    counts = np.unique(count[count > 0]).tolist()
    return replace(
        learnt,
        weight={n: float(weight[n]) for n in counts},
        shrink={n: float(shrink[n]) for n in counts},
    )


def _on_one_scale(source: Ratings) -> Array:
    """The samples as the rule sees them: those of several scorers in common units."""
    samples = clipped(source.samples, source.bounds)
    pools = Pools(samples, normalize=source.constants if len(source.scorers) > 1 else None)
    return pools.normalized(samples)


def _named(source: Ratings, found: Sequence[Calibration]) -> Calibrations:
    names = source.scorers if len(source.scorers) > 1 else [""]
    kept = tuple(sorted(prompt_hashes(source))[:KEPT])
    pairs = zip(names, found, strict=True)
    return Calibrations({name: replace(each, prompts=kept) for name, each in pairs})


def prompt_hashes(source: Ratings) -> set[str]:
    """A hash of every prompt's id and samples, whatever the order of its candidates and raters."""
    made = set()
    for name, samples in zip(source.prompt_ids, source.samples, strict=True):
        values = np.sort(samples[~np.isnan(samples)]).tobytes()
        made.add(hashlib.blake2b(name.encode() + values, digest_size=8).hexdigest())
    return made


def leak_warning(source: Ratings, calibrations: Calibrations | None) -> str:
    """A sentence where a calibration was learnt from prompts that it is now judged on, or none."""
    given = () if calibrations is None else calibrations.by_scorer.values()
    if not given or not prompt_hashes(source).intersection(*[each.prompts for each in given]):
        return ""
    return f"{source.name}: {WORDS['warnings']['leak']}"
