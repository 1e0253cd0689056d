"""The command line as a whole: the names of its commands, and what is loaded for one."""

import json
import subprocess
import sys

import pytest

from darc.cli import main
from darc.cli.commands import actions_of, command_groups, command_names, module_of


@pytest.mark.parametrize("name", command_names())
def test_every_command_of_the_table_is_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(callable(command.run) for command in actions_of(name).values())
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: darc {name} ")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    told = capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert capsys.readouterr().out == told
    for group in command_groups().values():
        assert all(f"\n  {name} " in told and words in told for name, words in group.items())


def test_unknown_commands_are_named_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sellect", "--help"]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert "'sellect'" in error
    assert "'select'" in error
    assert main(["frobnicate"]) == 2
    assert "known: init, ask, run, serve" in capsys.readouterr().err


def test_a_command_loads_no_other() -> None:
    code = (
        "import json, sys; from darc.cli.commands import parser_of; parser_of('select');"
        "print(json.dumps([n for n in sys.modules if n.startswith('darc.cli.')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = {module_of(name).__name__ for name in command_names()} - {"darc.cli.select"}
    assert not others & set(json.loads(done.stdout))
