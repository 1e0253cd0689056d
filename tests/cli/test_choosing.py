import pytest

from darc.cli.choosing import note_wording, rule_parameters, standards_of
from darc.errors import InputError
from darc.settings.method import StandardsSettings


def test_standards_come_from_the_options() -> None:
    settings = StandardsSettings(scale="1-5", threshold=2.5, no_rating_below=2, poor_below=3)
    standards = standards_of(settings)
    assert standards.scale == (1, 5)
    assert standards.threshold == 2.5
    assert standards.no_rating_below == 2
    assert standards.poor_below == 3


def test_a_scale_that_falls_is_refused() -> None:
    with pytest.raises(InputError, match="5-1"):
        standards_of(StandardsSettings(scale="5-1"))


def test_caution_is_a_parameter_only_if_it_is_given() -> None:
    assert rule_parameters(None) == {}
    assert rule_parameters("high") == {"caution": "high"}
    with pytest.raises(InputError, match="bold"):
        rule_parameters("bold")


def test_only_rewrites_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    note_wording("rater")
    assert capsys.readouterr().err == ""
    note_wording("rewrite")
    assert "wording" in capsys.readouterr().err
