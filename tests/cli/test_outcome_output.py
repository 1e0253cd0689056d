import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from darc.cli.engines import make_engine
from darc.cli.outcome_output import print_outcome, saved_sentence, write_outcome
from darc.engine.outcome import Outcome
from darc.settings.ask import OutcomeSettings
from darc.settings.engine import ChoiceSettings

ANSWERS = ["The Moon pulls on the water, and the Earth turns below it.", "i dunno!!! ask google"]


@pytest.fixture
def outcome() -> Iterator[Outcome]:
    settings = ChoiceSettings(n_aug=1, scorers=("form",), guard=False, cache=False)
    with make_engine(settings, with_model=False) as engine:
        yield engine.choose("Why are there tides?", ANSWERS)


def test_the_answer_comes_first_and_the_cost_goes_to_standard_error(
    outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    print_outcome(outcome)
    output = capsys.readouterr()
    assert output.out.splitlines()[0] == outcome.answer
    assert "chosen by" in output.out
    assert "sigma" not in output.out
    assert f"scored {outcome.calls} of {outcome.most} texts" in output.err


def test_details_are_the_numbers_that_the_rule_compared(
    outcome: Outcome, capsys: pytest.CaptureFixture[str]
) -> None:
    print_outcome(outcome, details=True)
    assert "sigma" in capsys.readouterr().out


def test_json_has_further_fields_and_the_page_is_written(
    outcome: Outcome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    write_outcome(outcome, OutcomeSettings(as_json=True, html=page), notes=["a note"])
    fields = json.loads(capsys.readouterr().out)
    assert fields["answer"] == outcome.answer
    assert fields["held"] is False
    assert fields["notes"] == ["a note"]
    assert "<html" in page.read_text()


def test_saved_answers_are_counted() -> None:
    assert saved_sentence(3, 5).startswith("wrote 3 of 8 answers; 5 ")
