"""Calibrations of the rule `auto` from ratings, or from a run and people's ratings of it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.analysis.frame import WORDS
from darc.analysis.weighted_ranks import partial_correlation
from darc.decide.evidence.groups import GroupModel, learn_group_model
from darc.decide.evidence.judged_learning import learn_with_judges
from darc.decide.ids import Ids, recurring_systems, system_ids
from darc.decide.model.calibration import DEFAULT, Calibration
from darc.decide.model.calibration_file import Calibrations
from darc.decide.model.components import CAP_PER_RELIABILITY, USUAL_DF, Features
from darc.decide.model.learning import learn
from darc.decide.pools import Pools
from darc.errors import InputError
from darc.ratings.candidate_judgements import CandidateJudgements
from darc.ratings.joining import join
from darc.ratings.ratings import Ratings
from darc.types import clipped
from darc.typing import Array, Mask

# Weights of disagreement differ by about this much from the usual one.
_WEIGHT_SPREAD = 0.25
# The number of groups of prompts of which the jackknife leaves one out.
_GROUPS = 20
# With fewer prompts, people's ratings of a run say nothing.
_FEWEST_PROMPTS = 10
# How many hashes of prompts are stored, the smallest: enough to meet any notable overlap.
_STORED_HASHES = 64
# What rewrites teach about people: nothing but the effects of systems.
_SYSTEM_FIELDS = ("within", "within_df", "systems", "system_errors", "inflation")


def calibrate_ratings(
    ratings: Ratings, lam: float = 2.0, judgements: CandidateJudgements | None = None
) -> Calibrations:
    """Learn from ratings, scorer by scorer.

    Rewrites show how wording moves a scorer, not whether people disagree: from them nothing but
    the systems' effects is learnt, and disagreement has its usual weight.

    Args:
        ratings: The ratings.
        lam: The weight of sigma in what is to be raised.
        judgements: Judgements of the candidates, whose worth is learnt beside people's ratings.

    Raises:
        InputError: There are judgements, but no ratings by people on one scale, or none of the
            same candidates.
    """
    values = _on_one_scale(ratings)
    columns: Mapping[str, Array] = {}
    if judgements is not None:
        if not ratings.has_raters or len(ratings.scorers) > 1:
            raise InputError(
                f"{ratings.name} is not people's ratings on one scale",
                "give a file of people's ratings, and the run or the grades after --judge",
            )
        columns = judgements.matched(ratings)
    systems = None
    if ratings.systems:
        systems = recurring_systems(system_ids(ratings.systems, ratings.shape[2]))
    calibrations = []
    for scorer in range(len(ratings.scorers)):
        scores = values[:, scorer]
        if ratings.has_raters:
            raters = Ids(ratings.raters[:, scorer], tuple(ratings.rater_names))
            learning = learn_with_judges(scores, columns, raters, systems, lam, intervals=True)
            groups = _learn_groups(ratings, scorer, scores)
            calibrations.append(replace(learning.calibration, groups=groups))
        else:
            learnt = learn(scores, None, systems, lam)
            effects = {name: getattr(learnt, name) for name in _SYSTEM_FIELDS}
            usual = replace(DEFAULT, lam=lam, **effects)
            calibrations.append(_with_weights(usual, scores))
    return _by_scorer(ratings, calibrations)


def _learn_groups(ratings: Ratings, scorer: int, scores: Array) -> GroupModel | None:
    """By how much the groups of raters differ, None where there are none or too few ratings."""
    if not ratings.groups:
        return None
    raters = Ids(ratings.raters[:, scorer], tuple(ratings.rater_names), ratings.groups)
    grouped = raters.grouped()
    model = learn_group_model(scores, grouped.codes, grouped.names)
    if model is None:
        return None
    return replace(model, members=dict(ratings.groups))


def calibrate_against(run: Ratings, people: Ratings, lam: float = 2.0) -> Calibrations:
    """Learn from a run, with disagreement weighed as far as people's ratings bear it out.

    For each scorer, people's mean - lam sigma of a candidate is regressed, within prompts, on the
    mean and the disagreement of its rewrites. What that makes of a unit of disagreement counts as
    precisely as it is known, beside the usual weight.

    Args:
        run: The scores of a run.
        people: People's ratings of its answers.
        lam: The weight of sigma in what is to be raised.

    Raises:
        InputError: They are not a run and ratings of its answers.
    """
    if run.kind == "rater" or people.kind != "rater":
        raise InputError(
            f"{run.name} and {people.name} are not a run and ratings of its answers",
            "give a run folder or an audit log first, then a file of ratings",
        )
    joined = join(run, people)
    human = [Features(joined.human.samples[:, m]) for m in range(joined.human.shape[1])]
    is_rated = np.all([features.count > 0 for features in human], axis=0)
    spread = np.mean([features.disagreement for features in human], axis=0)
    mean = np.mean([features.mean for features in human], axis=0)
    opinion = _Opinion(worth=mean - lam * spread, spread=spread, is_rated=is_rated)
    scores = _on_one_scale(joined.proxy)
    calibrations = []
    for scorer, learnt in enumerate(calibrate_ratings(run, lam).by_scorer.values()):
        features = Features(scores[:, scorer])
        evidence = _evidence_of(features, opinion, lam)
        if evidence is not None:
            learnt = _with_evidence(learnt, features, lam, evidence)
        calibrations.append(learnt)
    return _by_scorer(run, calibrations)


@dataclass(frozen=True, eq=False)
class _Opinion:
    """What people think of each candidate, (P, K) each."""

    #: Their mean - lam sigma.
    worth: Array
    #: Their disagreement.
    spread: Array
    #: Whether they rated it.
    is_rated: Mask


@dataclass(frozen=True)
class _Evidence:
    """What people's ratings say of the disagreement of rewrites."""

    #: The weight that they give a unit of it.
    weight: float
    #: The standard error of that weight.
    error: float
    #: Its correlation with people's disagreement, the means taken out.
    correlation: float
    #: z of what choosing by mean - weight disagreement gains over the mean.
    z: float


