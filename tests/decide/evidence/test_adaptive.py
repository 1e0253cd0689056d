import numpy as np
import pytest

from darc.decide.evidence.adaptive import AdaptiveAsking, AskingModel
from darc.decide.evidence.posterior import RatingNoise
from darc.typing import Array

ORDER = [3, 0, 4, 1, 2, 5]


def model(price: float = 0.005, severity: Array | None = None) -> AskingModel:
    if severity is None:
        severity = np.zeros(len(ORDER))
    return AskingModel(RatingNoise(rating=1.0, candidates=0.3), severity, price)


def run(asking: AdaptiveAsking, ratings: Array) -> list[list[tuple[int, int]]]:
    waves = []
    while pairs := asking.ask():
        asking.tell(pairs, [float(ratings[pair]) for pair in pairs])
        waves.append(pairs)
    return waves


@pytest.mark.parametrize("seed", range(5))
def test_raters_come_in_the_order_of_the_prompt_and_never_twice(seed: int) -> None:
    generator = np.random.default_rng(seed)
    ratings = generator.normal(0, 0.55, (16, 1)) + generator.normal(size=(16, len(ORDER)))
    asking = AdaptiveAsking(16, ORDER, model())
    waves = run(asking, ratings)
    assert waves[0] == [(candidate, ORDER[0]) for candidate in range(16)]
    assert all(len(wave) <= 2 for wave in waves[1:])
    pairs = [pair for wave in waves for pair in wave]
    assert len(pairs) == len(set(pairs)) == asking.calls < ratings.size
    for candidate in range(16):
        raters = [rater for k, rater in pairs if k == candidate]
        assert raters == ORDER[: len(raters)]


def test_a_high_price_ends_after_the_first_ratings_and_none_spends_everything() -> None:
    generator = np.random.default_rng(1)
    ratings = generator.normal(size=(8, len(ORDER)))
    dear = AdaptiveAsking(8, ORDER, model(price=10.0))
    run(dear, ratings)
    assert dear.calls == 8
    free = AdaptiveAsking(8, ORDER, model(price=0.0))
    run(free, ratings)
    usual = AdaptiveAsking(8, ORDER, model())
    run(usual, ratings)
    assert 8 < usual.calls < free.calls


def test_a_clear_winner_needs_no_second_rating() -> None:
    ratings = np.zeros((8, len(ORDER)))
    ratings[5] = 12.0
    asking = AdaptiveAsking(8, ORDER, model())
    run(asking, ratings)
    assert asking.calls == 8
    assert asking.belief.mean.argmax() == 5


def test_who_gives_no_rating_is_passed_over() -> None:
    ratings = np.random.default_rng(2).normal(size=(4, len(ORDER)))
    ratings[2, ORDER[:3]] = np.nan
    asking = AdaptiveAsking(4, ORDER, model())
    waves = run(asking, ratings)
    assert waves[1:3] == [[(2, ORDER[1])], [(2, ORDER[2])]]
    nobody = AdaptiveAsking(2, ORDER, model())
    run(nobody, np.full((2, len(ORDER)), np.nan))
    assert nobody.calls == 2 * len(ORDER)


def test_known_severity_is_taken_out() -> None:
    """A contender that a harsh rater saw as well is not behind for it."""
    severity = np.zeros(len(ORDER))
    severity[ORDER[1]] = -3.0
    asking = AdaptiveAsking(2, ORDER, model(severity=severity))
    asking.tell([(0, ORDER[0]), (1, ORDER[0]), (0, ORDER[1])], [1.0, 0.5, -2.0])
    assert asking.belief.mean[0].argmax() == 0
