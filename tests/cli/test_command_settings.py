from pathlib import Path

import pytest

from darc.cli.command_settings import read_command_settings
from darc.cli.options import add_options
from darc.cli.parser import Parser
from darc.errors import InputError
from darc.settings.run import RunCommandSettings


def read_run_settings(path: Path, text: str, *flags: str) -> RunCommandSettings:
    """The settings of `darc run` with a settings file and some flags."""
    path.write_text(text, encoding="utf-8")
    parser = Parser(prog="darc run")
    add_options(parser, RunCommandSettings)
    arguments = parser.parse_args(["--config", str(path), *flags])
    return read_command_settings(RunCommandSettings, arguments, "darc run", ("run",))


def test_flags_win_over_the_file_and_the_file_over_defaults(tmp_path: Path) -> None:
    text = '[run]\nprompts = "examples"\nout = "run"\nk = 3\nn_aug = 2\n'
    settings = read_run_settings(tmp_path / "run.toml", text, "-k", "5")
    assert settings.k == 5
    assert settings.n_aug == 2
    assert settings.max_tokens == 320


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_file_may_turn_options_off_as_flags_do(tmp_path: Path, value: str) -> None:
    text = f'[run]\nprompts = "examples"\nout = "run"\nno_original = {value}\nno_guard = {value}\n'
    settings = read_run_settings(tmp_path / "run.toml", text)
    assert settings.include_original == (value == "false")
    assert settings.guard == (value == "false")


def test_a_negation_that_is_not_a_truth_value_is_refused(tmp_path: Path) -> None:
    text = '[run]\nprompts = "examples"\nout = "run"\nno_guard = "yes"\n'
    with pytest.raises(InputError, match="no_guard is 'yes'"):
        read_run_settings(tmp_path / "run.toml", text)


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    text = '[run]\nprompts = "examples"\nout = "run"\nk = 0\n'
    with pytest.raises(InputError, match=r"run\.toml: \[run\]: k is 0"):
        read_run_settings(tmp_path / "run.toml", text)


def test_a_required_option_that_is_missing_is_named_by_its_flag(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--prompts is missing"):
        read_run_settings(tmp_path / "run.toml", "[run]\nk = 3\n")
