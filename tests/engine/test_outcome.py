import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels

import darc
from darc.decide.method import with_raters
from darc.engine.engine import Engine, choose
from darc.engine.outcome import Outcome
from darc.types import Candidate, Scores

RATINGS = np.array([[9.0, 9, 9, 9, 9, 2, 2, 2], [6] * 8, [5] * 8, [3, 4, 3, 4, 3, 5, 5, 4]])
RATERS = ("ann", "bob", "cyn", "dan", "eve", "hurried", "sceptic", "elsewhere")


def rated(ratings: np.ndarray = RATINGS, rule: str = "auto", **how: Any) -> Outcome:
    """An outcome whose samples are a panel's grades of the four answers."""
    scores = Scores(
        values=ratings[None],
        scorers=("panel",),
        bounds=((0.0, 10.0),),
        location=(None,),
        scale=(None,),
        samples=RATERS[: ratings.shape[1]],
        sample="rater",
    )
    names = [f"candidate {k}" for k in range(len(ratings))]
    options = {"scale": "0-10", "sample": "rater", "candidate_ids": names, **how}
    decision = darc.select(ratings, rule, **options)
    return Outcome(
        prompt=PROMPT,
        candidates=ANSWERS[: len(ratings)],
        rewrites={},
        scores=scores,
        decision=with_raters(decision, scores),
        order=(decision.index,),
        flags=decision.flags,
        calls=ratings.size,
        best_of_k=0,
    )


def test_what_people_have_against_an_answer_is_said() -> None:
    outcome = rated()
    assert outcome.index == 1
    assert [outcome.why_not(k) for k in range(4)] == [
        "3 of 8 unhappy",
        "",
        "lower average",
        "lower average, 6 of 8 unhappy",
    ]


@pytest.mark.parametrize(
    ("ratings", "rule", "how", "said"),
    [
        ([[6.1, 6.2, 6.3], [5.9, 6.2, 6.5]], "epsilon", {}, "its ratings lie further apart"),
        ([[6.1, 6.2, 6.3], [5.0, 6.0, 7.0]], "auto", {}, "lower average"),
        ([[6, 6, 6], [9, 9, 2]], "mean", {"no_rating_below": 3}, "1 of 3 rates it below 3"),
        (
            [[6.1, 6.2, 6.3], [3.0, 6.0, 9.0]],
            "auto",
            {"scale": None},
            "lower average, 1 of 3 rates it clearly lower",
        ),
    ],
)
def test_reasons_follow_the_ratings(
    ratings: list[list[float]], rule: str, how: dict[str, Any], said: str
) -> None:
    outcome = rated(np.array(ratings, dtype=float), rule, **how)
    assert outcome.index == 0
    assert outcome.why_not(1) == said


def test_rewrites_are_spoken_of_as_scores() -> None:
    made = choose(PROMPT, ANSWERS[:2], scorers=[Vowels()], n_aug=1)
    decision = darc.select([(6.1, 6.2, 6.3), (5.9, 6.1, 6.3)], "epsilon", sample="rewrite")
    assert replace(made, decision=decision, order=(0, 1)).why_not(1) == "higher sigma"


def test_an_answer_that_was_ruled_out_early_is_said_to_be() -> None:
    outcome = rated()
    unseen = np.zeros(RATINGS.shape, dtype=bool)
    unseen[3, 3:] = True
    bounded = np.array([False, False, False, True])
    assert outcome.decision is not None
    early = replace(outcome, decision=replace(outcome.decision, bounded=bounded, unseen=unseen))
    assert early.why_not(3) == "ruled out early, after 3 of 8 ratings"
    assert early.to_html().count("ruled out early, after 3 of 8 ratings") == 3


def test_best_of_k_is_compared_by_what_people_think() -> None:
    words = rated().beside_best_of_k()
    assert "Best-of-K would have taken candidate 0" in words
    assert "Its average is 6.4 (3 of 8 unhappy: hurried, sceptic and elsewhere)" in words
    assert "the chosen answer's average is 6.0 (nobody unhappy)" in words


def test_page_shows_the_picture_with_the_raters_names() -> None:
    html = rated().to_html()
    assert "<title>hurried: 2</title>" in html
    assert "3 of 8 unhappy: hurried, sceptic and elsewhere" in html
    assert html.index("Chosen by auto") < html.index("In numbers")
    assert ANSWERS[0].text in html


def test_copies_are_counted_in_the_picture() -> None:
    outcome = rated()
    copies = [replace(candidate, copies=1 + 2 * k) for k, candidate in enumerate(ANSWERS)]
    again = replace(outcome, candidates=copies)
    assert '<span class="dots-note">written 3 times</span>' in again._repr_html_()
    assert again._repr_html_().count("written") == 3
    assert "(written 7 times)" in again.to_html()
    names = [text.get_text() for text in again.plot().figure.axes[0].texts]
    assert "candidate 1, written 3 times" in names


def test_page_needs_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    html = rated().to_html()
    assert "Chosen by auto" in html
    assert "entropic value" not in html


def test_rewrites_are_named_in_the_picture() -> None:
    with Engine(scorers=[Vowels()], n_aug=2) as engine:
        html = engine.choose(PROMPT, ANSWERS, score_everything=True).to_html()
    assert "<title>original: " in html
    assert "<title>rewrite 1: " in html
    assert "unhappy" not in html.split("<body>")[1]


def test_a_picture_is_drawn_and_saved(tmp_path: Path) -> None:
    figure = rated().plot(tmp_path / "picture.svg")
    written = {text.get_text() for text in figure.figure.axes[0].texts}
    assert {PROMPT.question, "Chosen by auto", "Highest average (Best-of-K)"} <= written
    assert (tmp_path / "picture.svg").stat().st_size > 5000


def test_it_is_said_once_on_a_page_that_no_answer_is_good() -> None:
    outcome = rated(RATINGS / 4)
    assert "None of these answers is good" in outcome.explain()
    for html in (outcome.to_html(), outcome._repr_html_()):
        visible = re.sub("<[^>]*>", "", html)
        assert visible.count("None of these answers is good") == 1


@pytest.mark.parametrize("by_name", [False, True])
def test_candidates_keep_their_names(by_name: bool) -> None:
    named = [Candidate("tides", i, c.text, name=f"model {i}") for i, c in enumerate(ANSWERS)]
    answers = {c.name: c.text for c in named} if by_name else named
    outcome = choose(PROMPT, answers, scorers=[Vowels()], n_aug=2)
    assert f"model {outcome.index}" in outcome.explain()
    assert f"model {outcome.index}" in outcome._repr_html_()
    assert f"model {outcome.index}" in repr(outcome)
