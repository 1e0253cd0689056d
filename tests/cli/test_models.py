import json
from pathlib import Path

import pytest

from darc.cli import main
from darc.models.catalogue import DEFAULT
from darc.models.installed import Installed


def run(*words: str) -> None:
    assert main(["models", *words]) == 0


def test_list_and_install(
    installed: Installed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(installed.path.parents[2]))
    run("install")
    out, err = capsys.readouterr()
    assert out.strip() == str(installed.path)
    assert "installed already" in err
    run("list", "--json")
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["name"], row["licence"], row["installed"]) == (DEFAULT, "Apache-2.0", True)
    assert (row["path"], row["installed_sha256"]) == (str(installed.path), installed.sha256)
    run("list")
    assert "Apache-2.0, 98 MB" in capsys.readouterr().out


def test_list_without_a_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    run("list")
    assert "not installed; run: darc models install" in capsys.readouterr().out
    run("list", "--json")
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["installed"], row["path"]) == (False, None)
