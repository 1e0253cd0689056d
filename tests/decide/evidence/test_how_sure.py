import numpy as np
import pytest

import darc
from darc.decide.model.calibration import Calibration


def test_a_clear_winner_is_nearly_certain() -> None:
    generator = np.random.default_rng(1)
    ratings = np.stack([generator.normal(8, 1, 20), generator.normal(4, 1, 20)])
    sure = darc.select(ratings, sample="rater").how_sure
    assert sure is not None
    assert sure.probability > 0.99
    assert sure.expected_regret < 0.01
    assert sure.low < sure.expected_mean < sure.high


def test_answers_alike_are_a_coin_toss() -> None:
    generator = np.random.default_rng(2)
    ratings = generator.normal(5, 1, (8, 3))
    sure = darc.select(ratings, sample="rater").how_sure
    assert sure is not None
    assert sure.probability < 0.7
    assert "in 10" in sure.in_words()


def test_the_winners_expected_mean_is_honest() -> None:
    """The plain mean of the winner is too high; the expected mean and its interval are not."""
    generator = np.random.default_rng(3)
    plain = []
    expected = []
    truth = []
    covered = []
    for _ in range(300):
        true_means = generator.normal(0, np.sqrt(0.3), 8)
        ratings = true_means[:, None] + generator.normal(size=(8, 4))
        decision = darc.select(ratings, "mean", sample="rater")
        sure = decision.how_sure
        assert sure is not None
        plain.append(ratings[decision.index].mean())
        expected.append(sure.expected_mean)
        truth.append(true_means[decision.index])
        covered.append(sure.low <= true_means[decision.index] <= sure.high)
    assert np.mean(plain) > np.mean(truth) + 0.2
    assert np.mean(expected) == pytest.approx(np.mean(truth), abs=0.08)
    assert 0.82 <= np.mean(covered) <= 0.97


def test_scores_of_rewrites_and_single_ratings_have_no_certainty() -> None:
    assert darc.select([[5], [6]], sample="rater").how_sure is None
    assert darc.select([[5, 6], [6, 7]], sample="rewrite").how_sure is None


def test_it_is_in_the_data_of_a_decision() -> None:
    data = darc.select([[5, 6, 5], [8, 9, 8]], sample="rater").to_dict()
    assert data["certainty"]["probability"] > 0.9


def test_a_lazy_search_is_sure_by_the_ratings_that_it_saw() -> None:
    generator = np.random.default_rng(0)
    ratings = np.clip(generator.normal([[8.0], [4.0], [3.0]], 1.0, (3, 8)), 0, 10)
    decision = darc.select_lazily(
        lambda pairs: [ratings[pair] for pair in pairs], 3, 8, bounds=(0, 10), sample="rater"
    )
    assert decision.partly
    sure = decision.how_sure
    everything = darc.select(ratings, sample="rater").how_sure
    assert sure is not None
    assert everything is not None
    assert sure.probability > 0.9
    assert sure.expected_mean == pytest.approx(everything.expected_mean, abs=0.5)


def test_pages_say_how_sure_the_choice_is() -> None:
    decision = darc.select([[5, 4, 5, 4], [3, 4, 3, 4]], scale="1-5")
    assert decision.how_sure is not None
    assert decision.how_sure.in_words() in decision._repr_html_()
    assert decision.to_dict()["certainty"]["words"] == decision.how_sure.in_words()


def test_an_answer_that_was_ruled_out_may_still_be_better() -> None:
    """What is said of many choices is true of as many, also where most answers were ruled out."""
    generator = np.random.default_rng(7)
    truth = generator.normal(0, np.sqrt(1 / 3), (600, 8))
    ratings = truth[..., None] + generator.normal(size=(600, 8, 4))
    decisions = darc.select_batch(ratings[:, None], "auto")
    said = []
    right = []
    for place, index in enumerate(decisions.index.tolist()):
        sure = decisions[place].how_sure
        assert sure is not None
        said.append(sure.probability)
        right.append(truth[place].max() - truth[place, index] <= 0.25)
    assert np.mean(said) == pytest.approx(np.mean(right), abs=0.06)
    said_nine = np.array(said) > 0.85
    assert np.mean(np.array(right)[said_nine]) > 0.8


def test_a_calibration_tells_the_noise_of_single_ratings() -> None:
    calibration = Calibration(within=1.0, within_df=200.0)
    sure = darc.select([[5.0], [9.0]], calibration=calibration, sample="rater").how_sure
    assert sure is not None
    assert sure.probability > 0.7


def test_the_sentence_has_the_average_its_interval_and_the_regret() -> None:
    decision = darc.select([[5, 4, 5, 4], [3, 4, 5, 4]], scale="1-5")
    sure = decision.how_sure
    assert sure is not None
    sentence = decision.sure_sentence
    assert sure.in_words() in sentence
    for number in (sure.expected_mean, sure.low, sure.high):
        assert f"{number:.3g}" in sentence
    assert f"{sure.expected_regret:.2f} below" in sentence
    assert decision.to_dict()["certainty"]["expected_regret"] == sure.expected_regret


def test_a_regret_of_nothing_is_not_printed() -> None:
    clear = darc.select([[9, 9, 8, 9, 9, 9], [2, 1, 2, 2, 1, 2]], scale=(0, 10))
    assert clear.how_sure is not None
    assert clear.how_sure.expected_regret < 0.005
    assert "below the best" not in clear.how_sure.sentence("a")
    close = darc.select([[6, 5, 7, 5, 6, 7], [6, 6, 5, 6, 7, 5]], scale=(0, 10))
    assert close.how_sure is not None
    assert "below the best answer" in close.how_sure.sentence("a")
