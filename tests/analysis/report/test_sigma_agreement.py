import numpy as np
import pytest
from scipy import stats
from tests.analysis.helpers import make_source

from darc.analysis.report.sigma_agreement import SigmaPairs, agreement_rows, sigma_pairs
from darc.ratings.joining import join


def made(prompts: int = 30, seed: int = 0) -> SigmaPairs:
    generator = np.random.default_rng(seed)
    shared, left, right, length = generator.normal(size=(4, prompts * 3))
    return SigmaPairs(
        np.repeat(np.arange(prompts), 3),
        np.tile(np.arange(3), prompts),
        shared + 0.7 * left,
        shared + 0.7 * right,
        np.stack([left, length]),
    )


def test_agreement_against_scipy() -> None:
    items = made()
    rows = {row["metric"]: row for row in agreement_rows(items, 200, 0)}
    rho = stats.spearmanr(items.proxy, items.human)[0]
    assert rows["spearman"]["value"] == pytest.approx(rho)
    assert rows["kendall"]["value"] == pytest.approx(stats.kendalltau(items.proxy, items.human)[0])
    left = set(np.argsort(-items.proxy)[:18].tolist())
    right = set(np.argsort(-items.human)[:18].tolist())
    assert rows["precision@20%"]["value"] == pytest.approx(len(left & right) / 18)
    assert rows["jaccard@20%"]["value"] == pytest.approx(len(left & right) / len(left | right))
    chance = stats.hypergeom.sf(len(left & right) - 1, 90, 18, 18)
    assert rows["overlap@20%"]["p"] == pytest.approx(chance)
    for name in ("spearman", "partial spearman", "jaccard@20%"):
        assert rows[name]["low"] < rows[name]["value"] < rows[name]["high"]


def test_unknown_lengths_are_not_controlled() -> None:
    proxy = make_source(5, 3, 4, kind="rewrite", lengths=np.full((5, 3), np.nan))
    human = make_source(5, 3, 4, seed=1, name="people", lengths=np.full((5, 3), np.nan))
    assert len(sigma_pairs(join(proxy, human)).controls) == 1
