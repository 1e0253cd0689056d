"""An option is declared once: what the tree says holds wherever the option can be given."""

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from darc.analysis.evaluate.settings import ContestSettings
from darc.cli.command_settings import read_command_settings
from darc.cli.commands import actions_of, command_names
from darc.cli.options import add_options, option_flags
from darc.cli.parser import Parser
from darc.decide.registry import DEFAULT_RULE
from darc.engine import engine_options
from darc.engine.engine_options import parse_engine_options
from darc.errors import InputError, UnknownName
from darc.serve import openapi, requests
from darc.serve.bodies import DarcOptions, request_options
from darc.serve.openapi import ServerDescription, make_document
from darc.serve.requests import RequestReader
from darc.serve.settings import ServeSettings
from darc.settings.ask import AskSettings
from darc.settings.engine import EngineSettings
from darc.settings.general import CommandSettings
from darc.settings.model import SettingsModel, details_of, meaning_of, option
from darc.settings.run import RunSettings
from darc.settings.run_file import write_run_file
from darc.settings.serve import ServeCommandSettings

HELP = "how new an answer has to be"
# Options with a default of their own where a command has reason for one.
OTHER_DEFAULTS = {"--out", "--host", "--port", "--splits", "--beta", "--gamma", "--rule", "--panel"}


class Novelty(SettingsModel):
    novelty: float = option(0.5, HELP, common=True, per_request=True, ge=0)


class NewAsk(Novelty, AskSettings):
    pass


class NewRun(Novelty, RunSettings):
    pass


class NewRunCommand(NewRun, CommandSettings):
    pass


class NewServe(Novelty, ServeCommandSettings):
    pass


class NewEngine(Novelty, EngineSettings):
    pass


def test_a_new_option_is_on_the_command_line() -> None:
    parser = Parser(prog="darc ask")
    add_options(parser, NewAsk)
    assert f"{HELP} (default: 0.5)" in " ".join(parser.format_help().split())
    arguments = parser.parse_args(["Why?", "--novelty", "0.7"])
    assert read_command_settings(NewAsk, arguments, "darc ask").novelty == 0.7
    arguments = parser.parse_args(["Why?", "--novelty", "-1"])
    with pytest.raises(InputError, match="novelty is -1"):
        read_command_settings(NewAsk, arguments, "darc ask")


def test_a_new_option_is_in_the_file_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    write_run_file(NewRun, NewRun(prompts="examples", novelty=0.7), path)
    assert tomllib.loads(path.read_text())["run"]["novelty"] == 0.7
    parser = Parser(prog="darc run")
    add_options(parser, NewRunCommand)
    arguments = parser.parse_args(["--config", str(path)])
    settings = read_command_settings(NewRunCommand, arguments, "darc run")
    assert (settings.novelty, settings.prompts) == (0.7, "examples")


def served_options(model: type[BaseModel] = DarcOptions) -> dict[str, Any]:
    """The options of a request as the OpenAPI document of a gateway describes them."""
    settings = ServeSettings()
    description = ServerDescription(settings, RequestReader(settings).default_options)
    schemas = make_document(description)["components"]["schemas"]
    return dict(schemas[model.__name__]["properties"])


def test_a_new_option_is_in_requests_and_in_the_served_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = request_options(NewServe)
    assert options.model_validate({"novelty": 0.7}).model_dump()["novelty"] == 0.7
    models = (*(model for model in openapi._MODELS if model is not DarcOptions), options)
    monkeypatch.setattr(openapi, "_MODELS", models)
    monkeypatch.setattr(openapi, "DarcOptions", options)
    monkeypatch.setattr(requests, "DarcOptions", options)
    schema = served_options(options)["novelty"]
    assert (schema["default"], schema["minimum"], schema["description"]) == (0.5, 0, HELP)


def test_the_served_document_has_the_words_and_bounds_of_the_tree() -> None:
    served = served_options()
    for name, setting in ServeCommandSettings.model_fields.items():
        details = details_of(setting)
        if details.per_request and name != "include_original":
            assert served[name]["description"] == setting.description
            assert served[name].get("minimum") == details.bounds.get("ge"), name


def test_a_new_option_is_a_keyword_of_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName):
        parse_engine_options(None, {"novelty": 0.7})
    monkeypatch.setattr(engine_options, "EngineSettings", NewEngine)
    assert parse_engine_options(None, {"novelty": 0.7}).value("novelty") == 0.7
    with pytest.raises(UnknownName, match="novelty"):
        parse_engine_options(None, {"noveltie": 0.7})


def test_requests_have_every_option_of_the_tree_that_they_may_set() -> None:
    for name, setting in ServeCommandSettings.model_fields.items():
        if details_of(setting).per_request:
            assert DarcOptions.model_fields[name].default == setting.default, name


def test_a_flag_has_one_meaning_and_one_default() -> None:
    meanings = defaultdict(set)
    defaults = defaultdict(set)
    for command in command_names():
        for action in actions_of(command).values():
            model = action.settings
            for name, field in model.model_fields.items():
                if details_of(field).positional:
                    continue
                for flag in option_flags(name, field):
                    meanings[flag].add(meaning_of(model, name))
                    if flag not in OTHER_DEFAULTS:
                        defaults[flag].add(repr(field.get_default(call_default_factory=True)))
    assert {flag for flag, several in meanings.items() if len(several) > 1} == set()
    assert {flag: several for flag, several in defaults.items() if len(several) > 1} == {}


def test_settings_in_python_are_named_as_on_the_command_line() -> None:
    meanings = defaultdict(set)
    for command in command_names():
        for action in actions_of(command).values():
            for name in action.settings.model_fields:
                meanings[name].add(meaning_of(action.settings, name))
    for name in ContestSettings.model_fields:
        if name in meanings:
            assert meaning_of(ContestSettings, name) in meanings[name], name
    assert {"splits", "tie_threshold"} <= set(ContestSettings.model_fields)


def test_the_usual_numbers() -> None:
    settings = EngineSettings()
    assert (settings.k, settings.n_aug, settings.max_tokens) == (8, 8, 320)
    assert (settings.temperature, settings.top_p) == (0.8, 0.98)
    assert (settings.rule, settings.min_samples) == (DEFAULT_RULE, None)
