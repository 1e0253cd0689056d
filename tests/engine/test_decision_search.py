from typing import Any

import numpy as np
import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels, at_once

from darc.engine.engine import Engine
from darc.engine.failures import PartFailed
from darc.engine.scoring import ScorerRetry
from darc.errors import DarcError


@pytest.mark.parametrize("rule", ["auto", "epsilon", "entropic", "tau:tau=0.3", "penalty", "mean"])
def test_lazy_choice_is_the_full_choice(rule: str) -> None:
    with Engine(scorers=[Vowels()], rule=rule, n_aug=4) as engine:
        lazy = engine.choose(PROMPT, ANSWERS)
        full = engine.choose(PROMPT, ANSWERS, score_everything=True)
    assert lazy.index == full.index
    assert lazy.calls <= full.calls
    seen = ~np.isnan(lazy.scores.values)
    assert np.array_equal(lazy.scores.values[seen], full.scores.values[seen])
    assert full.scores.complete
    assert full.why_not(full.index) == ""
    assert all(full.why_not(k) for k in range(4) if k != full.index)


@pytest.mark.parametrize(
    "rule",
    ["auto", "epsilon", "entropic", "tau:tau=0.3", "tau", "penalty", "cvar", "lcb", "mean"],
)
def test_lazy_choice_without_the_original_is_the_full_one(rule: str) -> None:
    with Engine(scorers=[Vowels()], rule=rule, n_aug=4, include_original=False) as engine:
        lazy = engine.choose(PROMPT, ANSWERS, wave=2)
        full = engine.choose(PROMPT, ANSWERS, score_everything=True)
    assert lazy.index == full.index
    assert lazy.decision is not None
    assert full.decision is not None
    assert lazy.calls <= lazy.most == full.most == 16
    assert np.isnan(full.scores.values[:, :, 0]).all()
    counts = [len(own) for own in full.variants]
    assert full.decision.statistics.count.tolist() == counts
    assert full.calls == sum(counts)
    seen = ~np.isnan(lazy.scores.values)
    assert np.array_equal(lazy.scores.values[seen], full.scores.values[seen])


@pytest.mark.parametrize("full", [True, False])
def test_originals_count_where_no_rewrite_was_accepted(full: bool) -> None:
    class Silent:
        name = "silent"

        def rewrite(self, *_: Any) -> list[str]:
            return []

    silent: dict[str, Any] = {"rewriter": Silent(), "include_original": False}
    with Engine(scorers=[Vowels()], n_aug=4, **silent) as engine:
        outcome = engine.choose(PROMPT, ANSWERS, score_everything=full)
    own = Vowels().score([(PROMPT, answer.text) for answer in ANSWERS])
    assert outcome.scores.values[0, :, 0].tolist() == own.tolist()
    assert outcome.index == int(np.argmax(own))
    assert "no_rewrites" in outcome.flags
    assert "the originals were scored" in outcome.explain()


def test_what_goes_wrong_is_flagged_unless_strict() -> None:
    class Broken(Vowels):
        def score(self, pairs: Any) -> Any:
            raise RuntimeError("broken")

    scorers = [Vowels(), Broken("other")]
    with Engine(scorers=scorers, n_aug=2, retry=ScorerRetry(sleep=at_once)) as engine:
        outcome = engine.choose(PROMPT, ANSWERS, strict=False)
        assert "scorer_failed:other" in outcome.flags
        assert "scorer other failed and was left out" in outcome.explain()
        few = engine.choose(PROMPT, ANSWERS, strict=False, max_calls=2)
        assert "budget_calls" in few.flags
        assert few.calls == 2


def test_a_strict_decision_says_which_part_failed() -> None:
    class Broken(Vowels):
        def score(self, pairs: Any) -> Any:
            raise RuntimeError("broken")

    scorers = [Vowels(), Broken("other")]
    with Engine(scorers=scorers, n_aug=0, retry=ScorerRetry(attempts=1)) as engine:
        with pytest.raises(PartFailed, match="scorer other failed"):
            engine.run(engine.decide(PROMPT, ANSWERS))
        with pytest.raises(DarcError, match="broken"):
            engine.choose(PROMPT, ANSWERS)
