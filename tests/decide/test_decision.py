import json
from typing import Any

import numpy as np
import pytest

import darc
from darc.decide.number_words import numbers_in_words
from darc.errors import InputError

POLARISED = [
    [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 1.0, 1.0],
    [7.0, 7.0, 7.0, 7.0, 8.0, 7.0, 7.0, 7.0, 7.0],
    [6.0, 7.0, 6.0, 7.0, 6.0, 7.0, 6.0, 7.0, 6.0],
]


def test_explanation_names_ranks_reason_and_who_lost_the_lead() -> None:
    words = darc.select(POLARISED, "entropic", sample="rater").explain(details=True)
    numbers = (
        "candidate 1: second by mean, first by value, lowest sigma; it has the largest entropic "
        "value; two raters far below the rest cost candidate 0 its lead."
    )
    assert numbers in words
    assert words.startswith("candidate 1, not candidate 0: candidate 0 has the higher average")


def test_explanation_without_outliers_gives_the_premiums() -> None:
    spread = [[1.0, 4.0, 7.0, 10.0, 13.0], [6.0, 6.1, 6.2, 6.1, 6.0]]
    decision = darc.select(spread, "entropic", candidate_ids=["bold", "calm"])
    words = numbers_in_words(decision)
    assert words.startswith("calm: second by mean, first by value, lowest sigma;")
    assert "bold leads by mean (7 against 6.08), but its risk premium is" in words


def test_explanation_of_a_near_tie() -> None:
    scores = [[7.0, 7.6, 7.4], [7.2, 7.2, 7.2]]
    decision = darc.select(scores, "epsilon", epsilon=0.5)
    assert decision.index == 1
    assert "the lowest sigma of the 2 within 0.5 of the best value" in numbers_in_words(decision)
    assert "candidate 0 leads by mean and value, but its sigma is" in numbers_in_words(decision)


def test_explanation_mentions_every_flag() -> None:
    decision = darc.select(POLARISED, "tau", tau=0.0)
    assert "infeasible" in decision.flags
    assert "eligible candidate met the cap on the risk premium" in decision.explain()
    constant = darc.select([[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [5.0, 6.0]]], "mean")
    assert constant.flags == ("constant_scorer",)
    assert constant.index == 1


def test_lazy_decision_claims_no_ranks_it_does_not_know() -> None:
    scores = np.array([[5.0] * 6, [9.0, -9.0, 9.0, 9.0, 9.0, 9.0], [4.9] * 6])
    lazy = darc.select_lazily(lambda pairs: [scores[pair] for pair in pairs], 3, 6, "epsilon")
    assert numbers_in_words(lazy) == (
        "candidate 0: value 5, sigma 0; it has the lowest sigma of those within 0.25 of the best "
        "value"
    )


def test_every_rule_explains_itself() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 5))
    side: dict[str, dict[str, Any]] = {
        "rbon": {"log_likelihood": np.zeros(6)},
        "mbr": {"similarity": np.eye(6)},
        "caution": {"atypicality": np.zeros(6)},
        "mc_dropout": {"dropout": scores},
        "hedgetune": {"rate": 4.0},
        "majority": {"same_text": np.zeros(6)},
        "group": {"rater_ids": [list("abcde")] * 6, "rater_groups": {"a": "one", "b": "two"}},
    }
    side["for_groups"] = side["group"]
    for name in darc.rules:
        decision = darc.select(scores, name, **side.get(name, {}))
        words = numbers_in_words(decision)
        assert "; it has " in words or "; it is " in words
        assert "average" in decision.explain()
        assert "{" not in words


def test_data_form_is_plain_json() -> None:
    scores = [[5.0, np.nan], [4.0, 4.5], [np.nan, np.nan]]
    decision = darc.select(scores, "entropic", candidate_ids=["a", "b", "c"], beta=np.inf)
    data = json.loads(json.dumps(decision.to_dict(), allow_nan=False))
    assert data["index"] == 0
    assert data["candidate"] == "a"
    assert data["parameters"] == {"beta": "inf", "gamma": 1.0, "normalize": "none"}
    assert [row["id"] for row in data["candidates"]] == ["a", "b"]
    assert data["candidates"][0]["sigma"] is None
    assert data["candidates"][1]["samples"] == 2
    assert repr(decision) == "Decision(index=0, name='a', rule='entropic', flags=())"


def test_batch_is_indexable_and_iterable() -> None:
    decisions = darc.select_batch(np.random.default_rng(0).normal(size=(5, 2, 4, 3)), "entropic")
    assert len(decisions) == 5
    assert [each.index for each in decisions] == decisions.index.tolist()
    assert decisions[-1].index == decisions.index[4]
    assert repr(decisions) == "Decisions(5 prompts, rule='entropic')"
    assert decisions.chosen["value"][2] == decisions.statistics.value[2].max()
    with pytest.raises(IndexError):
        decisions[5]


def test_batch_equals_one_by_one() -> None:
    generator = np.random.default_rng(2)
    scores = generator.normal(size=(40, 3, 6, 4))
    scores[generator.random(scores.shape) < 0.2] = np.nan
    for rule in ("epsilon", "tau", "lcb", "cvar", "soft", "poisson"):
        batch = darc.select_batch(scores, rule, prompt_ids=range(40))
        single = [darc.select(scores[p], rule, prompt_id=p) for p in range(40)]
        assert batch.index.tolist() == [each.index for each in single], rule
        assert [each.flags for each in batch] == [each.flags for each in single]


def test_side_inputs_of_a_batch_have_a_prompt_axis() -> None:
    scores = np.zeros((2, 1, 2, 3))
    likely = [[-1.0, -2.0], [-2.0, -1.0]]
    assert darc.select_batch(scores, "rbon", log_likelihood=likely).index.tolist() == [0, 1]
    with pytest.raises(InputError, match="shape"):
        darc.select_batch(scores, "rbon", log_likelihood=likely[0])
