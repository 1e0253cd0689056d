"""The rule `auto` against the reference, against numbers that it gave once, and by its promises."""

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.auto import read
from tests.helpers import Array

import darc
from darc.core.statistics import batched
from darc.errors import InputError
from darc.selection.calibration import DEFAULT
from darc.simulate import Recipe, simulate

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT.parent / "shared" / "spec" / "auto_reference.py"
RATINGS = ROOT.parent / "shared" / "data" / "ratings"
FROZEN = Path(__file__).with_name("auto.json")
# Prompts x candidates x ratings, and how many raters and systems there are ids of.
WORLDS = [
    (40, 8, 6, 0, 0, 0.0),
    (40, 8, 6, 0, 0, 0.3),
    (25, 5, 4, 12, 0, 0.0),
    (25, 5, 4, 12, 0, 0.3),
    (40, 8, 6, 12, 8, 0.0),
    (60, 8, 9, 0, 8, 0.0),
    (30, 6, 2, 0, 0, 0.0),
    (30, 6, 1, 0, 6, 0.0),
    (12, 9, 3, 5, 0, 0.3),
]


def world(
    prompts: int, candidates: int, size: int, raters: int, systems: int, gaps: float
) -> dict[str, Any]:
    """Ratings with the effects of prompts, raters and systems, made by the sizes as a seed."""
    generator = np.random.default_rng([prompts, candidates, size, raters, systems])
    shape = prompts, candidates, size
    mean = generator.normal(size=(prompts, 1)) + generator.normal(0, 0.7, shape[:2])
    sigma = np.exp(generator.normal(0, 0.3, shape[:2]))
    scores = mean[..., None] + sigma[..., None] * generator.normal(size=shape)
    result: dict[str, Any] = {}
    if raters:
        result["rater_ids"] = generator.integers(0, raters, shape)
        scores += generator.normal(0, 0.5, raters)[result["rater_ids"]]
    if systems:
        result["system_ids"] = np.tile(np.arange(candidates) % systems, (prompts, 1))
        scores += generator.normal(0, 0.4, systems)[result["system_ids"]][..., None]
    missing = generator.random(shape) < gaps
    missing[..., 0] = False
    return {"scores": np.where(missing, np.nan, np.round(scores, 6))[:, None], **result}


def scores_of(made: dict[str, Any]) -> Array:
    decisions = darc.select_batch(made["scores"], "auto", **ids(made))
    return decisions.choice.objective


def ids(made: dict[str, Any]) -> dict[str, Any]:
    return {name: made[name] for name in made if name != "scores"}


CHANGES = {
    "if live.sum() > 3:": "if False:",
    "np.bincount(r, e, R) / np.maximum(W, 1e-9)": (
        "np.bincount(r, e, R) / np.maximum(np.bincount(r, w > 0, R), 1)"
    ),
}


def changed(text: str) -> str:
    for before, after in CHANGES.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


@pytest.fixture(scope="module")
def reference() -> Any:
    """The reference with a prompt's level its own, and raters' offsets by least squares.

    It draws levels towards their average, which moves no decision where all candidates have as many
    ratings, and divides what it sees of a rater by too little from the second round on.
    """
    if not REFERENCE.is_file():
        pytest.skip(f"{REFERENCE} is not here")
    text = REFERENCE.read_text(encoding="utf-8")
    found: dict[str, Any] = {"__name__": "reference"}
    exec(compile(changed(text), str(REFERENCE), "exec"), found)
    return SimpleNamespace(**found)


def differences(expected: Array, found: Array) -> float:
    """The largest difference between the scores of a prompt's candidates, its level aside."""
    gap = expected - found
    return float(np.abs(gap - gap.mean(axis=1, keepdims=True)).max())


@pytest.mark.parametrize("sizes", WORLDS, ids=str)
def test_scores_are_those_of_the_reference(reference: Any, sizes: Any) -> None:
    made = world(*sizes)
    expected = reference.auto(
        made["scores"][:, 0], rater=made.get("rater_ids"), source=made.get("system_ids")
    )
    assert differences(expected, scores_of(made)) < 1e-9


@pytest.mark.parametrize("name", ["summeval", "mqm_zhen", "squality", "recipe", "realsumm"])
def test_scores_are_those_of_the_reference_on_real_ratings(reference: Any, name: str) -> None:
    path = RATINGS / f"{name}.csv.gz"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    data = read(path)
    scores, raters = data.scores, np.maximum(data.raters, 0)
    expected = reference.auto(scores, rater=raters)
    found = darc.select_batch(scores[:, None], "auto", rater_ids=raters).choice.objective
    known = np.where(np.isinf(expected), 0.0, expected)
    assert differences(known, np.where(np.isinf(expected), 0.0, found)) < 1e-9


