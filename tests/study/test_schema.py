import pytest

from darc.study.schema import OUTCOMES, outcome_of, side_of


@pytest.mark.parametrize("flipped", [False, True])
def test_a_side_and_its_outcome_are_each_others_inverse(flipped: bool) -> None:
    for side in ("left", "right", "tie"):
        assert side_of(outcome_of(side, flipped), flipped) == side
    for outcome in OUTCOMES.values():
        assert outcome_of(side_of(outcome, flipped), flipped) == outcome


def test_the_first_answer_is_on_the_left_unless_they_are_flipped() -> None:
    assert side_of(OUTCOMES["first"], False) == "left"
    assert side_of(OUTCOMES["first"], True) == "right"
