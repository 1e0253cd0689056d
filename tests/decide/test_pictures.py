from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import darc
from darc.decide.phrases import incomplete_phrase
from darc.decide.pictures import decision_plane, dot_picture
from darc.views.dots import BEST_OF_K, CHOSEN, OTHER_CHOICE

RATINGS = [[9, 9, 9, 9, 9, 2, 2, 2], [6] * 8, [3, 4, 3, 4, 3, 5, 5, 4]]
RATERS = ["ann", "bob", "cyn", "dan", "eve", "hurried", "sceptic", "elsewhere"]
NAMES = ["joke", "story", "poem"]


def decide(rule: str = "auto", **how: Any) -> darc.Decision:
    options: dict[str, Any] = {
        "scale": "0-10",
        "candidate_ids": NAMES,
        "rater_ids": [RATERS] * 3,
        **how,
    }
    return darc.select(RATINGS, rule, sample="rater", **options)


def test_the_choice_comes_first_and_both_choices_are_marked() -> None:
    picture = dot_picture(decide(), {"joke": "Knock, knock."}, title="A toast?")
    assert [row.name for row in picture.rows] == ["story", "joke", "poem"]
    assert [row.badges for row in picture.rows] == [("Chosen by auto",), (BEST_OF_K,), ()]
    assert [row.kind for row in picture.rows] == [CHOSEN, OTHER_CHOICE, ""]
    assert [row.text for row in picture.rows] == ["", "Knock, knock.", ""]
    assert picture.title == "A toast?"
    assert picture.dot_label == "one rater"


def test_the_unhappy_are_marked_counted_and_named() -> None:
    picture = dot_picture(decide())
    (strip,) = picture.rows[1].strips
    assert [dot.unhappy for dot in strip.dots] == [True] * 3 + [False] * 5
    assert [dot.name for dot in strip.dots][:3] == RATERS[5:]
    assert strip.summary == "average 6.4, 3 of 8 unhappy: hurried, sceptic and elsewhere"
    assert picture.rows[0].strips[0].summary == "average 6.0, nobody unhappy"
    assert (strip.low, strip.high, strip.limit, strip.mean) == (0, 10, 5, 6.375)
    assert picture.unhappy_label == strip.limit_label == "unhappy below 5"


def test_the_limit_is_the_decisions_own() -> None:
    picture = dot_picture(decide(threshold=7))
    assert sum(dot.unhappy for dot in picture.rows[0].strips[0].dots) == 8
    assert picture.unhappy_label == "unhappy below 7"


def test_unhappy_is_not_said_without_a_scale() -> None:
    picture = dot_picture(decide(scale=None, rater_ids=None))
    assert picture.rows[1].strips[0].summary == "average 6.4, 3 of 8 rate it clearly lower"
    assert "unhappy" not in picture.unhappy_label


def test_many_names_are_cut_and_those_of_everybody_left_out() -> None:
    many = [[*range(1, 5), 1, 1, 1, 9], [2] * 8]
    picture = dot_picture(darc.select(many, "mean", scale="0-10", rater_ids=[RATERS] * 2))
    by_name = {row.name: row.strips[0].summary for row in picture.rows}
    assert by_name["candidate 0"].endswith("7 of 8 unhappy: ann, bob, cyn, dan, eve and 2 others")
    assert by_name["candidate 1"].endswith("8 of 8 unhappy")


def test_other_rules_and_best_of_k_share_an_answer() -> None:
    picture = dot_picture(decide("mean"), others=[decide("cvar"), decide("auto")])
    assert picture.rows[0].badges == (BEST_OF_K,)
    assert picture.rows[0].kind == CHOSEN
    assert picture.rows[1].badges == ("Chosen by cvar", "Chosen by auto")


def test_texts_may_be_in_the_order_of_the_candidates() -> None:
    picture = dot_picture(decide(), ["a", "b", "c"])
    assert {row.name: row.text for row in picture.rows} == {"joke": "a", "story": "b", "poem": "c"}


