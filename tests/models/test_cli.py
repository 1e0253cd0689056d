import argparse
import json

import pytest

from darc.cli import models
from darc.cli.parser import Parser
from darc.models.installed import DEFAULT, Installed


@pytest.fixture
def parser() -> Parser:
    parser = Parser(prog="darc")
    models.add(parser.add_subparsers(dest="command", parser_class=Parser), "models")
    return parser


def run(parser: Parser, *words: str) -> None:
    arguments: argparse.Namespace = parser.parse_args(["models", *words])
    arguments.run(arguments)


def test_list_and_install(
    parser: Parser,
    installed: Installed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(installed.path.parents[2]))
    run(parser, "install")
    out, err = capsys.readouterr()
    assert out.strip() == str(installed.path)
    assert "installed already" in err
    run(parser, "list", "--json")
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["name"], row["licence"], row["installed"]) == (DEFAULT, "Apache-2.0", True)
    assert (row["path"], row["installed_sha256"]) == (str(installed.path), installed.sha256)
    run(parser, "list")
    assert "Apache-2.0, 98 MB" in capsys.readouterr().out


def test_list_without_a_model(
    parser: Parser,
    tmp_path: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    run(parser, "list")
    assert "not installed; run: darc models install" in capsys.readouterr().out
    run(parser, "list", "--json")
    row = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (row["installed"], row["path"]) == (False, None)
