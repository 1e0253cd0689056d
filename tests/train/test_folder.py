import json
from pathlib import Path

import pytest

from darc.errors import InputError
from darc.train.training_folder import (
    last_checkpoint,
    open_folder,
    read_complete,
    read_note,
    write_note,
)


def checkpoint(folder: Path, step: int, state: str) -> Path:
    place = folder / "checkpoints" / f"checkpoint-{step}"
    place.mkdir(parents=True)
    (place / "trainer_state.json").write_text(state, encoding="utf-8")
    return place


def test_only_whole_checkpoints_count(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    whole = checkpoint(tmp_path, 4, json.dumps({"global_step": 4}))
    checkpoint(tmp_path, 12, '{"global_step": 1')
    checkpoint(tmp_path, 8, json.dumps({"global_step": 7}))
    (tmp_path / "checkpoints" / "checkpoint-16").mkdir()
    assert last_checkpoint(tmp_path) == whole
    later = checkpoint(tmp_path, 10, json.dumps({"global_step": 10}))
    assert last_checkpoint(tmp_path) == later


def test_other_settings_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert not open_folder(run, {"rank": 8})
    assert not open_folder(run, {"rank": 8})
    with pytest.raises(InputError, match=r"other settings \(rank\)"):
        open_folder(run, {"rank": 9})
    write_note(run, {"rank": 8}, {"steps": 1})
    assert open_folder(run, {"rank": 8})
    assert read_note(run)["complete"] == {"steps": 1}


def test_other_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(InputError, match="not empty"):
        open_folder(tmp_path, {})
    (tmp_path / "training.json").write_text('{"schema": 2}', encoding="utf-8")
    with pytest.raises(InputError, match="cannot be read"):
        open_folder(tmp_path, {})


@pytest.mark.parametrize("damage", ['{"step": 2', "[1]", "\x00"])
def test_a_damaged_log_is_named_with_its_line(tmp_path: Path, damage: str) -> None:
    write_note(tmp_path, {}, {"before": None, "after": None, "steps": 2})
    (tmp_path / "history.jsonl").write_text('{"step": 1}\n' + damage + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"history\.jsonl, line 2: .*; remove the folder"):
        read_complete(tmp_path)
    (tmp_path / "history.jsonl").unlink()
    with pytest.raises(InputError, match=r"history\.jsonl: it cannot be read"):
        read_complete(tmp_path)


def test_a_damaged_note_of_completion_is_named(tmp_path: Path) -> None:
    write_note(tmp_path, {}, {"steps": 2})
    with pytest.raises(InputError, match=r"training\.json: complete lacks before"):
        read_complete(tmp_path)
