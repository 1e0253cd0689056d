import numpy as np
import pytest

from darc.types import Candidate, Message, Prompt, Scores

VALUES = np.arange(12.0).reshape(2, 3, 2)


def scores() -> Scores:
    return Scores(
        VALUES,
        ("a", "b"),
        ((0.0, 4.0), (0.0, 20.0)),
        (1.0, None),
        (2.0, 1.0),
        candidates=("x", "y", "z"),
        grades=np.zeros((1, 3, 2, 4)),
        failed=((2, 1), (0, 0)),
    )


def test_the_question_is_what_the_user_said_last() -> None:
    said = (Message("user", "Why?"), Message("assistant", "So."), Message("user", "And?"))
    assert Prompt("p", said).question == "And?"
    assert Prompt("p", (Message("system", "Be kind."),)).question == ""


def test_a_candidate_goes_by_its_name_or_its_place() -> None:
    assert Candidate("p", 3, "text").id == "3"
    assert Candidate("p", 3, "text", name="mine").id == "mine"


def test_values_are_clipped_by_their_scorer() -> None:
    assert scores().clipped[0].max() == 4.0
    np.testing.assert_array_equal(scores().clipped[1], VALUES[1])
    assert scores().share_clipped == pytest.approx(1 / 12)


def test_constants_are_there_where_every_scorer_has_them() -> None:
    assert scores().constants is None
    assert scores().only([0]).constants == ([1.0], [2.0])


def test_some_scorers_and_candidates() -> None:
    part = scores().only([1], [2, 0])
    np.testing.assert_array_equal(part.values, VALUES[[1]][:, [2, 0]])
    assert (part.scorers, part.bounds, part.candidates) == (("b",), ((0.0, 20.0),), ("z", "x"))
    assert part.failed == ((0, 1), (1, 0))
    assert (scores().repeats, part.repeats) == (4, 4)
