import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from darc.errors import DarcError
from darc.perturb import RulesRewriter
from darc.pipeline.choose import choose
from darc.pipeline.embedded import embedded_engine
from darc.pipeline.engine import Engine
from darc.pipeline.rule_spec import parse_rules
from darc.types import Candidate, Message, Prompt

PROMPT = Prompt("tides", (Message("user", "Why are there two high tides a day?"),))
SET = Path(__file__).parents[1] / "scorers" / "discrimination.jsonl"


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(PROMPT.id, index, text) for index, text in enumerate(texts)]


class CountingScorer:
    """Scores a text by the share of its letters that are vowels, and counts what it is asked."""

    name, location, scale, bounds = "vowels", 0.4, 0.05, (0.0, 1.0)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, pairs: Any) -> Any:
        self.asked += [text for _, text in pairs]
        return np.array([sum(c in "aeiou" for c in text) / len(text) for _, text in pairs])


ANSWERS = candidates(
    "The water rises because the Moon pulls on it, and it rises on both sides.",
    "Bulges form on the near side and on the far side, so a coast meets two of them.",
    "Rhythms fly by; why try?",
    "The Moon pulls hardest on the near side and weakest on the far side of the planet.",
)


@pytest.mark.parametrize("rule", ["epsilon", "entropic", "tau:tau=0.3", "penalty", "mean"])
def test_lazy_choice_is_the_full_choice(rule: str) -> None:
    (spec,) = parse_rules([rule], {})
    lazy_scorer, full_scorer = CountingScorer(), CountingScorer()
    rewriter = RulesRewriter()
    lazy = choose(Engine(rewriter, [lazy_scorer], 4), PROMPT, ANSWERS, spec)
    full = choose(Engine(rewriter, [full_scorer], 4), PROMPT, ANSWERS, spec, lazily=False)
    assert lazy.decision.index == full.decision.index
    assert lazy.calls <= full.calls
    seen = ~np.isnan(lazy.scores)
    assert np.array_equal(lazy.scores[seen], full.scores[seen])
    assert full.why_not(full.decision.index) == ""
    assert all(full.why_not(k) for k in range(4) if k != full.decision.index)


def test_equal_texts_are_scored_once() -> None:
    scorer = CountingScorer()
    engine = Engine(RulesRewriter(), [scorer], 2)
    engine.score(PROMPT, ["one text", "another", "one text"])
    assert scorer.asked == ["one text", "another"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda pairs: np.full(len(pairs), np.nan), "gave no number for prompt 'tides'"),
        (lambda pairs: np.zeros(len(pairs) + 1), "numbers for"),
        (lambda pairs: 1 / 0, "scorer 'vowels' failed on prompt 'tides' (division by zero)"),
    ],
)
def test_scorer_that_fails_is_named(answer: Any, words: str) -> None:
    scorer = CountingScorer()
    scorer.score = answer  # type: ignore[method-assign]
    (spec,) = parse_rules(["epsilon"], {})
    with pytest.raises(DarcError) as caught:
        choose(Engine(RulesRewriter(), [scorer], 2), PROMPT, ANSWERS, spec)
    assert words in str(caught.value)


def test_good_answers_win_with_the_embedded_scorers() -> None:
    rows = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    rude = [row for row in rows if row.get("rude")][:8]
    (spec,) = parse_rules(["epsilon"], {})
    engine = embedded_engine(n_aug=4)
    wins = 0
    for row, other in zip(rude, rude[1:] + rude[:1], strict=True):
        prompt = Prompt(row["id"], (Message("user", row["prompt"]),))
        texts = [row["rude"], other["good"], row["good"], row["good"][:120]]
        own = [Candidate(prompt.id, index, text) for index, text in enumerate(texts)]
        story = choose(engine, prompt, own, spec)
        wins += story.decision.index == 2
        assert story.calls < 4 * 5
    assert wins >= 7
