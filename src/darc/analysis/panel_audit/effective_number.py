"""The effective number of raters: how many independent ones a panel is worth.

n raters whose errors correlate by r average like n / (1 + (n - 1) r) independent ones.
"""

from dataclasses import dataclass

import numpy as np

from darc.analysis.panel_audit.estimate import Estimate, bootstrap_estimate, unknown
from darc.analysis.panel_audit.grades import RaterGrades, mean_over
from darc.analysis.panel_audit.products import (
    PromptProducts,
    correlations,
    one_and_draws,
    prompt_products,
)
from darc.typing import Array, Mask

# Without people, this share of the pairs of raters, the least alike, is taken to err independently.
_INDEPENDENT_SHARE = 1 / 3
# How often prompts are halved to find those pairs and to measure them elsewhere.
_HALVINGS = 5
# With fewer raters none can be taken to be independent.
_FEWEST_RATERS = 3
# How often answers' means and raters' severities are fitted in turn.
_SEVERITY_ROUNDS = 20
# The least variance of answers' true means, as a share of that of people's means.
_LEAST_TRUE_SHARE = 0.05


@dataclass(frozen=True)
class EffectiveNumber:
    """How many independent raters a panel is worth."""

    raters: int
    #: The number; without people it counts nothing that all raters share as an error.
    number: Estimate
    #: The mean correlation of the raters' errors that it follows from.
    correlation: Estimate
    #: Whether errors are against people's ratings.
    against_people: bool
    #: Without people, the number if all that raters share is a common error; None with people.
    least: Estimate | None
    #: What was used, and what it cannot know.
    basis: str

    @property
    def sentence(self) -> str:
        """The number in words."""
        if np.isnan(self.number.value):
            return f"how many raters these {self.raters} count as is {self.number.text()}"
        span = ""
        if self.number.has_interval:
            span = f" ({self.number.low:.1f} to {self.number.high:.1f})"
        count = f"{self.number.value:.1f}{span}"
        if self.against_people:
            return f"these {self.raters} raters count as about {count}"
        sentence = f"these {self.raters} raters count as at most about {count}"
        if self.least is not None and not np.isnan(self.least.value):
            sentence += f", and as {self.least.value:.1f} if all that they share is a common error"
        return sentence


def effective_count(raters: int, correlation: Array) -> Array:
    """How many independent raters n are worth: n / (1 + (n - 1) r), with r from 0 to 1."""
    return np.asarray(raters / (1 + (raters - 1) * np.clip(correlation, 0.0, 1.0)))


def effective_number_against(
    graded: RaterGrades, people: RaterGrades, seed: int = 0
) -> EffectiveNumber:
    """The effective number by the raters' errors against people.

    A grade is a multiple of the answer's true mean, and an error. What the errors of two raters
    have in common is their covariance, less what both owe to the true mean. The noise in people's
    means would look like a common error, and is taken out by their disagreement.

    Args:
        graded: The panel's grades (P, K, n).
        people: People's ratings of the same answers.
        seed: The seed of the resamples.
    """
    raters = len(graded.raters)
    if raters < 2:
        return _single(raters, against_people=True)
    ratings = without_severity(people.values)
    people_mean = mean_over(ratings)
    rated = ~np.isnan(people_mean)
    noise, noise_is_known = _noise_of_means(ratings)
    panel = np.where(rated[..., None], graded.values, np.nan)
    products = prompt_products(np.concatenate([panel, people_mean[..., None]], axis=2))
    prompts = len(panel)
    weights = one_and_draws(prompts, seed)
    covariances = products.covariances(weights)
    noise_sum = np.where(rated, noise, 0.0).sum(axis=1)
    share = products.df[:, -1, -1] / np.maximum(rated.sum(axis=1), 1)
    df = weights @ products.df[:, -1, -1]
    people_noise = weights @ (noise_sum * share) / np.maximum(df, 1)
    observed = covariances[:, -1, -1]
    true_variance = observed - people_noise
    usable = true_variance > _LEAST_TRUE_SHARE * observed
    divisor = np.where(usable, true_variance, np.nan)
    shared = covariances[:, :-1, -1]
    errors = (
        covariances[:, :-1, :-1]
        - shared[:, :, None] * shared[:, None, :] / (divisor[:, None, None])
    )
    scale = np.sqrt(np.maximum(np.einsum("bcc->bc", covariances[:, :-1, :-1]), 1e-300))
    r = _mean_correlation(errors / (scale[:, :, None] * scale[:, None, :]))
    basis = (
        "errors against people's mean ratings, within prompts, without each rater's severity; "
        "the noise of people's means is taken out"
    )
    if not noise_is_known:
        basis = (
            "errors against people's ratings, within prompts, without each rater's severity; "
            "hardly any answer has two people's ratings, so their noise counts as a common error "
            "of the panel and the number is too low"
        )
    if np.isnan(r[0]):
        reason = "people's mean ratings of these answers do not differ beyond their noise"
        return EffectiveNumber(raters, unknown(reason), unknown(reason), True, None, basis)
    return EffectiveNumber(
        raters=raters,
        number=bootstrap_estimate(
            float(effective_count(raters, r[:1])[0]), effective_count(raters, r[1:]), prompts
        ),
        correlation=bootstrap_estimate(float(r[0]), r[1:], prompts),
        against_people=True,
        least=None,
        basis=basis,
    )


