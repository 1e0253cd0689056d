import numpy as np
import pytest
from tests.analysis.tune.helpers import noise, source_of

from darc.analysis.tune.advice import recommend
from darc.analysis.tune.objective import Objective
from darc.analysis.tune.tuning import tune
from darc.errors import DarcError, InputError
from darc.ratings.simulated import simulate, two_minds


def test_where_risk_matters_a_setting_beats_best_of_k() -> None:
    ratings = simulate(two_minds(120, 8, 10, polarising=0.5), seed=1).ratings
    found = tune(source_of(ratings), splits=3)
    best = found.rows[0]
    assert best.low > 0
    assert best.sigma < found.sigma
    assert [row.gain for row in found.rows] == sorted((r.gain for r in found.rows), reverse=True)
    assert recommend(found).setting == best.setting
    assert recommend(found).beyond_noise


def test_on_noise_best_of_k_is_recommended() -> None:
    rules = ["epsilon", "lcb", "entropic", "cvar"]
    times = 30
    wrong = sum(
        recommend(tune(source_of(noise(40, seed)), rules=rules, splits=1, seed=seed)).beyond_noise
        for seed in range(times)
    )
    print(f"noise: {wrong} of {times} recommend something else than mean")
    assert wrong / times <= 0.1


def test_tuned_gain_is_optimistic_on_noise() -> None:
    found = [
        tune(source_of(noise(40, seed)), rules=["epsilon"], splits=1, seed=seed).rows[0]
        for seed in range(20)
    ]
    assert np.mean([row.optimism for row in found]) > 0.05
    assert abs(np.mean([row.gain for row in found])) < 0.1


def test_choosing_by_cvar_over_prompts() -> None:
    generator = np.random.default_rng(4)
    samples = generator.normal(7, 0.5, size=(300, 5, 10))
    samples[:, :2] += 1.0
    samples[:, :2] -= 8.0 * (generator.random((300, 2, 10)) < 0.15)
    found = tune(source_of(samples), Objective("cvar"), rules=["cvar", "lcb", "entropic"])
    assert recommend(found).beyond_noise


def test_risk_cap() -> None:
    ratings = simulate(two_minds(120, 8, 10, polarising=0.5), seed=1).ratings
    loose = tune(source_of(ratings), Objective("mean"), rules=["epsilon"], splits=2)
    assert recommend(loose).setting.rule.name == "mean"
    cap = loose.sigma - 0.15
    capped = tune(source_of(ratings), Objective("mean", risk_cap=cap), rules=["epsilon"], splits=2)
    assert recommend(capped).setting.rule.name == "epsilon"
    assert capped.rows[0].sigma <= cap
    assert f"keeps the cap of {cap:g}" in recommend(capped).headline
    hopeless = tune(source_of(ratings), Objective("mean", risk_cap=0.01), rules=["epsilon"])
    assert recommend(hopeless).setting.rule.name == "mean"
    assert "no setting keeps the cap" in recommend(hopeless).headline


def test_side_inputs_and_several_scorers() -> None:
    generator = np.random.default_rng(5)
    quality = generator.normal(size=(80, 1, 6, 1))
    samples = quality + generator.normal(0, 1.5, size=(80, 2, 6, 6))
    side = {
        "log_likelihood": quality[:, 0, :, 0] + generator.normal(0, 0.2, size=(80, 6)),
        "atypicality": generator.random((80, 6)),
    }
    found = tune(source_of(samples, side), Objective("mean"), splits=2)
    rows = {row.rule: row for row in found.rows}
    assert {"rbon", "caution", "uwo"} <= rows.keys()
    assert set(found.not_tuned) == {"majority", "mbr", "mc_dropout"}
    assert recommend(found).setting.rule.name == "rbon"
    assert rows["rbon"].low > 0


def test_same_seed_same_result() -> None:
    source = source_of(noise(30, 0))
    first, second = (tune(source, rules=["poisson", "epsilon"], seed=3) for _ in range(2))
    assert first == second
    assert tune(source, rules=["poisson", "epsilon"], seed=4) != first


def test_progress_reaches_its_total() -> None:
    seen: list[tuple[int, int | None]] = []
    tune(source_of(noise(12, 0)), rules=["lcb"], folds=2, progress=lambda *at: seen.append(at))
    assert seen[-1][0] == seen[-1][1] == len(seen)


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        (noise(1, 0), "1 prompt"),
        (noise(8, 0), "8 prompt"),
        (noise(20, 0, size=1), "cannot be split"),
        (noise(20, 0, size=3)[:, :, :2], "needs two ratings to judge by"),
        (noise(20, 0, candidates=1), "one candidate"),
        (np.full((20, 4, 6), 3.0), "do not vary"),
    ],
)
def test_bad_input_is_one_sentence(samples: np.ndarray, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        tune(source_of(samples), Objective())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [{"folds": 1}, {"splits": 0}, {"rules": ["uwo"]}, {"rules": ["best"]}, {"size": "huge"}],
)
def test_bad_arguments(arguments: dict[str, object]) -> None:
    with pytest.raises(DarcError):
        tune(source_of(noise(20, 0)), **arguments)  # type: ignore[arg-type]


def test_ties_do_not_depend_on_the_order_of_the_file() -> None:
    generator = np.random.default_rng(6)
    samples = generator.integers(0, 3, size=(60, 4, 4)).astype(float)
    samples[:, 0] = np.minimum(samples[:, 0] + (generator.random((60, 4)) < 0.3), 2)
    source = source_of(samples)
    turned = source.subset(range(60), [[3, 2, 1, 0]] * 60)
    one, other = (
        tune(each, Objective("mean"), rules=["epsilon", "poisson"], splits=3)
        for each in (source, turned)
    )
    assert (one.baseline, one.sigma, one.rows) == (other.baseline, other.sigma, other.rows)