def test_scores_are_those_of_the_frozen_numbers() -> None:
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    assert len(frozen) == len(WORLDS)
    for sizes, expected in zip(WORLDS, frozen, strict=True):
        # The reference's numbers for the first prompts, each less the prompt's average.
        found = scores_of(world(*sizes))[: len(expected)]
        assert np.allclose(found - found.mean(axis=1, keepdims=True), expected, atol=1e-9)


@pytest.mark.parametrize("sizes", WORLDS, ids=str)
def test_one_prompt_at_a_time_gets_the_decisions_of_the_batch(sizes: Any) -> None:
    made = world(*sizes)
    learnt = darc.calibrate(made["scores"], **ids(made))
    batch = darc.select_batch(made["scores"], "auto", **ids(made))
    again = darc.select_batch(made["scores"], "auto", calibration=learnt, **ids(made))
    assert again.index.tolist() == batch.index.tolist()
    for place, pool in enumerate(made["scores"]):
        own = {name: value[place] for name, value in ids(made).items()}
        one = darc.select(pool, "auto", calibration=learnt, **own)
        assert one.index == batch.index[place]
        assert np.allclose(one.choice.objective[0], batch.choice.objective[place], atol=1e-12)


def test_one_prompt_alone_is_decided_by_fixed_weights() -> None:
    weight, _ = DEFAULT.by_count(20, 2.0)
    assert weight[:2].tolist() == [0.0, 0.0]
    assert (weight[2:] >= 0.05).all()
    assert (weight[2:] <= 0.08).all()
    generator = np.random.default_rng(0)
    pools = generator.normal(size=(50, 6, 9))
    # However a prompt's own ratings vary, the weight is that of their number.
    for pool in pools:
        objective = darc.select(pool, "auto").choice.objective[0]
        s = pool.std(axis=1, ddof=1) / 0.9693107
        plain = pool.mean(axis=1) - weight[9] * s
        assert differences(plain[None], objective[None] / DEFAULT.by_count(9, 2.0)[1][9]) < 1e-6


