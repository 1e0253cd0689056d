from darc.cli import parser_of
from darc.cli.choice import ChoiceOptions, parts_of
from darc.cli.options import options_of
from darc.engine.engine import Engine
from darc.engine.options import ChoosingOptions
from darc.engine.parts import Parts
from darc.serve.settings import ServeSettings
from darc.settings.validation import validate_settings


def test_commands_services_and_engines_have_the_same_defaults() -> None:
    arguments = parser_of("ask").parse_args(["ask", "Why?"])
    options = validate_settings(ChoiceOptions, options_of(arguments, ChoiceOptions))
    assert parts_of(options, None, options.seed) == Parts() == ServeSettings().parts
    shared = dict(ChoosingOptions())
    assert {name: getattr(options, name) for name in shared} == shared
    with Engine() as engine:
        assert engine.parts == Parts()
        assert (engine.method.text, engine.method.normalize) == ("auto", "auto")
        assert (engine.method.beta, engine.method.gamma) == (1.0, 1.0)
