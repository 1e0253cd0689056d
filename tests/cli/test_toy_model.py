"""What commands say where the embedded model answers; a generator of the tests stands in for it."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.engine.makers import Words

import darc.parts.generators  # noqa: F401  (registers what is replaced here)
from darc.cli import main
from darc.cli.toy_model import API_URLS, toy_model_note
from darc.models import catalogue
from darc.models.catalogue import CATALOGUE, DEFAULT
from darc.models.installed import Installed, model_folder, write_note
from darc.models.remote.address import parse_address
from darc.registry import Maker, generators, parse_spec

LARGER = "Larger-Chat-Model"


@pytest.fixture(autouse=True)
def _nothing_set_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", *API_URLS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(generators._items, "embedded", Maker("embedded", Words))


def install_larger(monkeypatch: pytest.MonkeyPatch) -> Path:
    model = replace(CATALOGUE[DEFAULT], name=LARGER, size=CATALOGUE[DEFAULT].size * 10)
    monkeypatch.setitem(catalogue.CATALOGUE, LARGER, model)
    path = model_folder(model, None) / "larger.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    write_note(Installed(LARGER, path, "", 4, model.sha256, "Q8_0"))
    return path


def test_the_note_names_servers_and_keys_where_there_are_none() -> None:
    note = toy_model_note("embedded", "darc ask QUESTION", environment={})
    assert "often wrong" in note
    assert "--generator openai:MODEL@http://localhost:11434/v1" in note
    assert "OPENAI_API_KEY" in note
    assert "is set" not in note


def test_other_generators_are_not_toys() -> None:
    for generator in ("openai:m@http://localhost:1", "transformers:m", f"embedded:{LARGER}"):
        assert toy_model_note(generator, "darc run ...", environment={}) == ""


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "OPENAI_BASE_URL", *API_URLS])
def test_a_key_that_is_set_comes_first_with_a_generator_that_works(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "https://example.com/v1" if variable == "OPENAI_BASE_URL" else "sk-secret"
    note = toy_model_note("embedded", "darc ask QUESTION", environment={variable: secret})
    assert secret not in note
    assert f"{variable} is set" in note
    first = note.index("Better: darc ask QUESTION --generator openai:MODEL")
    assert first < note.index("localhost")
    monkeypatch.setenv(variable, secret)
    spec = parse_spec(note[first:].split("--generator ")[1].split(" ")[0])
    assert parse_address(spec.argument)[0] == "MODEL"
    assert spec.options.get("key_env", variable) == variable


def test_a_larger_model_that_is_installed_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    install_larger(monkeypatch)
    keys = {"OPENAI_API_KEY": "x"}
    note = toy_model_note("embedded", "darc ask QUESTION", environment=keys)
    assert f"Better: darc ask QUESTION --generator embedded:{LARGER} ({LARGER} is ins" in note
    monkeypatch.setitem(generators._items, "embedded", Maker("embedded", Words, "[MODEL]"))
    note = toy_model_note("embedded", "darc ask QUESTION", environment=keys)
    assert f"Better: darc ask QUESTION --generator embedded:{LARGER} (" in note
    only = toy_model_note("embedded", "darc serve", servers_only=True, environment=keys)
    assert LARGER not in only


@pytest.mark.usefixtures("embedded")
def test_ask_says_it_once_and_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["ask", "Why is it?", "--scorer", "form", "--no-cache", "--json"]
    assert main([*ask, "-k", "3", "--n-aug", "1"]) == 0
    output = capsys.readouterr()
    assert output.err.count("is a toy") == 1
    first, *_ = json.loads(output.out)["notes"]
    assert first["name"] == "toy_model"
    assert first["text"] in output.err


@pytest.mark.usefixtures("embedded")
def test_answers_of_ones_own_are_not_the_toys(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["ask", "Why is it?", "--scorer", "form", "--no-cache", "--json"]
    assert main([*ask, "--answer", "It is so.", "--answer", "Nobody knows why it is."]) == 0
    output = capsys.readouterr()
    assert "toy" not in output.err
    assert "toy_model" not in output.out


@pytest.mark.usefixtures("embedded")
def test_run_says_it_once_for_all_prompts(
    prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--prompts", str(prompts), "--out", str(tmp_path / "run"), "--json"]
    more = ["--scorer", "form", "-k", "3", "--n-aug", "1", "--workers", "0", "--no-cache"]
    assert main([*run, *more]) == 0
    output = capsys.readouterr()
    assert output.err.count("is a toy") == 1
    assert json.loads(output.out)["prompts"] == 3


def test_serve_says_it_in_its_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    gateway = SimpleNamespace(engine=SimpleNamespace(parts=SimpleNamespace(panel=None)))
    monkeypatch.setattr("darc.serve.app.make_gateway", lambda settings: gateway)
    app = SimpleNamespace(reload=None)
    monkeypatch.setattr("darc.serve.app.make_app", lambda *arguments: app)
    monkeypatch.setattr("darc.web.logs.log_as_json", lambda *arguments, **options: None)
    monkeypatch.setattr("darc.web.server.serve", lambda app, bound, *arguments: bound.close())
    with caplog.at_level(logging.WARNING, "darc.serve"):
        assert main(["serve", "--port", "0"]) == 0
        assert [row.getMessage() for row in caplog.records if "is a toy" in row.getMessage()]
        caplog.clear()
        assert main(["serve", "--port", "0", "--backend", "http://localhost:1/v1"]) == 0
        assert not [row for row in caplog.records if "is a toy" in row.getMessage()]
