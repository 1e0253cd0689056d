"""The preset `paper` attains what it claims."""

from itertools import product

import numpy as np
import pytest
from tests.ratings.simulated.calibrate import PROMPTS, attained

from darc.analysis.experiments.disagreement import disagreement
from darc.ratings.simulated import preset


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_quantiles_and_correlation_are_the_papers(seed: int) -> None:
    found = attained(preset("paper"), seed)
    assert 0.65 <= found["mean"] <= 0.74
    assert 0.84 <= found["q80"] <= 0.98
    assert 1.32 <= found["q90"] <= 1.65
    assert found["spearman"] == pytest.approx(0.65, abs=0.02)


def test_five_whole_numbers_have_no_variance_like_the_papers_quantiles() -> None:
    possible = {round(float(np.var(five, ddof=1)), 9) for five in product(range(5), repeat=5)}
    assert not [x for x in possible if 0.8 < x < 1.0]
    halves = {round(x / 4, 9) for x in possible}
    assert [x for x in halves if 0.84 <= x <= 0.98]


def test_the_command_prints_the_same() -> None:
    result = disagreement(preset("paper").changed({"prompts": PROMPTS}), 0)
    rows = {row["measure"]: row["value"] for row in result.rows}
    found = attained(preset("paper"), 0)
    assert rows["mean of the largest variance"] == pytest.approx(found["mean"])
    assert rows["its 80 % quantile"] == pytest.approx(found["q80"])
    assert rows["its 90 % quantile"] == pytest.approx(found["q90"])
    assert rows["Spearman of proxy and human sigma"] == pytest.approx(found["spearman"])
    assert rows["human sigma of Best-of-K"] == pytest.approx(found["sigma"])
