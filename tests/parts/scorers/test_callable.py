from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from darc.errors import InputError
from darc.parts.scorers import CallableScorer, Scorer, normalise_scores
from darc.registry import scorers
from darc.types import Message, Prompt

ONE = Prompt("one", (Message("user", "Hi?"),))
TWO = Prompt("two", (Message("system", "Be brief."), Message("user", "Why?")))


def lengths(pairs: Sequence[tuple[str, str]]) -> list[int]:
    return [len(prompt) * 100 + len(answer) for prompt, answer in pairs]


def test_function_gets_texts() -> None:
    scorer: Scorer = CallableScorer("length", lengths, location=300.0, scale=2.0, bounds=(0, 9999))
    scores = scorer.score([(ONE, "abc"), (TWO, "ab")])
    assert scores.tolist() == [303.0, len("System: Be brief.\n\nUser: Why?") * 100 + 2]
    assert normalise_scores(scorer, scores)[0] == 1.5
    assert scorer.version == ""
    assert scorer.score([]).shape == (0,)


@pytest.mark.parametrize("values", [[1.0], [[1.0, 2.0]], 3.0, ["a", "b"], [1.0, float("nan")]])
def test_function_that_does_not_give_a_number_a_pair(values: Any) -> None:
    scorer = CallableScorer("mine", lambda pairs: values)
    with pytest.raises(InputError, match="'mine'"):
        scorer.score([(ONE, "a"), (ONE, "b")])


def test_as_users_write_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_scores.py").write_text(
        "def short(pairs):\n    return [-len(a) for _, a in pairs]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    python_scorer = scorers.make("python:my_scores:short,low=-100,high=0,location=-5,scale=2")
    assert python_scorer.score([(ONE, "abc")]).tolist() == [-3.0]
    assert (python_scorer.name, python_scorer.bounds, python_scorer.location) == (
        "my_scores:short",
        (-100.0, 0.0),
        -5.0,
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:json", "does not name a function"),
        ("python:no_such_module:f", "cannot be imported"),
        ("python:json:no_such_function", "no function 'no_such_function'"),
        ("python:json:dumps,scale=0", "scale"),
        ("python:json:dumps,location=high", "location"),
        ("python:json:dumps,low=5,high=4", "low less than high"),
    ],
)
def test_what_cannot_be_made(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scorers.make(spec)
