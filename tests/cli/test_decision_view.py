from dataclasses import replace

import numpy as np
import pytest

import darc
from darc.cli.decision_view import (
    explanation_of,
    in_order,
    print_answers,
    print_details,
    print_held,
    status_of,
    unhappy_definition,
)
from darc.decide.decision import Decision
from darc.decide.standards import Standards

Out = pytest.CaptureFixture[str]
DIVISIVE = [9.0, 9, 9, 9, 9, 2, 2, 2]
CALM = [6.0] * 8
POOR = [1.0] * 8


def decided(*pool: list[float], **options: object) -> Decision:
    given = {"scale": (0, 10), "candidate_ids": ["bold", "calm", "poor"][: len(pool)], **options}
    return darc.select(list(pool), sample="rater", **given)  # type: ignore[arg-type]


def ruled_out_early(decision: Decision, seen: int) -> Decision:
    """The decision as a lazy search makes it that rules out the last candidate."""
    unseen = np.zeros(decision.ratings.shape, dtype=bool)
    unseen[-1, seen:] = True
    bounded = np.zeros(len(unseen), dtype=bool)
    bounded[-1] = True
    return replace(decision, bounded=bounded, unseen=unseen)


def cells(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


def test_answers_are_shown_with_the_people_who_are_unhappy(capsys: Out) -> None:
    decision = decided(DIVISIVE, CALM, POOR)
    print_answers(decision, {decision.index: ["auto"]})
    printed = capsys.readouterr().out
    header = printed.splitlines()[0].split()
    assert header == ["answer", "mean", "unhappy", "ratings", "chosen", "by"]
    assert cells(printed, "bold") == ["bold", "6.375", "3", "of", "8", "8"]
    assert cells(printed, "calm") == ["calm", "6.000", "0", "of", "8", "8", "auto"]
    assert "sigma" not in printed
    assert "value" not in printed


def test_without_a_scale_nobody_is_called_unhappy(capsys: Out) -> None:
    decision = decided(DIVISIVE, CALM, scale=None)
    print_answers(decision, {})
    assert "clearly lower" in capsys.readouterr().out


def test_bounds_of_what_was_ruled_out_early_are_not_shown(capsys: Out) -> None:
    decision = ruled_out_early(decided(DIVISIVE, CALM, POOR), seen=3)
    assert status_of(decision, 2) == "ruled out early, after 3 of 8 ratings"
    assert status_of(decision, 0) == ""
    assert in_order(decision)[-1] == 2
    print_answers(decision, {})
    print_details(decision)
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("poor"):
            assert "1.000" not in line
            assert " - " in line


def test_answers_that_may_not_be_chosen_say_why() -> None:
    decision = decided(DIVISIVE, CALM, no_rating_below=3)
    assert status_of(decision, 0) == "has a rating below 3"
    ragged = decided([9.0, *[np.nan] * 7], CALM, rule="epsilon")
    assert status_of(ragged, 0) == "too few ratings"


def test_rewrites_are_shown_by_their_spread_over_wordings(capsys: Out) -> None:
    decision = darc.select([DIVISIVE, CALM], sample="rewrite")
    print_answers(decision, {0: ["auto"]})
    printed = capsys.readouterr().out
    assert "spread over wordings" in printed
    assert "unhappy" not in printed


def test_numbers_are_details(capsys: Out) -> None:
    decision = decided(DIVISIVE, CALM)
    assert "sigma" not in explanation_of(decision)
    assert "sigma" in explanation_of(decision, details=True)
    print_details(decision, ["far", ""])
    header, _, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["answer", "value", "mean", "sigma", "premium", "ratings", "feasible"]
    assert lines[-1].endswith("far")


def test_poor_answers_are_said_to_be_poor_once(capsys: Out) -> None:
    decision = decided(POOR, [2.0] * 8)
    assert decision.held
    print_held(decision)
    assert capsys.readouterr().out.splitlines()[0] == "None of these answers is good."
    assert "None of these answers is good." not in explanation_of(decision)
    print_held(decided(DIVISIVE, CALM))
    assert capsys.readouterr().out == ""


def test_who_is_unhappy_is_defined_in_one_line() -> None:
    by_scale = unhappy_definition(Standards(scale=(1, 5)))
    assert by_scale.startswith("unhappy: below 3, the middle of the scale 1 to 5; ")
    assert "--scale" in by_scale
    assert unhappy_definition(Standards(scale=(1, 5), threshold=2)) == "unhappy: below 2"
    assert unhappy_definition(Standards()).startswith("clearly lower: ")
