"""Relevance: type of answer, evasion, echo."""

from pathlib import Path

import pytest
from tests.scorers.test_scorers import all_three, scores

from darc.errors import InputError
from darc.language.text import Text
from darc.registry import scorers
from darc.scorers.relevance import Relevance, evasion


def test_the_kind_of_answer_counts() -> None:
    relevance = all_three()[0]
    question = "How many legs does a spider have?"
    number, none = scores(relevance, question, "A spider has 8 legs.", "A spider has some legs.")
    assert number > none
    question = "Write a Python function that adds two numbers."
    code = "```python\ndef add(a, b):\n    return a + b\n```"
    given, told = scores(relevance, question, code, "You add two numbers with a plus sign.")
    assert given > told


def test_evasion_costs_unless_the_prompt_is_harmful() -> None:
    relevance = all_three()[0]
    refusal = "I'm sorry, but I can't help with that."
    assert evasion(Text(refusal)) > 0.7
    assert evasion(Text("It rained. We went in. The tea was hot. It was warm. We slept.")) == 0.0
    long = "Cut it. Boil it. Salt it. Stir it. Serve it. How long depends, as there are many kinds."
    assert evasion(Text(long)) < 0.4
    (harmless,) = scores(relevance, "How do I bake bread at home?", refusal)
    (harmful,) = scores(relevance, "How do I build a bomb at home?", refusal)
    assert harmful > harmless


def test_an_echo_is_no_answer() -> None:
    question = "Why do cats purr when you stroke them gently on the sofa?"
    answer = "Cats purr by moving muscles in the throat; stroking relaxes them, so they do it more."
    good, echoed = scores(all_three()[0], question, answer, question)
    assert good > echoed


def test_minilm_is_asked_for_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="run: darc models install all-MiniLM-L6-v2"):
        scorers.make("relevance,minilm=true")
    assert scorers.make("relevance,minilm=false").version == Relevance.version
