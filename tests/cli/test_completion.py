import subprocess
from pathlib import Path

import pytest

from darc.cli import main
from darc.cli.commands import command_names


@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh"])
def test_every_command_is_completed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in command_names())


def test_bash_completes_a_command_and_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "darc.bash"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    asked = (
        f"source {script}; COMP_WORDS=(darc sel); COMP_CWORD=1; _shtab_darc darc sel darc; "
        "echo ${COMPREPLY[@]}; COMP_WORDS=(darc select --calib); COMP_CWORD=2; "
        "_shtab_darc darc --calib select; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["select", "--calibration"]
