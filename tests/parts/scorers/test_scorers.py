"""What every scorer promises: batches, bounds, smoothness, speed, and answers in its own field."""

import subprocess
import sys
import time
from functools import cache

import numpy as np
import pytest
from tests.parts.scorers.answers import examples
from tests.parts.scorers.embedding import embedder

from darc.errors import UnknownName
from darc.parts.scorers import Fluency, Form, Relevance, Scorer, normalise_scores
from darc.registry import scorer, scorers
from darc.types import Message, Prompt

ODD = [
    "",
    " \n",
    "?",
    "\x00\ufffd",
    "```",
    "a" * 5000,
    "NO " * 300,
    "<|im_end|>",
    "é\u2019\u2013…",
    "1. \n2. ",
]
REWRITES = (
    ("don't", "do not"),
    ("isn't", "is not"),
    ("for example", "for instance"),
    ("because", "since"),
    ("**", ""),
    ("- ", "* "),
    (" so ", " and so "),
    (" often ", " frequently "),
)


@cache
def all_three() -> tuple[Scorer, ...]:
    """One of each, made once."""
    return Relevance(embedder()), Fluency(), Form()


def prompt(question: str) -> Prompt:
    return Prompt("p", (Message("user", question),))


def scores(which: Scorer, question: str, *answers: str) -> list[float]:
    return [float(score) for score in which.score([(prompt(question), text) for text in answers])]


def rewritten(text: str) -> str:
    for old, new in REWRITES:
        text = text.replace(old, new)
    return text


def test_the_table_makes_each_scorer_by_name() -> None:
    by_name = [scorers.make(name) for name in ("relevance", "fluency", "form")]
    assert [one.name for one in by_name] == ["relevance", "fluency", "form"]
    with pytest.raises(UnknownName, match="did you mean 'fluency'"):
        scorers.make("fluence")
    with pytest.raises(ValueError, match="already"):
        scorer("form")(Fluency)


@pytest.mark.parametrize("which", range(3))
def test_scores_are_finite_bounded_and_the_same_in_any_batch(which: int) -> None:
    one = all_three()[which]
    pairs = [(example.prompt, example.good) for example in examples()[:12]]
    pairs += [(prompt(question), text) for text in ODD for question in ("Why?", "", "\ufffd")]
    together = one.score(pairs)
    assert together.shape == (len(pairs),)
    assert np.isfinite(together).all()
    low, high = one.bounds
    assert ((low <= together) & (together <= high)).all()
    assert one.location is not None
    assert one.scale is not None
    assert low < one.location < high
    assert one.scale > 0
    alone = np.concatenate([one.score([pair]) for pair in pairs])
    assert np.allclose(alone, together, rtol=0, atol=1e-6)
    assert one.score([]).shape == (0,)


@pytest.mark.parametrize("which", range(3))
def test_hostile_texts_take_no_longer_than_others(which: int) -> None:
    one = all_three()[which]
    for unit in (
        "[",
        "A",
        "a1",
        "\n",
        "} ",
        "`",
        "```\n",
        "* ",
        "(",
        "I can't ",
        "f(x",
        "'a",
        "<|",
    ):
        text = "Yes\n" + unit * (20_000 // len(unit))
        started = time.perf_counter()
        one.score(
            [(prompt("Why?"), text), (prompt(text), "Because."), (prompt("Why?"), text + "!")]
        )
        assert time.perf_counter() - started < 2.0, unit


@pytest.mark.parametrize("which", range(3))
def test_rewrites_move_a_score_a_little(which: int) -> None:
    one = all_three()[which]
    half = [example for example in examples() if not example.held_out]
    before = one.score([(example.prompt, example.good) for example in half])
    after = one.score([(example.prompt, rewritten(example.good)) for example in half])
    moved = np.abs(normalise_scores(one, after) - normalise_scores(one, before))
    changed = np.array([rewritten(example.good) != example.good for example in half])
    print(f"{one.name}: mean move {moved[changed].mean():.3f}, largest {moved.max():.3f}")
    assert moved.max() < 1.0
    assert 0.0 < moved[changed].mean() < 0.3
    assert (moved[changed] > 0).mean() > 0.5


def test_each_is_quick() -> None:
    all_examples = examples()
    texts = [
        " ".join(f"{a.good}\n\n{b.good}\n\n{c.good}".split(" ")[:200])
        for a, b, c in zip(all_examples, all_examples[1:], all_examples[2:], strict=False)
    ]
    pairs = [(example.prompt, text) for example, text in zip(all_examples, texts, strict=False)]
    for one in (Relevance(embedder()), Fluency(), Form()):
        one.score(pairs[:1])
        started = time.perf_counter()
        one.score(pairs[1:])
        milliseconds = 1000 * (time.perf_counter() - started) / len(pairs[1:])
        print(f"{one.name}: {milliseconds:.2f} ms per text of 200 words, goal 2")
        assert milliseconds < 10  # five times the goal, for busy machines


def test_importing_loads_no_model() -> None:
    heavy = "{'harper', 'tokenizers', 'safetensors', 'wordllama', 'torch'}"
    program = f"import sys, darc.parts.scorers; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_they_measure_different_things() -> None:
    pairs = [(example.prompt, text) for example in examples() for text in example.bad.values()]
    columns = np.stack([one.score(pairs) for one in all_three()])
    correlation = np.asarray(np.corrcoef(columns))[np.triu_indices(3, 1)]
    print("correlations over bad answers:", np.round(correlation, 2))
    assert np.abs(correlation).max() < 0.6