def _evidence_of(features: Features, opinion: _Opinion, lam: float) -> _Evidence | None:
    """What people make of rewrites' disagreement, None where they are too few to say."""
    among = opinion.is_rated & (features.count >= 2)
    among = among & (among.sum(axis=1, keepdims=True) > 1)
    prompts = np.flatnonzero(among.any(axis=1))
    if len(prompts) < _FEWEST_PROMPTS:
        return None
    columns = [features.mean, features.disagreement, opinion.worth, opinion.spread]
    rows = _within_prompts(np.stack(columns, axis=2), among)
    weight = _regressed_weight(rows, lam)
    group_of_prompt = np.random.default_rng(0).permutation(len(among)) % _GROUPS
    group = group_of_prompt[np.nonzero(among)[0]]
    without = [_regressed_weight(rows[group != number], lam) for number in range(_GROUPS)]
    correlations = np.asarray(np.corrcoef(rows[:, [1, 3, 0]].T))
    correlation = float(np.nan_to_num(partial_correlation(correlations[None])[0]))
    cautious = features.mean - weight * features.disagreement
    ours = np.where(among, cautious, -np.inf).argmax(axis=1)
    best_of_k = np.where(among, features.mean, -np.inf).argmax(axis=1)
    gain = opinion.worth[prompts, ours[prompts]] - opinion.worth[prompts, best_of_k[prompts]]
    gain_error = float(gain.std() / np.sqrt(len(gain)))
    z = 0.0
    if gain_error > 0:
        z = float(gain.mean()) / gain_error
    return _Evidence(
        weight=weight,
        error=float(np.std(without) * np.sqrt(_GROUPS - 1)),
        correlation=max(0.0, correlation),
        z=z,
    )


def _within_prompts(columns: Array, among: Mask) -> Array:
    """The columns (P, K, C) of the marked candidates less their prompt's mean, (N, C)."""
    total = np.where(among[..., None], columns, 0.0).sum(axis=1, keepdims=True)
    total /= np.maximum(among.sum(axis=1), 1)[:, None, None]
    return np.asarray((columns - total)[among])


