import numpy as np
import pytest

import darc
from darc.analysis.tune.risk import Risk, RiskTuning, share_interval, tune_risk
from darc.errors import InputError
from darc.ratings.ratings import Ratings


def draw(prompts: int = 150, raters: int = 5, centre: float = 3.4, seed: int = 0) -> Ratings:
    generator = np.random.default_rng(seed)
    mean = generator.normal(centre, 0.7, (prompts, 1)) + generator.normal(0, 0.5, (prompts, 4))
    noise = generator.normal(0, 0.8, (prompts, 4, raters))
    samples = np.clip(np.round(mean[..., None] + noise), 1, 5)
    return Ratings(
        name="drawn",
        kind="rater",
        prompt_ids=[f"p{place}" for place in range(prompts)],
        candidate_ids=[["a", "b", "c", "d"]] * prompts,
        scorers=[""],
        samples=samples[:, None],
        raters=np.broadcast_to(np.arange(raters), (prompts, 1, 4, raters)).copy(),
        rater_names=[f"r{place}" for place in range(raters)],
        lengths=np.full((prompts, 4), np.nan),
    )


def test_a_promise_says_what_is_possible_and_what_it_takes() -> None:
    tuning = tune_risk(draw(), "rating < 3", 0.1)
    assert tuning.promise is not None
    assert tuning.base_risk > 0.1
    held = 1 - tuning.promise.coverage
    assert held >= tuning.least_held - 0.05
    assert 0.3 < tuning.promise.coverage < 1
    words = tuning.as_json()
    assert words["possible"]
    assert words["promise"]["threshold"] == tuning.promise.threshold


def test_the_held_out_rater_is_not_among_those_who_select() -> None:
    tuning = tune_risk(draw(raters=5), "rating < 3")
    assert tuning.choices.ratings_per_answer == 4
    assert tuning.choices.left_out == 0


def test_an_impossible_promise_says_so() -> None:
    tuning = tune_risk(draw(centre=1.5), "rating < 4", 0.05)
    assert tuning.promise is None
    assert tuning.least_held > 0.5
    assert any("Not possible" in sentence for sentence in tuning.sentences())
    with pytest.raises(InputError):
        tuning.calibrations.save  # noqa: B018


def test_too_few_prompts_for_confidence_are_named() -> None:
    tuning = tune_risk(draw(prompts=30, centre=4.8), "rating < 2", 0.1, "shown")
    assert tuning.promise is None
    assert "36 prompts" in " ".join(tuning.sentences())


def test_ratings_without_returning_raters_are_split_by_sample() -> None:
    ratings = draw()
    codes = np.arange(ratings.raters.size).reshape(ratings.raters.shape)
    names = [f"r{place}" for place in range(codes.size)]
    lone = Ratings(**{**vars(ratings), "raters": codes, "rater_names": names})
    assert tune_risk(lone, "rating < 3").choices.left_out == 0


@pytest.mark.parametrize("text", ["rating > 3", "mean < 3", "rating < x", ""])
def test_other_risks_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Risk.parse(text)


def test_a_risk_may_include_its_limit() -> None:
    assert Risk.parse("rating<=3").is_bad(np.array([3.0, 4.0])).tolist() == [True, False]
    assert str(Risk.parse(" rating  <  3.5")) == "rating < 3.5"


def test_python_takes_a_risk() -> None:
    analysis = darc.tune(draw(), risk="rating < 3", level=0.2, promise="overall")
    assert isinstance(analysis.result, RiskTuning)
    assert analysis.result.calibrations.by_scorer[""].promise is not None
    assert "Promise" in repr(analysis)


def test_the_interval_of_a_share() -> None:
    low, high = share_interval(0.0, 100)
    assert low == 0
    assert high == pytest.approx(0.037, abs=0.001)
