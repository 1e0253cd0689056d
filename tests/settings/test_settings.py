from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from darc.cli.options import add_options, values_of
from darc.cli.parser import Parser
from darc.errors import InputError
from darc.settings.model import SettingsModel, option
from darc.settings.toml_file import read_section
from darc.settings.validation import validate_settings


def test_settings_of_one_section(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[select]\nbeta = 2\nrule = ["mean"]\n[other]\nx = 1\n', encoding="utf-8")
    assert read_section(path, "select", ["beta", "rule"]) == {"beta": 2, "rule": ["mean"]}
    assert read_section(path, "absent", []) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[select]\nbetta = 2\n", "select.betta is unknown; did you mean 'beta'?"),
        ("[select\n", "is not valid TOML"),
        ("select = 3\n", "select is not a section; write [select]"),
    ],
)
def test_bad_settings(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_section(path, "select", ["beta"])
    assert words in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_section(tmp_path / "none.toml", "select", [])


def test_settings_above_all_sections_count(tmp_path: Path) -> None:
    path = tmp_path / "darc.toml"
    path.write_text('rule = "mean"\nbeta = 1\n[select]\nbeta = 2\n', encoding="utf-8")
    assert read_section(path, "select", ["beta", "rule"]) == {"beta": 2, "rule": "mean"}
    with pytest.raises(InputError, match="rule is unknown"):
        read_section(path, "select", ["beta"])


def test_a_misspelt_section_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "darc.toml"
    path.write_text("[selct]\nbeta = 2\n[cdpo]\nseed = 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"\[selct\] is not a command; did you mean \[select\]"):
        read_section(path, "run", ["beta"], ["run", "select"])


class Inner(SettingsModel):
    share: float = Field(default=0.1, ge=0, le=1, description="of the whole")


class Flat(SettingsModel):
    kind: Literal["a", "b"] = "a"
    number: int = option(3, "how many", short_flag="-n", ge=1)
    names: tuple[str, ...] = ()
    quick: bool = False
    where: Path | None = None


class Outer(Flat):
    inner: Inner = Inner()
    several: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"numbr": 1}, "x.toml: numbr is unknown; did you mean 'number'?"),
        ({"number": 0}, "x.toml: number is 0; should be greater than or equal to 1"),
        ({"inner": {"share": 2}}, "x.toml: inner.share is 2; should be less than or equal to 1"),
        ({"inner": {"shard": 2}}, "x.toml: inner.shard is unknown; did you mean 'share'?"),
        (
            {"several": [{}, {"shard": 2}]},
            "x.toml: several[1].shard is unknown; did you mean 'share'?",
        ),
        ({"inner": 3}, "x.toml: inner is not a section; write [inner]"),
        ({"kind": "c"}, "x.toml: kind is 'c'; should be 'a' or 'b'"),
    ],
)
def test_a_model_names_what_is_wrong(data: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        validate_settings(Outer, data, "x.toml")
    assert str(caught.value) == words


def test_options_come_from_a_model() -> None:
    parser = Parser()
    add_options(parser, Flat)
    assert "how many (default: 3)" in parser.format_help()
    assert validate_settings(Flat, values_of(parser.parse_args([]), Flat)) == Flat()
    words = ["-n", "5", "--names", "x", "--names", "y", "--quick", "--kind", "b"]
    expected = Flat(kind="b", number=5, names=("x", "y"), quick=True)
    assert validate_settings(Flat, values_of(parser.parse_args(words), Flat)) == expected