def test_a_rater_or_system_that_is_not_known_has_no_effect() -> None:
    made = world(*WORLDS[4])
    learnt = darc.calibrate(made["scores"], **ids(made))
    assert len(learnt.raters) == 12
    assert len(learnt.systems) == 8
    pool = made["scores"][0, 0]
    plain = darc.select(pool, "auto", calibration=learnt).choice.objective
    strangers: Any = [[None, "new", "other", 99, float("nan"), ""]] * 8
    told = darc.select(
        pool, "auto", calibration=learnt, rater_ids=strangers, system_ids=["none"] * 8
    )
    assert np.array_equal(told.choice.objective, plain)
    known = darc.select(pool, "auto", calibration=learnt, system_ids=made["system_ids"][0])
    assert not np.allclose(known.choice.objective, plain)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rater_ids": "ann"}, "where a list is expected"),
        ({"rater_ids": [["a", "b", "c"]]}, "has 3 entries where the scores have 2"),
        ({"system_ids": [["a"], ["b"]]}, "an id is a text or a whole number"),
        ({"system_ids": [1.5, 2.5]}, "an id is a text or a whole number"),
        ({"system_ids": np.array([1.5, 2.5])}, "system_ids has 1.5; an id is a text"),
        ({"lam": -1.0}, "lam must be 0 or larger"),
        ({"calibration": [DEFAULT, DEFAULT]}, "2 entries for 1 scorers"),
        ({"calibration": 3.0}, "3.0 is no calibration"),
        ({"calibration": "mine.json"}, "'mine.json' is no calibration"),
    ],
)
def test_what_cannot_be_used_is_named(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        darc.select([[1.0, 2.0], [2.0, 3.0]], "auto", **options)
    assert words in str(caught.value)


def test_a_candidate_with_few_samples_is_shrunk_and_not_left_out() -> None:
    nan = np.nan
    lucky = [[7.2, nan, nan, nan], [7.0, 7.1, 6.9, 7.0], [4.0, 5.0, 4.5, 4.0], [5.0, 5.0, 6.0, 5.0]]
    decision = darc.select(lucky, "auto", sample="rater")
    assert decision.index == 1
    assert decision.feasible.all()
    assert decision.flags == ("shrunk",)
    assert "candidates with fewer samples were drawn towards the average" in decision.explain()
    assert darc.select([[9.9, nan, nan, nan], *lucky[1:]], "auto").index == 0
    assert darc.select([[9.9, nan, nan, nan], *lucky[1:]], "auto", min_samples=2).index == 1


def test_several_scorers_are_hedged_and_the_lowest_is_named() -> None:
    first = [[9.0, 9.1, 8.9], [8.0, 8.1, 7.9], [5.0, 5.0, 5.1]]
    second = [[1.0, 1.1, 0.9], [6.0, 6.1, 5.9], [5.0, 5.1, 5.0]]
    options: dict[str, Any] = {"normalize": "none", "scorer_ids": ["form", "relevance"]}
    decision = darc.select([first, second], "auto", **options)
    assert decision.index == 1
    assert decision.explain() == (
        "candidate 1: first by mean, first by value, joint second lowest sigma; it has the "
        "largest mean, less 0.056 times its disagreement, hedged over its scorers, of which "
        "relevance is lowest."
    )
    assert darc.select([first, second], "auto", gamma=0.0, normalize="none").index == 1
    learnt = darc.select_batch(np.random.default_rng(0).normal(size=(30, 2, 4, 5)), "auto")
    calibrations = learnt.rule.parameters["calibration"]
    assert len(calibrations) == 2
    alone = darc.select_batch(learnt.pools.normalized(learnt.pools.samples)[:, :1], "auto")
    assert alone.rule.parameters["calibration"].to_json() == calibrations[0].to_json()


def test_ties_go_to_the_larger_mean_then_to_the_lower_index() -> None:
    assert darc.select(np.full((4, 3), 5.0), "auto").index == 0
    assert darc.select_batch(np.full((9, 1, 4, 3), 5.0), "auto").index.tolist() == [0] * 9
    assert darc.select([[1.0], [3.0], [3.0]], "auto").index == 1


@pytest.mark.parametrize(
    ("raters", "uneven", "reliable"), [(5, 0.0, False), (9, 0.15, False), (9, 0.5, True)]
)
def test_by_the_truth_it_never_loses_and_is_level_with_the_rules_of_the_paper(
    raters: int, uneven: float, reliable: bool
) -> None:
    recipe = Recipe(
        prompts=400,
        candidates=8,
        raters=raters,
        groups=(1.0,),
        location=5.0,
        noise=1.0,
        uneven=uneven,
        missing=0.2,
    )
    people = simulate(recipe, seed=1)
    worth, rows = people.truth.mean - 2 * people.truth.sigma, np.arange(400)

    def of(rule: str) -> Array:
        return np.asarray(worth[rows, darc.select_batch(people.ratings[:, None], rule).index])

    rules = ["mean"]
    if reliable:
        rules += ["entropic", "epsilon", "penalty", "tau", "cvar", "lcb"]
    for rule in rules:
        gain = of("auto") - of(rule)
        assert gain.mean() > -2 * gain.std() / 20, rule
    if reliable:
        gain = of("auto") - of("mean")
        assert gain.mean() > 4 * gain.std() / 20


@pytest.mark.parametrize(
    ("part", "severity", "quality", "uneven"),
    [("raters", 1.0, 0.0, 0.0), ("systems", 0.0, 0.4, 0.0), ("disagreement", 0.0, 0.0, 0.5)],
)
def test_each_part_earns_its_place_where_it_is_meant_to(
    part: str, severity: float, quality: float, uneven: float
) -> None:
    generator = np.random.default_rng(5)
    raters = generator.integers(0, 30, (600, 8, 4))
    systems = np.argsort(generator.random((600, 8)), axis=1)
    mean = generator.normal(0, 0.4, (600, 8)) + generator.normal(0, quality, 8)[systems]
    sigma = np.exp(generator.normal(0, uneven, mean.shape))
    scores = mean[..., None] + sigma[..., None] * generator.normal(size=raters.shape)
    scores += generator.normal(0, severity, 30)[raters]
    named: dict[str, Any] = {"rater_ids": raters, "system_ids": systems}
    learnt = darc.calibrate(scores[:, None], **named)
    without = {
        "raters": replace(learnt, raters={}),
        "systems": replace(learnt, systems={}),
        "disagreement": replace(learnt, check=-9.0),
    }[part]
    worth, rows = mean - 2 * sigma, np.arange(600)
    whole, other = (
        worth[rows, darc.select_batch(scores[:, None], "auto", calibration=one, **named).index]
        for one in (learnt, without)
    )
    gain = whole - other
    assert gain.mean() > 2 * gain.std() / np.sqrt(600)


def test_the_cross_check_turns_disagreement_off_where_it_misleads() -> None:
    generator = np.random.default_rng(0)
    noise = -np.exp(generator.normal(size=(1000, 8, 4)))
    mean = generator.normal(0, 0.7, (1000, 8))
    learnt = darc.calibrate((mean[..., None] + noise)[:, None])
    assert learnt.check < -1.5
    assert set(learnt.weight.values()) == {0.0}


def test_with_a_calibration_it_costs_at_most_three_times_the_statistics() -> None:
    scores = np.random.default_rng(0).normal(size=(4000, 1, 16, 8))

    def decided() -> None:
        darc.select_batch(scores, "auto", calibration=DEFAULT)

    def seconds(work: Any) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    # In turn, so that what else the machine does falls on both.
    pairs = [(seconds(lambda: batched(scores, 1.0, 1.0)), seconds(decided)) for _ in range(12)]
    statistics, auto = np.min(pairs, axis=0)
    assert auto < 3 * statistics
