from pathlib import Path

import pytest

from darc.cli.sources import columns_of, load_source, read_calibrations, say_notes
from darc.decide.model.calibration import DEFAULT
from darc.decide.model.calibration_file import Calibrations
from darc.errors import InputError
from darc.settings.ratings import ColumnSettings, SystemSettings


def test_columns_are_pairs_of_names() -> None:
    settings = ColumnSettings(columns=("prompt_id=question", "rating=stars"))
    assert columns_of(settings) == {"prompt_id": "question", "rating": "stars"}
    with pytest.raises(InputError, match="--column"):
        columns_of(ColumnSettings(columns=("question",)))


def test_a_file_of_ratings_is_loaded_by_the_names_of_its_columns(tidy: Path) -> None:
    tidy.write_text(tidy.read_text().replace("rating", "stars"))
    ratings = load_source(tidy, SystemSettings(columns=("rating=stars",)))
    assert list(ratings.prompt_ids) == ["p1", "p2"]


def test_without_a_file_there_is_no_calibration(tmp_path: Path) -> None:
    assert read_calibrations(None) is None
    with pytest.raises(InputError, match="absent"):
        read_calibrations(tmp_path / "absent.json")


def test_notes_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say_notes(Calibrations({"": DEFAULT}, notes=("learnt from few prompts",)))
    output = capsys.readouterr()
    assert output.err == "learnt from few prompts\n"
    assert output.out == ""
