import numpy as np
import pytest

from darc.decide.evidence.adaptive import (
    AdaptiveAsking,
    AskingModel,
    ListAsking,
    probability_final,
    rater_value,
)
from darc.decide.evidence.posterior import Posterior, RatingNoise, posterior
from darc.typing import Array

ORDER = [3, 0, 4, 1, 2, 5]


def model(price: float = 0.005, severity: Array | None = None) -> AskingModel:
    if severity is None:
        severity = np.zeros(len(ORDER))
    return AskingModel(RatingNoise(rating=1.0, candidates=0.3), severity, price)


def run(asking: AdaptiveAsking | ListAsking, ratings: Array) -> list[list[tuple[int, int]]]:
    waves = []
    seen = np.full(ratings.shape, np.nan)
    while pairs := asking.ask():
        for pair in pairs:
            seen[pair] = ratings[pair]
        asking.tell(seen)
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
    waves = run(dear, ratings)
    assert [len(wave) for wave in waves[:2]] == [8, 1]
    assert dear.calls <= 10
    free = AdaptiveAsking(8, ORDER, model(price=0.0))
    run(free, ratings)
    usual = AdaptiveAsking(8, ORDER, model())
    run(usual, ratings)
    assert 8 < usual.calls < free.calls


def test_a_clear_winner_is_looked_at_twice() -> None:
    ratings = np.zeros((8, len(ORDER)))
    ratings[5] = 12.0
    asking = AdaptiveAsking(8, ORDER, model())
    waves = run(asking, ratings)
    assert waves[1:] == [[(5, ORDER[1])]]
    assert asking.belief.mean.argmax() == 5


def test_a_single_rating_that_is_far_off_does_not_win() -> None:
    ratings = np.zeros((8, len(ORDER)))
    ratings[5, ORDER[0]] = 12.0
    ratings[5, ORDER[1:]] = -13.0
    asking = AdaptiveAsking(8, ORDER, model())
    run(asking, ratings)
    assert asking.belief.mean.argmax() != 5


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
    seen = np.full((2, len(ORDER)), np.nan)
    seen[:, ORDER[0]] = (1.0, 0.5)
    seen[0, ORDER[1]] = -2.0
    asking.tell(seen)
    assert asking.belief.mean[0].argmax() == 0


def test_raters_of_lists_are_asked_two_at_a_time_until_it_is_clear() -> None:
    generator = np.random.default_rng(3)
    close = generator.normal(0, 0.1, (6, 1)) + generator.normal(size=(6, len(ORDER)))
    clear = np.where(np.arange(6) == 4, 12.0, 0.0)[:, None] + 0 * close
    first = [(candidate, rater) for rater in ORDER[:2] for candidate in range(6)]
    assert run(ListAsking(6, ORDER, model()), clear) == [first]
    waves = run(ListAsking(6, ORDER, model()), close)
    assert waves[0] == first
    assert [len(wave) for wave in waves] == [12] * 3
    assert len({pair for wave in waves for pair in wave}) == 36


def test_a_rater_of_everything_is_worth_what_choices_gain() -> None:
    """The value of one rater, beside choosing by simulated grades of that rater."""
    mean = np.array([0.3, 0.2, -0.4])
    variance = np.array([0.2, 0.3, 0.3])
    value = rater_value(Posterior(mean[None], variance[None]), 1.0, room=1)
    generator = np.random.default_rng(5)
    truth = mean + np.sqrt(variance) * generator.normal(size=(200_000, 3))
    grade = truth + generator.normal(size=truth.shape)
    later = mean + variance / (variance + 1.0) * (grade - mean)
    chosen = truth[np.arange(len(truth)), later.argmax(axis=1)]
    assert value == pytest.approx(chosen.mean() - 0.3, abs=0.01)


def test_the_probability_that_all_ratings_lead_to_the_same_choice() -> None:
    generator = np.random.default_rng(6)
    noise = RatingNoise(rating=1.0, candidates=0.3)
    said = []
    same = []
    for _ in range(600):
        ratings = generator.normal(0, np.sqrt(0.3), (5, 1)) + generator.normal(size=(5, 8))
        seen = ratings.copy()
        seen[:, 3:] = np.nan
        belief = posterior(seen[None], noise)
        choice = int(belief.mean[0].argmax())
        said.append(probability_final(seen, belief, noise, np.full(5, 5), choice))
        same.append(int(ratings.mean(axis=1).argmax()) == choice)
    assert np.mean(said) == pytest.approx(np.mean(same), abs=0.06)
