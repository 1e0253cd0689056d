"""What every command line does: settings from files, help, and defaults."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import rows
from tests.helpers import run_command as darc

from darc import __version__
from darc.cli import main
from darc.cli.commands import actions_of, command_names, command_of, help_texts, parser_of
from darc.cli.options import add_options, option_flags
from darc.cli.parser import Parser
from darc.settings.model import SettingsModel, details_of


def test_settings_from_a_file_and_the_command_line_wins(tidy: Path) -> None:
    config = tidy.with_name("run.toml")
    config.write_text('[select]\nrule = ["mean", "epsilon"]\nbeta = 0\ncsv = true\n')
    table = rows(darc("select", tidy, "--config", config).stdout)
    assert [r["rule"] for r in table[:2]] == ["mean", "epsilon"]
    assert float(table[1]["risk_premium"]) == 0.0
    table = rows(darc("select", tidy, "--config", config, "--beta", "1").stdout)
    assert float(table[0]["risk_premium"]) > 1.0
    config.write_text("[select]\nbeto = 1\n")
    done = darc("select", tidy, "--config", config)
    assert done.returncode == 2
    assert "select.beto is unknown; did you mean 'beta'?" in done.stderr
    config.write_text('[select]\nbeta = "much"\n')
    done = darc("select", tidy, "--config", config)
    assert done.returncode == 2
    assert "[select]: beta is 'much'" in done.stderr


def test_help_answers() -> None:
    assert "select" in darc("--help").stdout
    assert "--rule" in darc("select", "--help").stdout
    assert darc().returncode == 0
    assert darc("--version").stdout.strip() == __version__
    assert "epsilon(epsilon=0.25)" in darc("rules").stdout
    names = [json.loads(line)["name"] for line in darc("rules", "--json").stdout.splitlines()]
    assert {"mean", "epsilon", "median"} <= set(names)
    wrong = darc("selct")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


EPILOGS = "".join(each.get("epilog", "") + "\n" for each in help_texts().values())
EXAMPLES = re.findall(r"^  (.*\bdarc .*)$", EPILOGS.replace("\\\n", " "), re.MULTILINE)


@pytest.mark.parametrize("example", sorted(set(EXAMPLES)))
def test_examples_in_help_are_commands(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("settings.toml").touch()
    for command in re.split(r"; | \| | && ", example.split(" > ")[0]):
        program, *given = shlex.split(command)
        if program == "darc":
            assert callable(command_of(parser_of(given[0]).parse_args(given)).run)


def test_long_help_says_the_defaults() -> None:
    text = " ".join(darc("run", "--help-all").stdout.split())
    assert "how many answers to write for each prompt (default: 8)" in text
    assert "how many seconds one batch of a scorer may take (default: 600)" in text
    assert "compress the files of finished shards (zstd) (default" not in text


def options_in(help_text: str) -> set[str]:
    """The options that a help text lists, but for those that print help."""
    options = help_text.split("\nexamples:")[0]
    flags = re.findall(r"^  (?:-\w(?: \w+)?, )?(--[a-z-]+)", options, re.MULTILINE)
    return set(flags) - {"--help", "--help-all"}


ACTIONS = [
    (command, action, settings.settings)
    for command in command_names()
    for action, settings in actions_of(command).items()
]


@pytest.mark.parametrize(
    ("command", "action", "settings"), ACTIONS, ids=[f"{c} {a}".strip() for c, a, _ in ACTIONS]
)
def test_short_help_shows_at_most_twelve_options_and_the_long_one_all(
    command: str, action: str, settings: type[SettingsModel]
) -> None:
    parser = Parser(prog=f"darc {command} {action}".strip())
    add_options(parser, settings)
    short = parser.format_help()
    shown = options_in(short)
    all_options = options_in(parser.format_full_help())
    flags = {
        option_flags(name, field)[-1]
        for name, field in settings.model_fields.items()
        if not details_of(field).positional
    }
    assert all_options == flags
    if len(all_options) <= 12:
        assert shown == all_options
    else:
        assert 8 <= len(shown) <= 12
        assert shown < all_options
        assert f"{parser.prog} --help-all" in short


def test_a_required_option_is_named(tmp_path: Path) -> None:
    done = darc("run", "--out", tmp_path / "run")
    assert done.returncode == 2
    assert "--prompts is missing; see darc run --help" in done.stderr


def test_an_unknown_option_is_named_with_the_nearest() -> None:
    done = darc("select", "--cautoin", "high")
    assert done.returncode == 2
    assert "perhaps --caution" in done.stderr


@pytest.mark.parametrize("flag", ["--backend", "--model", "--base-url"])
@pytest.mark.parametrize("command", [["ask", "Why?"], ["run", "--prompts", "p", "--out", "o"]])
def test_other_names_of_the_model_are_answered_with_the_right_option(
    flag: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*command, flag, "x"])
    assert stopped.value.code == 2
    assert "--generator openai:MODEL@URL" in capsys.readouterr().err


def test_serve_answers_a_base_url_with_its_backend(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--base-url", "http://x"])
    assert "--backend URL" in capsys.readouterr().err
