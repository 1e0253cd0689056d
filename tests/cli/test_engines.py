import pytest

from darc.cli.engines import make_engine, say_cost
from darc.errors import InputError
from darc.settings.engine import ChoiceSettings


def test_an_engine_has_the_rule_and_the_numbers_of_the_settings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = ChoiceSettings(
        rule="epsilon:epsilon=0.5", beta=2.0, n_aug=3, scorers=("form",), guard=False, cache=False
    )
    with make_engine(settings, with_model=False) as engine:
        assert engine.method.text == "epsilon:epsilon=0.5"
        assert engine.method.beta == 2.0
        assert say_cost(engine, k=4) == 0
    assert capsys.readouterr().err == ""


def test_a_wrong_rule_is_refused_before_anything_is_loaded() -> None:
    settings = ChoiceSettings(rule="absent", generator="transformers:/nowhere")
    with pytest.raises(InputError, match="absent"):
        make_engine(settings)
