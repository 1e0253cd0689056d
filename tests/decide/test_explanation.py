"""The sentences about people: their wording, and that every claim in them is true."""

import re
from typing import Any

import numpy as np
import pytest

import darc
from darc.decide.decision import Decision
from darc.decide.explanation import join_words

DIVISIVE = [[9, 9, 9, 9, 9, 2, 2, 2], [6] * 8]
NAMES = ["calm", "hurried", "expert", "parent", "pupil", "sceptic", "elsewhere", "second"]


def test_a_divisive_answer_loses_and_the_sentence_says_to_whom() -> None:
    decision = darc.select(
        DIVISIVE, candidate_ids=["A", "B"], scale=(0, 10), rater_ids=[NAMES, NAMES]
    )
    assert decision.explain() == (
        "B, not A: A has the higher average (6.4 against 6.0), but 3 of 8 are unhappy with it "
        "(sceptic, elsewhere and second) and nobody with B; that is very unlikely to be chance. "
        "Medium caution gives up 0.38 points of the average for this."
    )


def test_without_a_scale_nobody_is_called_unhappy() -> None:
    words = darc.select(DIVISIVE, candidate_ids=["A", "B"]).explain()
    assert "unhappy" not in words
    assert "3 of 8 rate it clearly lower, against nobody for B" in words


def test_the_best_average_wins_where_answers_are_alike() -> None:
    words = darc.select([[6, 7, 8, 7], [7, 8, 9, 8]], candidate_ids=["A", "B"]).explain()
    assert words == (
        "B has the highest average (8.0), and these answers divide people about equally."
    )


def test_the_best_average_wins_where_nothing_calmer_is_good_enough() -> None:
    words = darc.select(
        np.array([[9] * 45 + [2] * 5, [5] * 50]), scale=(0, 10), caution="low"
    ).explain()
    assert "5 of 50 are unhappy with it" in words
    assert "rated too low to take its place with low caution" in words


def test_few_ratings_are_no_evidence_and_the_sentence_says_so() -> None:
    words = darc.select([[9, 9, 2], [6, 6, 6]], scale=(0, 10)).explain()
    assert "1 of 3 is unhappy with it" in words
    assert "with so few ratings caution decides, not evidence" in words


def test_one_rating_only() -> None:
    nan = float("nan")
    rows = [[9, nan, nan, nan, nan], [8, 8, 9, 8, 8], [6, 7, 6, 6, 7], [5, 6, 5, 5, 6]]
    decision = darc.select(np.array(rows), candidate_ids=list("abcd"))
    assert decision.index == 1
    assert "a has the higher average (9.0 against 8.2), but it rests on 1 rating only" in (
        decision.explain()
    )


def test_one_rating_each_says_nothing_of_disagreement() -> None:
    words = darc.select([[5], [6]], scale=(0, 10)).explain()
    assert "with one rating each nothing is known of disagreement" in words
    assert "about equally" not in words


def test_equal_averages_without_a_scale() -> None:
    words = darc.select([[1, 2, 3, 2], [2, 2, 2, 2]], candidate_ids=["A", "B"]).explain()
    assert words.startswith("B, not A: their averages are equal (2.0), but 1 of 4 rates A clearly")


def test_equal_averages() -> None:
    words = darc.select(
        [[7, 6, 7, 7, 6, 7], [10, 10, 9, 1, 10, 0]], candidate_ids=["A", "B"], scale=(0, 10)
    ).explain()
    assert words.startswith("A, not B: their averages are equal (6.7), but 2 of 6 are unhappy")


def test_rewrites_are_explained_by_wording() -> None:
    words = darc.select([[3.0, 3.2, 3.1], [2.0, 4.0, 3.4]], sample="rewrite").explain()
    assert "unhappy" not in words
    assert "people" not in words
    assert "over the wordings of each answer" in words


def test_poor_answers_are_called_so() -> None:
    assert (
        "None of these answers is good."
        in darc.select([[2, 1, 2], [1, 1, 1]], scale="0-10").explain()
    )


def test_the_only_answer() -> None:
    assert darc.select([[5, 6]]).explain() == "candidate 0 is the only answer."


@pytest.mark.parametrize(
    ("words", "text"),
    [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")],
)
def test_words_in_a_row(words: tuple[str, ...], text: str) -> None:
    assert join_words(words) == text


def check_claims(decision: Decision, ratings: Any, limit: float) -> None:
    """Read the sentence, and check each of its claims against the ratings."""
    text = decision.explain()
    own = decision.index
    means = ratings.mean(axis=1)
    unhappy = (ratings < limit).sum(axis=1)
    count = ratings.shape[1]
    assert text.startswith(f"candidate {own}")
    if " has the highest average" in text:
        assert means[own] == pytest.approx(means.max())
    other = re.match(r"candidate \d+, not candidate (\d+): candidate \d+ has the higher", text)
    subject = own
    if other:
        subject = int(other[1])
        assert means[subject] == pytest.approx(means.max())
        assert means[subject] > means[own]
    for part, whole in re.findall(r"(\d+) of (\d+) (?:is|are) unhappy with it", text):
        assert (int(part), int(whole)) == (unhappy[subject], count)
    if "nobody is unhappy with it" in text:
        assert unhappy[subject] == 0
    if f"nobody with candidate {own}" in text:
        assert unhappy[own] == 0
    if "fewer than with any other answer" in text:
        assert (unhappy[own] < np.delete(unhappy, own)).all()


@pytest.mark.parametrize("rule", ["auto", "epsilon", "entropic", "cvar", "lcb", "mean"])
@pytest.mark.parametrize("caution", ["none", "medium", "high"])
def test_every_claim_about_people_is_true(rule: str, caution: str) -> None:
    if rule != "auto" and caution != "medium":
        pytest.skip("only the default rule has caution")
    generator = np.random.default_rng(7)
    for _ in range(150):
        size = int(generator.integers(4, 12))
        mean = generator.normal(5.5, 1.2, (int(generator.integers(2, 6)), 1))
        sigma = np.exp(generator.normal(0.3, 0.7, mean.shape))
        ratings = np.round(mean + sigma * generator.normal(size=(len(mean), size))).clip(0, 10)
        options: dict[str, Any] = {"caution": caution} if rule == "auto" else {}
        decision = darc.select(ratings, rule, scale=(0, 10), **options)
        check_claims(decision, ratings, 5.0)


def test_without_caution_the_average_is_all_that_counts() -> None:
    ratings = [[9, 9, 9, 9, 9, 2, 2, 2], [6] * 8]
    decision = darc.select(ratings, caution="none", scale=(0, 10))
    assert decision.explain() == (
        "candidate 0 has the highest average (6.4), which is all that counts with no caution; "
        "3 of 8 are unhappy with it."
    )