def _regressed_weight(rows: Array, lam: float) -> float:
    """What a unit of disagreement counts against one of the mean, by least squares.

    Args:
        rows: Mean, disagreement and worth of each candidate, in the first three columns.
        lam: The largest weight.
    """
    slope, cost = np.linalg.lstsq(rows[:, :2], rows[:, 2], rcond=None)[0].tolist()
    if not slope > 0:
        return 0.0
    return float(np.clip(-cost / slope, 0.0, lam))


def _with_evidence(
    learnt: Calibration, features: Features, lam: float, evidence: _Evidence
) -> Calibration:
    """The calibration whose weight at the commonest count is what people's ratings say.

    Variances that give this weight are written down, and as many degrees of freedom as make its
    precision count beside the usual weight.
    """
    commonest = int(np.bincount(features.count[features.count >= 2]).argmax())
    weight = min(evidence.weight, max(0.5, CAP_PER_RELIABILITY * evidence.correlation))
    spread = learnt.noise[2]
    _, shrink = learnt.by_count(commonest)
    reliability = min(weight * float(shrink[commonest]) / max(lam, 1e-9), 0.99)
    variance = spread / (commonest - 1) * reliability / (1 - reliability)
    df = USUAL_DF * (_WEIGHT_SPREAD / max(evidence.error, 1e-3)) ** 2
    calibrated = replace(
        learnt,
        noise=(1.0, 0.0, spread),
        noise_df=float((features.count >= 3).sum()) + 10.0,
        candidates=((learnt.candidates[0][0], 0.0), (0.0, variance)),
        candidates_df=df,
        reliability=min(1.0, evidence.correlation),
        check=evidence.z,
        intervals={},
    )
    return _with_weights(calibrated, features.ratings)


def _with_weights(learnt: Calibration, ratings: Array) -> Calibration:
    """The calibration with its weight and shrinkage at the counts of these ratings (P, K, n)."""
    count = (~np.isnan(ratings)).sum(axis=-1)
    weight, shrink = learnt.by_count(int(count.max()))
    counts = np.unique(count[count > 0]).tolist()
    return replace(
        learnt,
        weight={n: float(weight[n]) for n in counts},
        shrink={n: float(shrink[n]) for n in counts},
    )


def _on_one_scale(ratings: Ratings) -> Array:
    """The samples as the rule sees them: those of several scorers in common units."""
    samples = clipped(ratings.samples, ratings.bounds)
    normalize = None
    if len(ratings.scorers) > 1:
        normalize = ratings.constants
    return Pools(samples, normalize=normalize).normalized(samples)


def _by_scorer(ratings: Ratings, calibrations: Sequence[Calibration]) -> Calibrations:
    """The calibrations by scorer, with the hashes of the prompts that they are from."""
    names: Sequence[str] = [""]
    if len(ratings.scorers) > 1:
        names = ratings.scorers
    hashes = tuple(sorted(prompt_hashes(ratings))[:_STORED_HASHES])
    by_scorer = {}
    for name, calibration in zip(names, calibrations, strict=True):
        by_scorer[name] = replace(calibration, prompts=hashes)
    return Calibrations(by_scorer)


def prompt_hashes(ratings: Ratings) -> set[str]:
    """A hash of every prompt's id and samples, whatever the order of its candidates and raters."""
    hashes = set()
    for prompt_id, samples in zip(ratings.prompt_ids, ratings.samples, strict=True):
        values = np.sort(samples[~np.isnan(samples)]).tobytes()
        digest = hashlib.blake2b(prompt_id.encode() + values, digest_size=8)
        hashes.add(digest.hexdigest())
    return hashes


def leak_warning(ratings: Ratings, calibrations: Calibrations | None) -> str:
    """A warning where a calibration was learnt from prompts that judge it now, or an empty text."""
    if calibrations is None or not calibrations.by_scorer:
        return ""
    learnt_from = [calibration.prompts for calibration in calibrations.by_scorer.values()]
    if not prompt_hashes(ratings).intersection(*learnt_from):
        return ""
    return f"{ratings.name}: {WORDS['warnings']['leak']}"