def effective_number_alone(panel: RaterGrades, seed: int = 0) -> EffectiveNumber:
    """The effective number without people, from who grades like whom.

    What all raters share, an answer's quality or a common error, is taken out with the answers'
    means. That makes the other correlations too low by about 1/(n - 1); they are moved up so that
    the third of the pairs that are least alike has none. These pairs are found in one half of the
    prompts and measured in the other.

    Args:
        panel: The panel's grades (P, K, n).
        seed: The seed of the halves and the resamples.
    """
    raters = len(panel.raters)
    if raters < 2:
        return _single(raters, against_people=False)
    prompts = len(panel.values)
    products = prompt_products(panel.values)
    weights = one_and_draws(prompts, seed)
    alike = correlations(products.covariances(weights))
    upper = np.triu_indices(raters, 1)
    all_shared = alike[:, upper[0], upper[1]].mean(axis=1)
    least_draws = effective_count(raters, all_shared)
    least = bootstrap_estimate(float(least_draws[0]), least_draws[1:], prompts)
    basis = (
        "who grades like whom, within prompts, without each answer's mean; an error that all "
        "raters share looks like the answers' quality and cannot be seen without people's ratings"
    )
    if raters < _FEWEST_RATERS:
        reason = "two raters without people's ratings: what they share may be right or wrong"
        return EffectiveNumber(raters, unknown(reason), unknown(reason), False, least, basis)
    r = _correlation_alone(products, alike, weights, seed)
    return EffectiveNumber(
        raters=raters,
        number=bootstrap_estimate(
            float(effective_count(raters, r[:1])[0]), effective_count(raters, r[1:]), prompts
        ),
        correlation=bootstrap_estimate(float(r[0]), r[1:], prompts),
        against_people=False,
        least=least,
        basis=basis,
    )


def _single(raters: int, *, against_people: bool) -> EffectiveNumber:
    """A panel of one rater."""
    reason = "it is one rater"
    return EffectiveNumber(
        raters=raters,
        number=Estimate(float(raters), reason=reason),
        correlation=unknown(reason),
        against_people=against_people,
        least=None,
        basis="one rater",
    )


def without_severity(ratings: Array) -> Array:
    """Ratings (P, K, R) less how far each rater is above the others, over all answers."""
    fair = ratings
    for _ in range(_SEVERITY_ROUNDS):
        deviation = fair - mean_over(fair)[..., None]
        shared = (~np.isnan(fair)).sum(axis=2, keepdims=True) > 1
        usable = np.where(shared, deviation, np.nan)
        severity = mean_over(usable.reshape(-1, ratings.shape[2]).T)
        fair = fair - np.nan_to_num(severity)
    return fair


def _noise_of_means(ratings: Array) -> tuple[Array, bool]:
    """The variance of people's mean of each answer, (P, K), and whether it is known."""
    count = (~np.isnan(ratings)).sum(axis=2)
    mean = mean_over(ratings)
    squares = np.nansum((ratings - mean[..., None]) ** 2, axis=2)
    df = np.maximum(count - 1, 0).sum()
    if df < max(10, 0.1 * (count > 0).sum()):
        return np.zeros(mean.shape), False
    # Severity is a constant within a prompt where the same people rate all of it, and no noise.
    variance = _variance_without_levels(ratings, float(squares.sum()) / float(df))
    return variance / np.maximum(count, 1), True


def _variance_without_levels(ratings: Array, variance: float) -> float:
    """The variance of ratings of an answer, without people's own levels in each prompt."""
    known = ~np.isnan(ratings)
    rows = known.any(axis=2).sum(axis=1)
    columns = known.any(axis=1).sum(axis=1)
    is_full = known.sum(axis=(1, 2)) == rows * columns
    usable = is_full & (rows > 1) & (columns > 1)
    if not usable.all():
        return variance
    by_answer = mean_over(ratings)[..., None]
    by_person = mean_over(ratings.transpose(0, 2, 1))[:, None, :]
    overall = mean_over(ratings.reshape(len(ratings), -1))[:, None, None]
    left = np.where(known, ratings - by_answer - by_person + overall, 0.0)
    return float((left**2).sum() / ((rows - 1) * (columns - 1)).sum())


def _mean_correlation(covariances: Array) -> Array:
    """The mean covariance of two raters over the mean variance, (B,)."""
    raters = covariances.shape[1]
    variance = np.einsum("bcc->b", covariances) / raters
    others = (covariances.sum(axis=(1, 2)) - variance * raters) / (raters * (raters - 1))
    return np.where(variance > 0, others / np.where(variance > 0, variance, 1.0), np.nan)


def _correlation_alone(products: PromptProducts, alike: Array, weights: Array, seed: int) -> Array:
    """The mean correlation of the raters' errors without people, (B,)."""
    raters = alike.shape[1]
    centring = np.eye(raters) - 1 / raters
    left = centring @ alike @ centring
    shift = np.zeros(len(weights))
    generator = np.random.default_rng(seed)
    for _ in range(_HALVINGS):
        in_first = generator.permutation(weights.shape[1]) % 2 == 0
        shift += _independent_level(products, weights, in_first, centring)
        shift += _independent_level(products, weights, ~in_first, centring)
    shift = -shift / (2 * _HALVINGS)
    return _mean_correlation(left + shift[:, None, None])


def _independent_level(
    products: PromptProducts, weights: Array, finds: Mask, centring: Array
) -> Array:
    """What is left of the pairs that are least alike on some prompts, on the others, (B,)."""
    raters = len(centring)
    upper = np.triu_indices(raters, 1)
    pairs = max(1, round(_INDEPENDENT_SHARE * len(upper[0])))
    halves = []
    for among in (finds, ~finds):
        alike = correlations(products.covariances(weights * among))
        halves.append((centring @ alike @ centring)[:, upper[0], upper[1]])
    found, measured = halves
    lowest = np.argsort(found, axis=1)[:, :pairs]
    return np.asarray(np.take_along_axis(measured, lowest, axis=1).mean(axis=1))
