"""Everything that ratings say about their own disagreement, put together."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings, candidate_ratings
from darc.analysis.diagnose.contention import Contention, measure_contention
from darc.analysis.diagnose.gaussian_reliability import gaussian_reliability
from darc.analysis.diagnose.given_groups import GroupComparison, compare_groups
from darc.analysis.diagnose.latent_groups import LatentGroups, find_latent_groups
from darc.analysis.diagnose.rater_likings import RaterLikings, measure_likings
from darc.analysis.diagnose.rater_reports import RaterReport, report_raters
from darc.analysis.diagnose.reliability import Reliability, reliabilities
from darc.analysis.diagnose.residuals import subtract_group_means
from darc.analysis.diagnose.sigma_differences import SigmaDifferences, compare_sigmas
from darc.analysis.diagnose.variance_components import Component, variance_components
from darc.analysis.ranks import correlation
from darc.decide.statistics.agreement import alpha_interval, krippendorff_alpha
from darc.ratings.ratings import Ratings

# How often `diagnose` reports progress.
STEPS = 5


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha with its 95 % interval over prompts."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the ratings by one scorer say of their disagreement."""

    #: What the ratings are called.
    name: str
    ratings: CandidateRatings
    components: list[Component]
    #: Reliabilities of means and of sigmas by level ("within", "overall", "prompt"); empty if the
    #: raters cannot be split into halves.
    mean_reliability: dict[str, Reliability]
    sigma_reliability: dict[str, Reliability]
    #: Sigma's reliability within prompts if ratings were Gaussian.
    gaussian: Reliability
    alpha: Alpha
    sigma_differences: SigmaDifferences
    #: The correlation of sigma with the mean within prompts.
    sigma_mean_correlation: float
    raters: list[RaterReport]
    #: What each rater thinks of each system beyond the others.
    likings: RaterLikings
    #: None if raters have no groups.
    groups: GroupComparison | None
    latent_groups: LatentGroups
    contention: Contention

    @property
    def ratings_per_candidate(self) -> int:
        """The number of ratings that a candidate typically has."""
        return round(float(np.median(self.ratings.counts)))

    @property
    def sigma_within(self) -> Reliability:
        """The reliability of sigma within prompts, from halves if there are any."""
        return self.sigma_reliability.get("within", self.gaussian)


def diagnose(
    ratings: Ratings,
    scorer: int = 0,
    *,
    splits: int = 200,
    draws: int = 500,
    top: int = 5,
    seed: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> Diagnosis:
    """Diagnose the ratings by one scorer.

    O((splits + draws) x ratings).

    Args:
        ratings: The ratings.
        scorer: The place of the scorer.
        splits: The number of random halves of the raters.
        draws: The permutations of each test; bootstraps take twice as many draws.
        top: How many contrasts between groups are kept.
        seed: The seed of all draws.
        tick: Called `STEPS` times on the way.

    Returns:
        The diagnosis.
    """
    by_candidate = candidate_ratings(ratings, scorer, seed)
    means, sigmas = reliabilities(by_candidate, splits=splits, resamples=2 * draws, seed=seed)
    tick()
    gaussian = gaussian_reliability(by_candidate, resamples=2 * draws, seed=seed)
    contention = measure_contention(
        by_candidate, sigmas.get("prompt"), sigmas.get("within", gaussian)
    )
    alpha = _alpha(by_candidate, 2 * draws, seed)
    tick()
    differences = compare_sigmas(by_candidate, permutations=draws, seed=seed)
    tick()
    groups = compare_groups(by_candidate, top=top, permutations=2 * draws, seed=seed)
    tick()
    latent_groups = find_latent_groups(by_candidate, permutations=draws, seed=seed)
    tick()
    likings = measure_likings(by_candidate)
    return Diagnosis(
        name=ratings.name,
        ratings=by_candidate,
        components=variance_components(by_candidate),
        mean_reliability=means,
        sigma_reliability=sigmas,
        gaussian=gaussian,
        alpha=alpha,
        sigma_differences=differences,
        sigma_mean_correlation=_sigma_mean_correlation(by_candidate),
        raters=report_raters(by_candidate, likings.notable),
        likings=likings,
        groups=groups,
        latent_groups=latent_groups,
        contention=contention,
    )


def _alpha(ratings: CandidateRatings, resamples: int, seed: int) -> Alpha:
    low = math.nan
    high = math.nan
    if len(ratings.prompt_names) > 1:
        low, high = alpha_interval(ratings.values, resamples=resamples, seed=seed)
    return Alpha(krippendorff_alpha(ratings.values), low, high)


def _sigma_mean_correlation(ratings: CandidateRatings) -> float:
    """The correlation of sigma with the mean within prompts, NaN for fewer than three sigmas."""
    rows = ratings.counts > 1
    if rows.sum() < 3:
        return math.nan
    prompt = ratings.prompts[rows]
    sigmas = subtract_group_means(ratings.sigmas()[rows], prompt)
    means = subtract_group_means(ratings.means()[rows], prompt)
    return float(correlation(sigmas, means))
