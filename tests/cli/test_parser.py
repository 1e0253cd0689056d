"""What every command line does: settings from files, help, and defaults."""

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import rows
from tests.helpers import run_command as darc

from darc import __version__
from darc.cli import parser_of
from darc.cli.parser import _texts


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
    assert "select.beta: invalid float value: 'much'" in done.stderr


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


EPILOGS = "".join(each.get("epilog", "") + "\n" for each in _texts().values())
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
            assert callable(parser_of(given[0]).parse_args(given).run)


def test_help_says_the_defaults() -> None:
    told = " ".join(darc("run", "--help").stdout.split())
    assert "answers to write (default: 8)" in told
    assert "seconds for a scorer's batch (default: 600)" in told
    assert "pack the files of finished shards (zstd) --workers" in told
    assert "show this help message and exit --prompts" in told
