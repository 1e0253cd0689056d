import numpy as np
import pytest

import darc
from darc.decide.method import Method
from darc.decide.statistics.betting import betting_bound
from darc.errors import InputError
from darc.types import Scores


def test_certificate_of_the_contract() -> None:
    scores = np.random.default_rng(0).integers(0, 11, size=(16, 9)).astype(float)
    decision = darc.select(scores, "mean")
    certificate = decision.certificate(bounds=(0, 10))
    assert certificate.probability == 0.95
    assert certificate.lower_bound is not None
    chosen = scores[decision.index]
    bound = betting_bound(chosen, candidates=16, bounds=(0, 10))
    assert certificate.lower_bound[0] == pytest.approx(float(bound))
    assert decision.certificate().lower_bound is None


def test_certificate_holds_for_independent_raters() -> None:
    generator = np.random.default_rng(1)
    truth = generator.uniform(0.2, 0.8, size=(400, 8))
    ratings = (generator.random((400, 8, 40)) < truth[..., None]).astype(float)
    misses = 0
    for quality, scores in zip(truth, ratings, strict=True):
        decision = darc.select(scores, "mean")
        lower = decision.certificate(bounds=(0, 1)).lower_bound
        assert lower is not None
        misses += quality[decision.index] < lower[0]
    assert misses / 400 <= 0.05


def test_rewrites_have_no_lower_bound() -> None:
    decision = darc.select([[9.0, 8.0, 9.0], [4.0, 5.0, 4.0]], "mean", sample="rewrite")
    assert decision.certificate(bounds=(0, 10)).lower_bound is None


def test_a_panel_of_judges_has_no_lower_bound() -> None:
    scores = Scores(
        values=np.array([[[9.0, 8.0, 9.0], [4.0, 5.0, 4.0]]]),
        scorers=("panel",),
        bounds=((0.0, 10.0),),
        location=(None,),
        scale=(None,),
        samples=("a", "b", "c"),
        sample="rater",
        judged=True,
    )
    decision = Method.parse("mean").decide("p", scores, {})
    assert decision.certificate(bounds=(0, 10)).lower_bound is None


def test_worst_case_weights_price_the_value() -> None:
    scores = [[3.0, 5.0, 9.0], [4.0, 4.0, 4.5]]
    decision = darc.select(scores, "entropic", beta=0.7)
    weights = decision.certificate().worst_case_weights[0]
    chosen = np.array(scores[decision.index])
    divergence = (weights * np.log(weights * 3)).sum()
    assert weights.sum() == pytest.approx(1.0)
    price = weights @ chosen + divergence / 0.7
    assert price == pytest.approx(decision.statistics.value[decision.index])


def test_margin_and_runner_up() -> None:
    certificate = darc.select([[1.0, 1.0], [3.0, 3.0], [2.5, 2.5]], "entropic").certificate()
    assert certificate.runner_up == 2
    assert certificate.margin == pytest.approx(0.5)
    alone = darc.select([[1.0, 1.0], [3.0, 3.0]], "epsilon").certificate()
    assert alone.runner_up is None
    assert alone.margin is None


def test_several_scorers_have_a_bound_each() -> None:
    scores = np.random.default_rng(2).random((2, 3, 200)) * [[[1.0]], [[10.0]]]
    certificate = darc.select(scores, "entropic").certificate(bounds=[(0, 1), (0, 10)])
    assert certificate.lower_bound is not None
    assert len(certificate.lower_bound) == 2
    assert certificate.worst_case_weights.shape == (2, 200)


@pytest.mark.parametrize(
    ("bounds", "delta", "words"),
    [
        ((0, 5), 0.05, "outside the bounds"),
        ((5, 0), 0.05, "finite and rising"),
        ("ab", 0.05, "not a pair"),
        ((0, 10), 2.0, "delta must lie between 0 and 1"),
    ],
)
def test_bad_bounds(bounds: tuple[float, float], delta: float, words: str) -> None:
    with pytest.raises(InputError) as caught:
        darc.select([[9.0, 1.0], [4.0, 5.0]], "mean").certificate(bounds, delta)
    assert words in str(caught.value)
