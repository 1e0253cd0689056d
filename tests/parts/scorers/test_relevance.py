"""Relevance: type of answer, evasion, echo."""

from pathlib import Path

import pytest
from tests.parts.scorers.test_scorers import all_three, scores

from darc.errors import InputError
from darc.language.text import Text
from darc.models.catalogue import MINILM, lookup
from darc.models.installed import Installed, model_folder, stamp_of, write_note
from darc.parts.scorers.evasion import evasion
from darc.parts.scorers.relevance import Relevance
from darc.registry import scorers


@pytest.fixture
def minilm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a MiniLM that is installed, but for its weights."""
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    folder = model_folder(lookup(MINILM), tmp_path)
    folder.mkdir(parents=True)
    weights = folder / "model.safetensors"
    weights.write_text("weights")
    relevance_scorer = Installed(
        MINILM, weights, "0" * 64, 7, lookup(MINILM).sha256, "F32", stamp_of(weights)
    )
    write_note(relevance_scorer)
    return folder


def test_the_kind_of_answer_counts() -> None:
    relevance = all_three()[0]
    question = "How many legs does a spider have?"
    number, none = scores(relevance, question, "A spider has 8 legs.", "A spider has some legs.")
    assert number > none
    question = "Write a Python function that adds two numbers."
    code = "```python\ndef add(a, b):\n    return a + b\n```"
    code_score, prose_score = scores(
        relevance, question, code, "You add two numbers with a plus sign."
    )
    assert code_score > prose_score


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


def test_embeddings_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DARC_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="run: darc models install minilm"):
        scorers.make("relevance,embeddings=minilm")
    with pytest.raises(InputError, match="one of auto, static, minilm"):
        scorers.make("relevance,embeddings=maxilm")
    relevance_scorer = scorers.make("relevance")
    assert (relevance_scorer.version, relevance_scorer.embeddings) == (
        Relevance.version,
        "wordllama-256",
    )


def test_minilm_is_used_where_it_is_installed(minilm: Path) -> None:
    relevance_scorer = scorers.make("relevance")
    static = scorers.make("relevance,embeddings=static")
    assert (relevance_scorer.embeddings, static.embeddings) == ("all-MiniLM-L6-v2", "wordllama-256")
    assert relevance_scorer.version == scorers.make("relevance,embeddings=minilm").version
    assert relevance_scorer.version != static.version == Relevance.version
    assert relevance_scorer.location != static.location == Relevance.location
    weights = minilm / "model.safetensors"
    weights.write_text("other weights")
    with pytest.raises(InputError, match="changed on disk"):
        scorers.make("relevance")
