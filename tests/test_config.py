from pathlib import Path

import pytest

from darc.config import read_settings
from darc.errors import InputError


def test_settings_of_one_section(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[select]\nbeta = 2\nrule = ["mean"]\n[other]\nx = 1\n', encoding="utf-8")
    assert read_settings(path, "select", ["beta", "rule"]) == {"beta": 2, "rule": ["mean"]}
    assert read_settings(path, "absent", []) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[select]\nbetta = 2\n", "select.betta is unknown; did you mean 'beta'?"),
        ("[select\n", "not valid TOML"),
        ("select = 3\n", "select is not a section; write [select]"),
    ],
)
def test_bad_settings(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_settings(path, "select", ["beta"])
    assert words in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_settings(tmp_path / "none.toml", "select", [])
