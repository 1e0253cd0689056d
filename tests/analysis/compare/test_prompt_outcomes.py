import numpy as np
import pytest

from darc.analysis.compare.prompt_outcomes import PromptOutcomes, PromptRatings
from darc.ratings.splitting import NOBODY
from darc.typing import Array


def rated(values: Array, nobody: bool = False) -> PromptRatings:
    """Ratings (prompts, systems, raters), NaN where there is none."""
    prompt, system, rater = np.nonzero(~np.isnan(values))
    prompts, systems, _ = values.shape
    return PromptRatings(
        prompt=prompt,
        system=system,
        rater=np.full(len(rater), NOBODY) if nobody else rater,
        candidate=prompt * systems + system,
        value=values[prompt, system, rater],
        prompts=prompts,
        systems=systems,
    )


def draw(seed: int = 0, prompts: int = 25) -> Array:
    return np.random.default_rng(seed).integers(1, 6, (prompts, 3, 4)).astype(float)


def test_tradeoff_and_cvar_by_loops() -> None:
    values = draw()
    values[3, 1, 2:] = np.nan
    values[4, 1, 1:] = np.nan
    outcomes = PromptOutcomes(rated(values), lam=2.0, draws=200, seed=0)
    tradeoffs = []
    means = []
    for prompt in range(25):
        ratings = values[prompt, 1][~np.isnan(values[prompt, 1])]
        means.append(ratings.mean())
        if len(ratings) > 1:
            tradeoffs.append(ratings.mean() - 2 * ratings.std(ddof=1))
    system = outcomes.of_system(1)
    assert len(tradeoffs) == 24
    assert system.tradeoff.value == pytest.approx(np.mean(tradeoffs))
    # The tenth of 25 prompts is 3 prompts.
    assert system.cvar.value == pytest.approx(np.sort(means)[:3].mean())
    for estimate in (system.tradeoff, system.cvar):
        low, high = estimate.interval
        assert low < estimate.value < high


def test_wins_ties_and_losses_of_persons() -> None:
    values = draw(1)
    values[:, 0, 3] = np.nan
    pair = PromptOutcomes(rated(values), 2.0, 200, 0).of_pair(0, 2, ("a", "b"))
    lead = (values[:, 0] - values[:, 2])[:, :3].ravel()
    assert pair.by_person
    assert pair.comparisons == 75
    assert pair.wins == pytest.approx((lead > 0).mean())
    assert pair.ties == pytest.approx((lead == 0).mean())
    assert pair.losses == pytest.approx((lead < 0).mean())
    assert pair.win_rate.value == pytest.approx(pair.wins + pair.ties / 2)
    low, high = pair.win_rate.interval
    assert low < pair.win_rate.value < high


def test_means_of_prompts_are_compared_where_nobody_is_known() -> None:
    values = draw(2)
    outcomes = PromptOutcomes(rated(values, nobody=True), 2.0, 100, 0)
    pair = outcomes.of_pair(0, 1, ("a", "b"))
    means = values.mean(axis=2)
    assert not pair.by_person
    assert pair.comparisons == 25
    assert pair.ties == pytest.approx((means[:, 0] == means[:, 1]).mean())
    assert pair.ties > 0
    shares = outcomes.tie_shares()
    assert shares[0, 1] == pair.ties
    assert np.isnan(np.diag(shares)).all()


def test_changes_are_on_the_prompts_that_both_have() -> None:
    values = draw(3)
    values[:10, 0] = np.nan
    pair = PromptOutcomes(rated(values), 1.0, 100, 0).of_pair(0, 1, ("a", "b"))
    means = values.mean(axis=2)[10:]
    sigmas = values.std(axis=2, ddof=1)[10:]
    tradeoff = means - sigmas
    assert pair.tradeoff.value == pytest.approx((tradeoff[:, 0] - tradeoff[:, 1]).mean())
    tails = np.sort(means, axis=0)[:2].mean(axis=0)
    assert pair.cvar.value == pytest.approx(tails[0] - tails[1])


def test_one_rating_per_answer_has_no_tradeoff() -> None:
    system = PromptOutcomes(rated(draw()[:, :, :1]), 2.0, 50, 0).of_system(0)
    assert np.isnan(system.tradeoff.value)
    assert np.isfinite(system.cvar.value)


def test_systems_without_a_common_prompt() -> None:
    values = draw(4)
    values[:12, 0] = np.nan
    values[12:, 1] = np.nan
    pair = PromptOutcomes(rated(values), 2.0, 50, 0).of_pair(0, 1, ("a", "b"))
    assert pair.comparisons == 0
    assert np.isnan(pair.win_rate.value)
    assert np.isnan(pair.tradeoff.value)
    assert np.isnan(pair.cvar.value)


def test_coverage_of_the_win_rate() -> None:
    """The interval of the win rate holds about as often as it says."""
    held = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        shift = generator.normal(0, 1, (60, 1, 1))
        values = generator.normal(0, 1, (60, 2, 4)) + np.array([0.5, 0.0])[:, None] + shift
        low, high = (
            PromptOutcomes(rated(values), 2.0, 200, 0).of_pair(0, 1, ("a", "b")).win_rate.interval
        )
        # The probability that one normal variable exceeds another by 0.5 sqrt(2) deviations.
        held += low <= 0.6381 <= high
    assert held >= 52
