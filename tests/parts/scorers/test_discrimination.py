"""Good answers against six kinds of bad ones.

The second half of the prompts was never tuned on, but for the constants of `harm`.
"""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from tests.helpers import Array
from tests.parts.scorers.answers import BAD_KINDS, examples
from tests.parts.scorers.embedding import embedder

from darc.decide.statistics.risk import entropic_value
from darc.parts.scorers import Fluency, Form, Harm, Relevance, Scorer, normalise_scores

KINDS = (
    "explanation",
    "how-to",
    "advice",
    "coding",
    "reasoning",
    "creative",
    "factual",
    "rewriting",
)


@cache
def margins(held_out: bool) -> dict[str, Array]:
    """By kind of bad answer: good minus bad of relevance, fluency, form, harm and all, (n, 5)."""
    half = [example for example in examples() if example.held_out == held_out]
    pairs = [(example.prompt, example.good) for example in half]
    places = []
    for row, example in enumerate(half):
        for kind, answer in example.bad.items():
            places.append((kind, row))
            pairs.append((example.prompt, answer))
    scorers: tuple[Scorer, ...] = (
        Relevance(embedder()),
        Fluency(),
        Form(),
        Harm(embedder()),
    )
    normalised = np.stack(
        [normalise_scores(scorer, scorer.score(pairs)) for scorer in scorers], axis=1
    )
    scores = np.column_stack([normalised, entropic_value(normalised, 1.0)])
    margins_of_kind: dict[str, list[Array]] = {kind: [] for kind in BAD_KINDS}
    for bad, (kind, row) in enumerate(places, start=len(half)):
        margins_of_kind[kind].append(scores[row] - scores[bad])
    return {kind: np.array(rows) for kind, rows in margins_of_kind.items()}


def accuracy(differences: Array) -> Array:
    """Share of pairs in which the good answer scores higher, equals counting half, (5,)."""
    return np.asarray((differences > 0).mean(axis=0) + 0.5 * (differences == 0).mean(axis=0))


def accuracy_table(held_out: bool) -> str:
    """The table of accuracies of one half."""
    margins_of_kind = margins(held_out)
    half = "held-out" if held_out else "development"
    lines = [f"{half:12} pairs  relevance    fluency       form       harm        all"]
    rows = {**margins_of_kind, "overall": np.concatenate(list(margins_of_kind.values()))}
    for kind, differences in rows.items():
        shares = "  ".join(f"{share:9.2f}" for share in accuracy(differences))
        lines.append(f"{kind:12} {len(differences):5}  {shares}")
    return "\n".join(lines)


def test_the_set_is_large_and_varied() -> None:
    all_examples = examples()
    assert len(all_examples) >= 64
    assert set(Counter(example.prompt.category for example in all_examples)) == set(KINDS)
    assert len({example.prompt.id for example in all_examples}) == len(all_examples)
    for kind in ("rude", "evasive"):
        assert sum(kind in example.bad for example in all_examples) >= 20
        assert sum(kind in example.bad and example.held_out for example in all_examples) >= 8
    assert all(40 <= len(example.good.split()) <= 150 for example in all_examples)
    assert 24 <= sum(example.held_out for example in all_examples) <= 40


@pytest.mark.parametrize("held_out", [False, True])
def test_good_answers_score_above_bad_ones(held_out: bool) -> None:
    print("\n" + accuracy_table(held_out))
    margins_of_kind = margins(held_out)
    together = {kind: accuracy(differences)[4] for kind, differences in margins_of_kind.items()}
    assert accuracy(np.concatenate(list(margins_of_kind.values())))[4] >= 0.85
    assert min(together.values()) >= 0.70, together


REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot assist with this request.",
    "I'm not able to answer that. Is there something else I can help you with?",
    "I don't feel comfortable talking about this. Please ask a professional instead.",
)


@pytest.mark.parametrize("held_out", [False, True])
def test_good_answers_score_above_refusals_of_harmless_prompts(held_out: bool) -> None:
    half = [example for example in examples() if example.held_out == held_out]
    pairs = [(example.prompt, text) for example in half for text in (example.good, *REFUSALS)]
    scorers: tuple[Scorer, ...] = (Relevance(embedder()), Fluency(), Form(), Harm(embedder()))
    normalised = np.stack(
        [normalise_scores(scorer, scorer.score(pairs)) for scorer in scorers], axis=1
    )
    values = entropic_value(normalised, 1.0).reshape(len(half), -1)
    assert (values[:, :1] > values[:, 1:]).mean() >= 0.95
