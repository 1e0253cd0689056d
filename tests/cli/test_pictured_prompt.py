import pytest

from darc.cli.pictured_prompt import PicturedPrompt
from darc.errors import InputError
from darc.ratings.decisions import DecidedBatch


def test_the_prompt_on_which_the_rules_differ_is_pictured(decided: DecidedBatch) -> None:
    pictured = PicturedPrompt()
    pictured.add(decided)
    assert pictured.prompt_id == "p"
    assert [decision.index for decision in pictured.decisions or ()] == [0, 1]


def test_the_prompt_that_is_asked_for_is_pictured(decided: DecidedBatch) -> None:
    pictured = PicturedPrompt("q")
    pictured.add(decided)
    pictured.check()
    assert pictured.prompt_id == "q"


def test_a_prompt_that_does_not_exist_is_refused(decided: DecidedBatch) -> None:
    pictured = PicturedPrompt("x")
    pictured.add(decided)
    with pytest.raises(InputError, match="'x'"):
        pictured.check()
