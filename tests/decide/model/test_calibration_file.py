import json
from pathlib import Path

import pytest

from darc.decide.model.calibration import NEW_FIELDS, Calibration
from darc.decide.model.calibration_file import Calibrations, as_calibrations


def older(calibration: Calibration) -> str:
    """The content of a file as version 1 wrote it."""
    data = json.loads(calibration.to_json())
    for name in NEW_FIELDS:
        del data[name]
    return json.dumps({**data, "version": 1}, indent=1) + "\n"


def test_a_file_of_version_1_is_read_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "cal.json"
    path.write_text(older(Calibration(within=2.5)))
    loaded = Calibrations.load(path)
    (note,) = loaded.notes
    assert note.startswith("cal.json was written by an older version")
    assert loaded.by_scorer[""].within == 2.5
    assert loaded.by_scorer[""].share_different == Calibration().share_different


def test_a_file_of_version_1_keeps_its_text_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "cal.json"
    path.write_text(older(Calibration(within=2.5)))
    loaded = Calibrations.load(path)
    loaded.save(tmp_path / "copy.json")
    assert (tmp_path / "copy.json").read_bytes() == path.read_bytes()
    assert Calibrations.load(tmp_path / "copy.json").digest == loaded.digest
    assert loaded.digest != Calibrations({"": loaded.by_scorer[""]}).digest


def test_one_older_scorer_among_several_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "several.json"
    Calibrations({"form": Calibration(), "tone": Calibration()}).save(path)
    assert Calibrations.load(path).notes == ()
    data = json.loads(path.read_text())
    data["scorers"]["tone"] = json.loads(older(Calibration()))
    path.write_text(json.dumps(data))
    assert len(Calibrations.load(path).notes) == 1


@pytest.mark.parametrize("several", [False, True])
def test_what_can_be_given_for_calibrations(several: bool, tmp_path: Path) -> None:
    one = Calibration(within=3.0)
    given = Calibrations({"a": one, "b": one} if several else {"": one})
    given.save(tmp_path / "cal.json")
    forms = [given, tmp_path / "cal.json", given.by_scorer if several else one]
    digests = {as_calibrations(form).digest for form in forms}  # type: ignore[union-attr]
    assert digests == {given.digest}
    assert as_calibrations(None) is None
