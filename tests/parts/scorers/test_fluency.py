"""Fluency: spelling, order, repetition, garbling."""

import builtins
from typing import Any

import pytest
from tests.parts.scorers.test_scorers import all_three, scores

from darc.errors import MissingExtra
from darc.language.text import Text
from darc.parts.scorers.fluency import Spelling, garbled, imbalance, repetition

PLAIN = "The baker opens the shop at six. She sells bread and rolls, and the queue is often long."


@pytest.mark.parametrize(
    "worse",
    [
        "The bakre opesn teh shop at six. She slels bread and rools, and teh queue is oftn long.",
        "Bread the opens at rolls shop the. Six is she often and and queue, sells baker the long.",
        "The baker opens the shop. The baker opens the shop. The baker opens the shop at the shop.",
        "The baker opens the shop at six. She sells bread and rolls, and the queue is",
        "The baker opens the \ufffd\ufffd\ufffd\ufffd at six. She sells â€œbread and rolls.",
    ],
)
def test_faults_cost(worse: str) -> None:
    good, bad = scores(all_three()[1], "", PLAIN, worse)
    assert good > bad + 0.03


def test_slips_are_counted_in_both_dialects() -> None:
    spelling = Spelling(lambda word: word in {"colour", "color", "cat", "Lima", "apple"})
    texts = [
        "The colour and the color.",
        "A catt.",
        "In Lima, near Qwertz.",
        "the the cat",
        "a apple",
    ]
    assert spelling.slips(texts).tolist() == [0.0, 1.0, 0.2, 1.0, 1.0]
    assert Spelling().slips(["Colour, color, realise and realize are right."]).tolist() == [0.0]


def test_a_missing_dictionary_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "harper":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"\[embedded\]"):
        Spelling()


def test_small_measures() -> None:
    assert repetition(list("abcabc")) == 0.25
    assert repetition(["one"]) == 0.0
    assert garbled(Text("plain")) == 0.0
    assert garbled(Text("!!!!!!!!!!" * 10)) == 1.0
    assert imbalance("f(x[0])") == 0.0
    assert imbalance("f(x") == 1.0
    assert imbalance("") == 0.0
