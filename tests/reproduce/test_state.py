from pathlib import Path

import pytest

from darc.errors import InputError
from darc.reproduce.state import STATE, DoneTask, State, inputs_hash


def test_what_is_done_is_found_again(tmp_path: Path) -> None:
    State(tmp_path).add("score a", DoneTask("abc", 10.0, 5))
    state = State(tmp_path)
    assert state.is_done("score a", "abc")
    assert not state.is_done("score a", "other")
    assert not state.is_done("score b", "abc")
    assert state.seconds_per_unit("score a") == 2.0
    assert state.seconds_per_unit("score b") is None


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": {"seconds": 1}}'])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=STATE):
        State(tmp_path)


def test_hashes_depend_on_settings_and_on_what_comes_before() -> None:
    hashes = {
        inputs_hash({"k": 1}, []),
        inputs_hash({"k": 2}, []),
        inputs_hash({"k": 1}, ["a"]),
        inputs_hash({"k": 1}, ["b"]),
    }
    assert len(hashes) == 4
    assert inputs_hash({"a": 1, "b": 2}, []) == inputs_hash({"b": 2, "a": 1}, [])