def test_rewrites_have_no_unhappy_marks() -> None:
    scores = np.array([[0.5, 0.7, 0.9], [0.6, 0.6, 0.63]])
    picture = dot_picture(darc.select(scores, "mean", sample="rewrite", scale="0-1"))
    (strip,) = picture.rows[0].strips
    assert strip.summary == "average 0.70, lowest 0.50"
    assert strip.limit is None
    assert not any(dot.unhappy for dot in strip.dots)
    assert picture.unhappy_label == ""
    assert picture.dot_label == "score of one wording"
    assert [dot.name for dot in strip.dots] == ["wording 1", "wording 2", "wording 3"]


def test_several_scorers_are_averaged_on_their_common_scale() -> None:
    scores = np.random.default_rng(0).normal(size=(2, 3, 4)) * [[[1.0]], [[100.0]]]
    decision = darc.select(scores, "mean", sample="rewrite")
    picture = dot_picture(decision)
    means = {row.name: row.strips[0].mean for row in picture.rows}
    for k in range(3):
        assert means[f"candidate {k}"] == pytest.approx(decision.statistics.mean[k])
    assert picture.rows[0].badges == (BEST_OF_K,)
    assert "averaged over 2 scorers" in picture.dot_label


def ruled_out(*flags: str) -> darc.Decision:
    unseen = np.zeros((3, 8), dtype=bool)
    unseen[2, 3:] = True
    bounded = np.array([False, False, True])
    return replace(decide(), bounded=bounded, unseen=unseen, flags=flags)


def test_an_answer_that_was_ruled_out_early_has_its_known_dots_and_no_mean() -> None:
    picture = dot_picture(ruled_out())
    (strip,) = picture.rows[2].strips
    assert [dot.value for dot in strip.dots] == [3, 3, 4]
    assert strip.mean is None
    assert strip.summary == "ruled out early, after 3 of 8 ratings"


def test_an_unfinished_search_ruled_nothing_out() -> None:
    assert incomplete_phrase(ruled_out("unfinished"), 2) == "3 of 8 ratings so far"
    assert incomplete_phrase(ruled_out(), 1) == ""


def test_a_large_crowd_is_thinned_and_its_few_unhappy_stay() -> None:
    ratings = np.full((2, 2000), 8.0)
    ratings[0, 0] = 1.0
    picture = dot_picture(darc.select(ratings, "mean", scale="0-10"))
    strip = next(row for row in picture.rows if row.name == "candidate 0").strips[0]
    assert len(strip.dots) < 250
    assert sum(dot.unhappy for dot in strip.dots) == 1
    assert "1 of 2000 unhappy" in strip.summary
    assert picture.dot_label == "9 raters"


SCORES = [
    [9.0, 1.0, 9.0, 9.0],
    [7.0, 6.0, 7.0, 7.0],
    [6.6, 6.6, 6.6, 6.6],
    [4.0, 5.0, 4.0, 5.0],
    [3.0, np.nan, np.nan, np.nan],
]


def test_points_frontier_and_choices() -> None:
    decision = darc.select(SCORES, "epsilon", candidate_ids=list("abcde"))
    data = decision_plane(decision, [darc.select(SCORES, "mean")], "tea")
    assert [point.name for point in data.points] == ["a", "b", "c", "d"]
    chosen = {point.name: point.chosen_by for point in data.points}
    assert chosen == {"a": ("mean",), "b": (), "c": ("epsilon",), "d": ()}
    assert [point.name for point in data.points if point.feasible] == ["b", "c"]
    assert [point.name for point in data.points if point.on_frontier] == ["b", "c"]
    assert data.frontier[0] == (0.0, 6.6)
    assert data.floor is not None
    assert np.isclose(data.floor, decision.statistics.value[1] - 0.25)


def test_no_floor_for_other_rules() -> None:
    assert decision_plane(darc.select(SCORES, "entropic")).floor is None


def test_candidates_ruled_out_early_have_no_place() -> None:
    decision = darc.select(SCORES[:4], "entropic", candidate_ids=list("abcd"))
    lazy = replace(decision, bounded=np.array([True, False, False, False]))
    data = decision_plane(lazy)
    assert [point.name for point in data.points] == ["b", "c", "d"]
