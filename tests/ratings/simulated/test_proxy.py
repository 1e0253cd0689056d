from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from darc.errors import InputError
from darc.ratings.simulated import ProxyRecipe, preset, proxy_scores, simulate

PEOPLE = simulate(replace(preset("paper").people, prompts=800), 3)


def test_shape_seed_and_original_first() -> None:
    one = proxy_scores(PEOPLE, ProxyRecipe(scorers=2, rewrites=4))
    assert one.samples.shape == (800, 2, 5, 5)
    assert np.array_equal(
        one.samples, proxy_scores(PEOPLE, ProxyRecipe(scorers=2, rewrites=4)).samples
    )
    other = proxy_scores(PEOPLE, ProxyRecipe(scorers=2, rewrites=4), seed=9)
    assert not np.array_equal(one.samples, other.samples)


def test_error_is_common_to_all_rewrites() -> None:
    recipe = ProxyRecipe(rewrites=400, error=0.5, spread=0.1, uneven=0.0)
    miss = proxy_scores(PEOPLE, recipe).samples[:, 0].mean(axis=-1) - PEOPLE.truth.mean
    assert miss.std() == pytest.approx(0.5, abs=0.02)
    assert abs(miss.mean()) < 0.03


def test_scorers_share_part_of_their_error() -> None:
    recipe = ProxyRecipe(scorers=2, rewrites=0, error=0.5, spread=0.0, shared=0.6)
    miss = proxy_scores(PEOPLE, recipe).samples[..., 0] - PEOPLE.truth.mean[:, None]
    found = np.corrcoef(miss[:, 0].ravel(), miss[:, 1].ravel())[0, 1]
    assert found == pytest.approx(0.6, abs=0.04)


def test_spread_tracks_disagreement_to_the_chosen_degree() -> None:
    def found(tracking: float) -> float:
        recipe = ProxyRecipe(rewrites=200, tracking=tracking)
        spread = proxy_scores(PEOPLE, recipe).samples[:, 0].std(axis=-1, ddof=1)
        return float(spearmanr(spread.ravel(), PEOPLE.truth.sigma.ravel())[0])

    assert found(1.0) > 0.98
    assert found(0.6) == pytest.approx(0.58, abs=0.05)
    assert abs(found(0.0)) < 0.05
    assert found(-1.0) < -0.98


def test_bias_grows_with_the_exploited_feature_and_rewrites_remove_some() -> None:
    people = simulate(preset("hacking").people, 1)
    recipe = ProxyRecipe(
        scorers=3, rewrites=50, error=0.0, spread=0.0, bias=2.0, fooled=0.67, fragility=0.5
    )
    excess = proxy_scores(people, recipe).samples - people.truth.mean[:, None, :, None]
    assert np.allclose(excess[:, 0, :, 0], 2.0 * people.exploit)
    some = people.exploit > 0
    kept = excess[:, 0][some][:, 1:] / (2.0 * people.exploit[some])[:, None]
    assert kept.min() >= 0.5
    assert kept.mean() == pytest.approx(0.75, abs=0.01)
    assert np.allclose(excess[:, 1], excess[:, 0])
    assert np.allclose(excess[:, 2], 0.0)
    words = proxy_scores(people, recipe).log_likelihood
    assert np.corrcoef(words.ravel(), people.exploit.ravel())[0, 1] < -0.2


def test_settings_are_checked() -> None:
    for settings, words in (
        ({"scorers": 0}, "scorers"),
        ({"rewrites": -1}, "rewrites"),
        ({"tracking": 2.0}, "tracking"),
        ({"shared": 2.0}, "shared"),
        ({"rewrites": 10**6}, "too many"),
    ):
        with pytest.raises(InputError, match=words):
            ProxyRecipe(**settings)
