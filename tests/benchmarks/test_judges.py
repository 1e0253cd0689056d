"""What judgements add, at a tiny size."""

import numpy as np
import pytest
from benchmarks.judges import bad_judges, draw, judged_gain, mean_gain, simulated_row
from tests.analysis.panel_audit.worlds import as_ratings

from darc.ratings.ratings import Ratings
from darc.typing import Array


def world(prompts: int = 60) -> tuple[Ratings, Array]:
    generator = np.random.default_rng(0)
    truth = generator.normal(0, 0.6, (prompts, 5))
    ratings = truth[..., None] + generator.normal(size=(prompts, 5, 6))
    return as_ratings(ratings, "rater", "person "), truth


def test_nobody_both_chooses_and_judges() -> None:
    ratings, _ = world()
    samples = ratings.samples[:, 0]
    for count in (1, 2, 4):
        drawn = draw(ratings, count, 3)
        chosen = (~np.isnan(drawn.samples)).sum(axis=2)
        if count == 1:
            assert set(np.unique(chosen).tolist()) == {1, 2}
        else:
            assert (chosen == count).all()
        rows = np.arange(len(samples))[:, None]
        total = np.nansum(drawn.samples, axis=2) + drawn.judged * (6 - chosen)
        assert total == pytest.approx(samples[rows, drawn.order].sum(axis=2))


def test_a_good_judge_gains_and_bad_ones_lose_nothing() -> None:
    ratings, truth = world()
    assert np.nanmean(judged_gain(ratings, {"good": truth}, 2, 0)) > 0.1
    for kind, judgement in bad_judges(ratings).items():
        assert np.nanmean(judged_gain(ratings, {kind: judgement}, 2, 0)) > -0.05, kind
    assert mean_gain(ratings, {"good": truth}, 6, 1) is None


def test_simulated_judges_have_their_worth() -> None:
    name, worth, _, _, gain = simulated_row("r = 0.7", 0.7, 2)
    assert (name, worth) == ("r = 0.7", "2.9")
    assert str(gain).startswith("+0.1")
