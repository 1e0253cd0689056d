import json
from pathlib import Path

import pytest

from darc.errors import InputError
from darc.web.keys import Keys, hash_token, make_key, read_keys


def test_key_is_shown_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "keys.jsonl"
    token = make_key(path, "alice", rate=30)
    other = make_key(path, "bob")
    assert token != other
    text = path.read_text()
    assert token not in text
    assert path.stat().st_mode & 0o077 == 0
    keys = read_keys(path)
    found = keys.find(token)
    assert found is not None
    assert (found.name, found.rate) == ("alice", 30)
    assert keys.find(token + "x") is None
    assert keys.find("") is None


def test_taken_name_is_refused(tmp_path: Path) -> None:
    make_key(tmp_path / "keys", "alice")
    with pytest.raises(InputError, match="alice"):
        make_key(tmp_path / "keys", "alice")


@pytest.mark.parametrize("line", ["{}", "nothing", '{"name": "a", "sha256": "12"}', "[1]"])
def test_broken_file_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "keys"
    fine = json.dumps({"name": "a", "sha256": hash_token("x")})
    path.write_text(f"{fine}\n{line}\n")
    with pytest.raises(InputError, match="line 2"):
        read_keys(path)


def test_empty_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path / "none")
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="no keys"):
        read_keys(tmp_path / "empty")


def test_no_keys_find_nobody() -> None:
    assert Keys().find("x") is None
