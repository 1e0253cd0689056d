import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.pipeline.makers import Vowels

from darc.errors import DarcError, InputError
from darc.perturb import RulesRewriter
from darc.pipeline.choose import choose
from darc.pipeline.engine import Engine
from darc.pipeline.parts import Parts
from darc.pipeline.rule_spec import parse_rules
from darc.pipeline.scoring import Patience
from darc.types import Candidate, Message, Prompt

PROMPT = Prompt("tides", (Message("user", "Why are there two high tides a day?"),))
SET = Path(__file__).parents[1] / "scorers" / "discrimination.jsonl"


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(PROMPT.id, index, text) for index, text in enumerate(texts)]


ANSWERS = candidates(
    "The water rises because the Moon pulls on it, and it rises on both sides.",
    "Bulges form on the near side and on the far side, so a coast meets two of them.",
    "Rhythms fly by; why try?",
    "The Moon pulls hardest on the near side and weakest on the far side of the planet.",
)


@pytest.mark.parametrize("rule", ["epsilon", "entropic", "tau:tau=0.3", "penalty", "mean"])
def test_lazy_choice_is_the_full_choice(rule: str) -> None:
    (spec,) = parse_rules([rule], {})
    lazy_scorer, full_scorer = Vowels(), Vowels()
    rewriter = RulesRewriter()
    lazy = choose(Engine(rewriter, [lazy_scorer], 4), PROMPT, ANSWERS, spec)
    full = choose(Engine(rewriter, [full_scorer], 4), PROMPT, ANSWERS, spec, lazily=False)
    assert lazy.decision.index == full.decision.index
    assert lazy.calls <= full.calls
    seen = ~np.isnan(lazy.scores)
    assert np.array_equal(lazy.scores[seen], full.scores[seen])
    assert full.why_not(full.decision.index) == ""
    assert all(full.why_not(k) for k in range(4) if k != full.decision.index)


@pytest.mark.parametrize(
    "rule", ["epsilon", "entropic", "tau:tau=0.3", "tau", "penalty", "cvar", "lcb", "mean"]
)
def test_lazy_choice_without_the_original_is_the_full_one(rule: str) -> None:
    (spec,) = parse_rules([rule], {})
    engine = Engine(RulesRewriter(), [Vowels()], 4, include_original=False)
    lazy = choose(engine, PROMPT, ANSWERS, spec, batch=2)
    full = choose(engine, PROMPT, ANSWERS, spec, lazily=False)
    assert lazy.decision.index == full.decision.index
    assert lazy.decision.calls is not None
    assert lazy.calls <= lazy.decision.calls <= lazy.most == full.most == 16
    assert np.isnan(full.scores[:, :, 0]).all()
    counts = [len(own) for own in full.variants]
    assert full.decision.statistics.count.tolist() == counts
    assert full.calls == sum(counts)
    seen = ~np.isnan(lazy.scores)
    assert np.array_equal(lazy.scores[seen], full.scores[seen])
    for k, own in enumerate(full.variants):
        texts = [(PROMPT, variant.text) for variant in own]
        assert full.scores[0, k, 1 : len(own) + 1].tolist() == Vowels().score(texts).tolist()


@pytest.mark.parametrize("lazily", [True, False])
def test_originals_count_where_no_rewrite_was_accepted(lazily: bool) -> None:
    class Silent(RulesRewriter):
        def rewrite(self, *_: Any) -> list[str]:
            return []

    (spec,) = parse_rules(["epsilon"], {})
    engine = Engine(Silent(), [Vowels()], 4, include_original=False)
    story = choose(engine, PROMPT, ANSWERS, spec, lazily=lazily)
    own = Vowels().score([(PROMPT, answer.text) for answer in ANSWERS])
    assert story.scores[0, :, 0].tolist() == own.tolist()
    assert story.decision.index == int(np.argmax(own))
    assert "no_rewrites" in story.decision.flags
    assert "the originals were scored" in story.decision.explain()


def test_a_rule_that_wants_the_original_is_refused_without_it() -> None:
    (spec,) = parse_rules(["poisson:reward=original"], {})
    engine = Engine(RulesRewriter(), [Vowels()], 4, include_original=False)
    with pytest.raises(InputError, match="'poisson' with reward=original needs the original"):
        choose(engine, PROMPT, ANSWERS, spec)


@pytest.mark.parametrize("most", [1, 3, 50])
def test_attempts_are_counted(most: int) -> None:
    engine = Engine(RulesRewriter(), [Vowels()], 8, max_attempts=most)
    for made in engine.rewrite(PROMPT, ANSWERS):
        assert len(made.variants) + len(made.rejections) <= most
    assert any(
        len(made.variants) + len(made.rejections) >= min(most, 8)
        for made in engine.rewrite(PROMPT, ANSWERS)
    )


def test_scorer_that_fails_is_named() -> None:
    scorer = Vowels()
    scorer.score = lambda pairs: 1 / 0  # type: ignore[method-assign]
    (spec,) = parse_rules(["epsilon"], {})
    engine = Engine(RulesRewriter(), [scorer], 2, patience=Patience(sleep=lambda seconds: None))
    with pytest.raises(DarcError, match=r"scorer 'vowels', prompt 'tides': .*division by zero"):
        choose(engine, PROMPT, ANSWERS, spec)


def test_several_scorers_without_constants_are_scored_in_full() -> None:
    scorers = [Vowels(), Vowels("other")]
    for scorer in scorers:
        scorer.location = scorer.scale = None
    (spec,) = parse_rules(["epsilon"], {})
    story = choose(Engine(RulesRewriter(), scorers, 2), PROMPT, ANSWERS, spec)
    assert not story.decision.bounded
    assert np.isfinite(story.scores[:, :, 0]).all()
    with pytest.raises(InputError, match="not every scorer has a fixed location"):
        choose(Engine(RulesRewriter(), scorers, 2), PROMPT, ANSWERS, spec, normalize="fixed")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_aug": -1}, "n_aug"),
        ({"n_aug": 0, "include_original": False}, "nothing to score"),
        ({"max_attempts": 0}, "max_attempts is 0"),
        ({"scorers": []}, "no scorer"),
        ({"scorers": [1, 1]}, "twice"),
    ],
)
def test_engine_refuses(change: dict[str, Any], words: str) -> None:
    settings = {"scorers": [Vowels()], "n_aug": 2, **change}
    settings["scorers"] = [Vowels() for _ in settings["scorers"]]
    with pytest.raises(InputError, match=words):
        Engine(RulesRewriter(), **settings)


def test_good_answers_win_with_the_embedded_scorers() -> None:
    rows = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    rude = [row for row in rows if row.get("rude")][:8]
    (spec,) = parse_rules(["epsilon"], {})
    engine = Parts(n_aug=4).engine()
    wins = 0
    for row, other in zip(rude, rude[1:] + rude[:1], strict=True):
        prompt = Prompt(row["id"], (Message("user", row["prompt"]),))
        texts = [row["rude"], other["good"], row["good"], row["good"][:120]]
        own = [Candidate(prompt.id, index, text) for index, text in enumerate(texts)]
        story = choose(engine, prompt, own, spec)
        wins += story.decision.index == 2
        assert story.calls < 4 * 5
    assert wins >= 7
