"""Panels as users write them."""

from pathlib import Path

import pytest

import darc
from darc.cli import main
from darc.errors import InputError
from darc.models.completion import strip_reasoning
from darc.models.remote.openai import OpenAIModel
from darc.parts.scorers.panel import Rater, read_panel
from darc.parts.scorers.panel_argument import parse_panel

NAMES = (
    "hurried", "expert", "beginner", "sceptic", "safety", "elsewhere", "second-language",
    "concerned",
)  # fmt: skip
A = "judge:a@http://h:1"
B = "judge:b@http://h:2,max_tokens=512"


def test_eight_raters_ship() -> None:
    panel = darc.Panel()
    assert panel.names == NAMES
    assert len({rater.view for rater in panel.raters}) == 8
    assert all(100 < len(rater.view) < 400 for rater in panel.raters)
    assert panel.needs_model


def test_parse_panel_takes_numbers_files_and_judges(tmp_path: Path) -> None:
    panel_file = tmp_path / "own.toml"
    panel_file.write_text(
        'repeats = 2\ncriteria = ["accuracy"]\nmissing = "refuse"\n'
        f'[[rater]]\nname = "a nurse"\nview = "A nurse."\n[[rater]]\nname = "b"\nmodel = "{A}"\n'
        '[[rater]]\nname = "c"\n'
    )
    assert parse_panel(True) == darc.Panel()
    assert parse_panel(3).names == parse_panel("3").names == NAMES[:3]
    assert parse_panel([A]) == darc.Panel(model=A)
    panel = parse_panel(str(panel_file))
    assert panel.raters == (Rater("a nurse", "A nurse."), Rater("b", model=A), Rater("c"))
    assert (panel.repeats, panel.criteria, panel.missing) == (2, ("accuracy",), "refuse")
    several = parse_panel(f"{A},{B}")
    assert several.raters == (Rater("a", model=A), Rater("b", model=B))
    assert several == parse_panel([A, B])
    in_turn = parse_panel([str(panel_file), B, "judge:z@http://h:3"])
    assert [r.model for r in in_turn.raters] == [B, A, "judge:z@http://h:3"]
    assert parse_panel([A, A]).names == ("a", "a-2")
    assert parse_panel(["2", A, B]).names == NAMES[:2]


def test_judges_share_their_model_and_keep_their_options() -> None:
    judges = darc.Panel(raters=(Rater("x", model=B), Rater("y")), repeats=2).judges(
        OpenAIModel("own@http://h:9")
    )
    assert [judge.name for judge in judges] == ["x", "x#2", "y", "y#2"]
    assert judges[0].model is judges[1].model
    assert judges[2].model.name == "own"
    assert [judge.max_tokens for judge in judges] == [512, 512, 16, 16]
    assert len({judge.version for judge in judges}) == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "rater is missing"),
        ("rater = 3", "rater is 3; should be a list"),
        ("rater = []", "rater; .*at least 1"),
        ("rater = [3]", r"rater\[0\] is not a section; write \[\[rater\]\]"),
        ('[[rater]]\nview = "x"', r"rater\[0\].name is missing"),
        ('[[rater]]\nname = "a"\n[[rater]]\nname = "a"', "rater; the name 'a' is given twice"),
        ('[[rater]]\nname = "a:b"', r"rater\[0\].name is 'a:b'"),
        ('[[rater]]\nname = "a"\nview = 3', r"rater\[0\].view is 3; should be a valid string"),
        ('[[rater]]\nname = "a"\nviews = "x"', r"rater\[0\].views is unknown.*'view'"),
        ('[[rater]]\nname = "a"\nmodel = "gpt"', r"rater\[0\].model is 'gpt'; write judge:"),
        ('repeats = 0\n[[rater]]\nname = "a"', "repeats is 0"),
        ('repeat = 2\n[[rater]]\nname = "a"', "repeat is unknown.*'repeats'"),
        ('criteria = "x"\n[[rater]]\nname = "a"', "criteria is 'x'; should be a list"),
        ('criteria = ["x", ""]\n[[rater]]\nname = "a"', r"criteria\[1\] is ''"),
        ('missing = "ignore"\n[[rater]]\nname = "a"', "missing is 'ignore'"),
        ("rater = [", "is not valid TOML"),
    ],
)
def test_files_are_refused_by_the_path_of_the_field(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as error:
        read_panel(path)
    assert str(path) in str(error.value)
    answers = tmp_path / "answers.json"
    answers.write_text('["yes", "no"]')
    panel = ["--panel", str(path), "--panel", A]
    assert main(["ask", "Why?", "--answers", str(answers), *panel]) == 2
    assert capsys.readouterr().err.startswith(f"darc: {path}")


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("0", "a panel of 0 raters"),
        ("9", "a panel of 9 raters cannot be taken from 8"),
        ("nonsense", "'nonsense' is not a panel"),
        ("none.toml", "none.toml cannot be read"),
    ],
)
def test_what_is_no_panel_is_refused(argument: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_panel(argument)


def test_panel_in_python_is_checked() -> None:
    with pytest.raises(InputError, match="repeats is 0"):
        darc.Panel(repeats=0)
    with pytest.raises(InputError, match="no model to judge by"):
        darc.Panel().judges()


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes.", "Yes."),
        ("<think>a</think>\n\nYes.", "Yes."),
        ("\n<think>a</think><think>b</think>Yes.", "Yes."),
        ("maybe\n3 or 4\n</think>\n\nYes.", "Yes."),
        ("The tag `</think>` ends a thought.", "The tag `</think>` ends a thought."),
        ("A thought begins with <think>.", "A thought begins with <think>."),
        ("<think>a", None),
        ("<think>a</think><think>b", None),
        ("<think>a</think>", ""),
    ],
)
def test_thoughts(text: str, answer: str | None) -> None:
    assert strip_reasoning(text) == answer
