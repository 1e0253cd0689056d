import math

import numpy as np
import pytest
from tests.analysis.diagnose.panels import Array, noise_only, panel, source

from darc.analysis.diagnose.candidate_ratings import candidate_ratings
from darc.analysis.diagnose.contention import measure_contention
from darc.analysis.diagnose.reliability import reliabilities


def test_a_contentious_prompt_comes_first() -> None:
    ratings = noise_only(0, prompts=30)
    centre = ratings[12].mean(axis=1, keepdims=True)
    ratings[12] = centre + 4 * (ratings[12] - centre)
    made = panel(ratings)
    sigmas = reliabilities(made)[1]
    rows = measure_contention(made, sigmas["prompt"], sigmas["within"]).prompts
    assert rows[0].prompt == "p12"
    assert rows[0].low > rows[1].high


def test_noise_is_drawn_in() -> None:
    made = panel(noise_only(1, prompts=100))
    sigmas = reliabilities(made)[1]
    result = measure_contention(made, sigmas["prompt"], sigmas["within"])
    rows = result.prompts
    seen, shrunk = (np.array([getattr(one, name) for one in rows]) for name in ("sigma", "shrunk"))
    assert shrunk.std() < 0.5 * seen.std()
    assert result.candidate_sigmas.std() < 0.5 * made.sigmas().std()


def spread_prompts(seed: int, raters: int) -> tuple[Array, Array]:
    draw = np.random.default_rng(seed)
    scale = np.exp(draw.normal(0, 0.4, 200))
    return scale, scale[:, None, None] * draw.normal(size=(200, 5, raters))


@pytest.mark.parametrize("raters", [3, 6])
def test_shrinkage_comes_nearer_to_the_truth(raters: int) -> None:
    scale, ratings = spread_prompts(3, raters)
    made = panel(ratings)
    sigmas = reliabilities(made)[1]
    rows = measure_contention(made, sigmas.get("prompt"), sigmas.get("within")).prompts
    truth = {f"p{i}": value for i, value in enumerate(scale)}
    factor = np.mean([one.sigma for one in rows]) / scale.mean()
    raw = np.mean([(one.sigma - factor * truth[one.prompt]) ** 2 for one in rows])
    drawn = np.mean([(one.shrunk - factor * truth[one.prompt]) ** 2 for one in rows])
    inside = np.mean([one.low <= factor * truth[one.prompt] <= one.high for one in rows])
    assert drawn < raw
    assert inside > 0.85


def test_without_a_second_rating_there_is_no_contention() -> None:
    result = measure_contention(panel(noise_only(0, raters=1)), None, None)
    assert result.prompts == []
    assert np.isnan(result.candidate_sigmas).all()


def test_prompts_that_chance_explains_are_not_ranked() -> None:
    made = panel(noise_only(1, prompts=100))
    result = measure_contention(made, None, None)
    if np.ptp([row.shrunk for row in result.prompts]) == 0:
        assert result.ranked == []
    equal = source(np.tile([1.0, 5.0, 2.0, 4.0], (20, 4, 1)))
    result = measure_contention(candidate_ratings(equal), None, None)
    assert len(result.prompts) == 20
    assert result.ranked == []
    ratings = noise_only(0, prompts=30)
    ratings[12] *= 4
    uneven = panel(ratings)
    sigmas = reliabilities(uneven)[1]
    ranked = measure_contention(uneven, sigmas["prompt"], sigmas["within"]).ranked
    assert ranked[0].prompt == "p12"


def test_one_prompt_has_no_interval() -> None:
    rows = measure_contention(panel(noise_only(0, prompts=1)), None, None).prompts
    assert len(rows) == 1
    assert math.isnan(rows[0].low)


def test_of_equal_candidates_the_widest_is_drawn_by_lot() -> None:
    made = source(np.tile([1.0, 5.0, 2.0, 4.0], (200, 4, 1)))
    turned = made.subset(range(200), [[2, 3, 1, 0]] * 200)
    named = [
        {
            row.prompt: row.widest
            for row in measure_contention(candidate_ratings(each), None, None).prompts
        }
        for each in (made, turned)
    ]
    assert named[0] == named[1]
    times = [list(named[0].values()).count(f"c{k}") for k in range(4)]
    assert min(times) > 25
    again = measure_contention(candidate_ratings(made, seed=1), None, None).prompts
    assert {row.prompt: row.widest for row in again} != named[0]
