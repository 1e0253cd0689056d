import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import darc
from darc.errors import InputError


def test_public_names_are_complete_and_sorted() -> None:
    assert darc.__all__ == sorted(darc.__all__)
    public = {name for name in vars(darc) if not name.startswith("_")}
    modules = {name for name in public if type(getattr(darc, name)).__name__ == "module"}
    helpers = {"TYPE_CHECKING", "Any"}
    assert public - modules - helpers | {
        name for names in darc._LATER.values() for name in names
    } == set(darc.__all__)
    assert all(getattr(darc, name) for name in darc.__all__)


def test_module_docstring_example() -> None:
    assert darc.select([[9, 1, 6, 5, 4], [7, 7, 8, 8, 7]], sample="rater").index == 1


def test_lists_of_ragged_pools() -> None:
    pools: list[Any] = [
        [[1.0, 2.0, 3.0], [2.0]],
        np.array([[5.0, 5.0], [6.0, 6.0], [4.0, 4.0]]),
        [[0.5]],
    ]
    decisions = darc.select_batch(pools, "mean", min_samples=1)
    assert decisions.index.tolist() == [0, 1, 0]
    assert decisions.statistics.count.tolist() == [[3, 1, 0], [2, 2, 2], [1, 0, 0]]
    assert not decisions.feasible[0, 2]


def test_several_scorers_in_a_list() -> None:
    decisions = darc.select_batch([np.ones((2, 3, 4)), np.ones((2, 2, 5))], "entropic")
    assert decisions.statistics.value.shape == (2, 3)


def test_prompts_of_one_scorer_need_no_axis_of_scorers() -> None:
    scores = np.random.default_rng(0).normal(size=(20, 4, 5))
    ids: dict[str, Any] = {
        "rater_ids": np.tile(np.arange(5), (20, 4, 1)),
        "system_ids": [[1, "b", None, 2]] * 20,
    }
    found, full, listed = (
        darc.select_batch(given, "auto", **ids) for given in (scores, scores[:, None], list(scores))
    )
    assert found.index.tolist() == full.index.tolist() == listed.index.tolist()
    weights = np.random.default_rng(1).random(scores.shape)
    weighed = darc.select_batch(scores, "mean", weights=weights).index
    assert (
        weighed.tolist()
        == darc.select_batch(scores[:, None], "mean", weights=weights[:, None]).index.tolist()
    )
    learnt = darc.calibrate(scores, **ids)
    assert learnt.to_json() == darc.calibrate(scores[:, None], **ids).to_json()
    assert len(learnt.systems) == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: darc.select([1.0, 2.0]), "1 dimensions"),
        (lambda: darc.select(np.zeros((1, 1, 1, 1))), "select_batch takes many prompts"),
        (lambda: darc.select([[np.nan, np.nan]]), "no candidate with a score"),
        (lambda: darc.select([[1.0, np.inf]]), "infinity at (0, 1)"),
        (lambda: darc.select([["a", "b"]]), "cannot be read as numbers"),
        (lambda: darc.select([[1.0]], candidate_ids=["a", "b"]), "2 candidate_ids for 1"),
        (lambda: darc.select_batch(np.zeros((2, 3))), "2 dimensions"),
        (lambda: darc.select_batch([]), "no prompts"),
        (lambda: darc.select_batch([[[1.0]], [[[1.0]], [[2.0]]]]), "different numbers of scorers"),
        (lambda: darc.select_batch([[[1.0]], [[np.nan]]]), "prompt 1 has no candidate"),
        (lambda: darc.select_batch([[[1.0]]], prompt_ids=[1, 2]), "2 prompt_ids for 1"),
        (lambda: darc.select_batch([[[1.0], ["x"]]]), "prompt 0 cannot be read as numbers"),
    ],
)
def test_bad_scores_are_named(call: object, words: str) -> None:
    with pytest.raises(InputError) as caught:
        call()  # type: ignore[operator]
    assert words in str(caught.value)


def test_weights_and_masks_reach_the_rules() -> None:
    scores = [[9.0, 1.0], [4.0, 4.0]]
    assert darc.select(scores, "mean").index == 0
    assert darc.select(scores, "mean", weights=[1.0, 9.0]).index == 1
    assert darc.select(scores, "mean", mask=[[False, True], [True, True]]).index == 1


def test_import_is_light() -> None:
    code = "import sys, darc; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    for heavy in ("torch", "pandas", "scipy", "matplotlib", "pyarrow", "tqdm"):
        assert f"'{heavy}'" not in loaded.stdout


@pytest.mark.parametrize("score", [1e308, -1e308, 1e160])
def test_scores_whose_squares_overflow_are_refused_in_a_sentence(score: float) -> None:
    with pytest.raises(InputError, match=r"scores has .* at \(0, 1\); numbers go from -1e\+100"):
        darc.select([[1.0, score], [2.0, 3.0]])
    with pytest.raises(InputError, match="prompt 1 has"):
        darc.select_batch([[[1.0], [2.0]], [[1.0], [score]]])
    assert darc.select([[1e100, -1e100], [1e99, 1e99]], "entropic").index == 1


@pytest.mark.parametrize("lam", [1e308, np.inf])
@pytest.mark.parametrize(
    ("rule", "name"), [("penalty", "lam"), ("lcb", "lam"), ("lcb", "c"), ("uwo", "lam")]
)
def test_a_weight_of_any_size_leaves_the_least_risk(rule: str, name: str, lam: float) -> None:
    scores = np.array([[9.0, 9.0, 1.0], [5.0, 5.0, 5.1], [4.0, 4.0, 4.0]])
    many = np.stack([scores, scores[:, ::-1] * [[3.0], [1.0], [1.0]]])
    given = many if rule == "uwo" else scores
    weight: Any = {name: lam}
    found = darc.select(given, rule, normalize="none", **weight)
    assert found.index == (1 if rule == "uwo" else 2)
