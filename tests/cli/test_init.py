"""`darc init`: what it writes works at once."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import FakeServer
from tests.fakes.listings import LISTINGS
from tests.helpers import run_command

from darc.cli.commands import read_settings
from darc.cli.options import file_keys
from darc.parts.scorers.panel import read_panel
from darc.settings.discovery import DISCOVERY_ENV
from darc.settings.run import RunCommandSettings

FILES = {"run.toml", "panel.toml", "prompts.jsonl", "README.md"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder made by `darc init`, which is the current one."""
    done = run_command("init", tmp_path / "first")
    assert done.returncode == 0, done.stderr
    assert {Path(line).name for line in done.stdout.splitlines()} == FILES
    monkeypatch.chdir(tmp_path / "first")
    return tmp_path / "first"


def reply(body: dict[str, Any], index: int) -> str:
    """Answers that differ, or one grade per answer where a rater is asked."""
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "grades" in schema.get("properties", {}):
        count = schema["properties"]["grades"]["minItems"]
        return json.dumps({"grades": [place % 11 for place in range(count)]})
    return f"Answer {index} is about the Moon."


def test_every_option_of_a_run_stands_there_with_its_default(folder: Path) -> None:
    text = (folder / "run.toml").read_text()
    keys = file_keys(RunCommandSettings)
    commented = re.findall(r"^#(\w+) = (.*)$", text, re.MULTILINE)
    fields = {keys[name] for name, _ in commented} | set(tomllib.loads(text)["run"])
    assert fields == set(RunCommandSettings.model_fields) - {"config", "restart", "complete"}
    for name, field in RunCommandSettings.model_fields.items():
        if name in fields and field.description:
            words = " ".join(text.replace("\n# ", " ").split())
            assert " ".join(field.description.split()) in words


def test_taking_the_marks_away_changes_nothing(folder: Path) -> None:
    path = folder / "run.toml"
    plain = read_settings(["run", "--config", str(path)])
    lines = []
    for line in path.read_text().splitlines():
        is_default = re.match(r"#\w+ = ", line) and not line.endswith("# not set")
        lines.append(line.removeprefix("#") if is_default else line)
    path.write_text("\n".join(lines) + "\n")
    assert tomllib.loads(path.read_text())["run"]["k"] == 8
    assert read_settings(["run", "--config", str(path)]) == plain


def test_the_panel_is_one_that_a_run_reads(folder: Path) -> None:
    panel = read_panel(folder / "panel.toml")
    assert len(panel.raters) == 4
    shipped = read_panel(Path(__file__).parents[2] / "src/darc/parts/scorers/panel.toml")
    assert [rater.view.split() for rater in panel.raters] == [
        rater.view.split() for rater in shipped.raters[:4]
    ]


def test_a_run_with_its_files_works_at_once(
    tmp_path: Path, openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = f"openai:fake@{openai_server.url}/v1"
    folder = tmp_path / "first"
    assert run_command("init", folder, "--generator", generator).returncode == 0
    monkeypatch.chdir(folder)
    commands = re.findall(r"^darc (.*)$", (folder / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 3
    check, run, show = (command.split() for command in commands)
    assert check[0] == "check"
    assert run_command(*check).returncode == 0
    openai_server.reply = reply
    done = run_command(*run)
    assert done.returncode == 0, done.stderr
    shown = run_command(*show)
    assert shown.returncode == 0, shown.stderr
    assert "is about the Moon" in shown.stdout
    decisions = next((folder / "answers").rglob("decisions.jsonl")).read_text().splitlines()
    assert len(decisions) == len((folder / "prompts.jsonl").read_text().splitlines())
    assert any("sceptic" in path.read_text() for path in (folder / "answers").rglob("*.json"))


def test_a_server_of_this_machine_is_written_into_the_settings(
    tmp_path: Path, openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(DISCOVERY_ENV)
    monkeypatch.setattr("darc.models.discovery.DISCOVERY_SECONDS", 5)
    openai_server.listing = LISTINGS["vLLM"]
    port = str(openai_server.port)
    assert run_command("init", tmp_path / "first", "--discovery-port", port).returncode == 0
    settings = tomllib.loads((tmp_path / "first" / "run.toml").read_text())["run"]
    assert settings["panel"] == ["panel.toml"]
    assert settings["generator"].startswith("openai:Qwen/Qwen2.5-1.5B-Instruct@")
    assert str(openai_server.port) in settings["generator"]
    assert openai_server.received == []


def test_nothing_is_overwritten_without_force(folder: Path) -> None:
    (folder / "panel.toml").unlink()
    (folder / "run.toml").write_text("# mine\n")
    done = run_command("init", folder)
    assert done.returncode == 2
    assert "run.toml" in done.stderr
    assert "panel.toml" not in done.stderr
    assert (folder / "run.toml").read_text() == "# mine\n"
    assert not (folder / "panel.toml").exists()
    assert run_command("init", folder, "--force").returncode == 0
    assert "[run]" in (folder / "run.toml").read_text()
    assert {path.name for path in folder.iterdir()} == FILES


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "first").write_text("")
    done = run_command("init", tmp_path / "first")
    assert done.returncode == 2
    assert "first is a file" in done.stderr
