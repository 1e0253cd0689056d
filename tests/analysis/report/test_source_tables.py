from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import evaluate
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.source_tables import source_table
from darc.ratings.ratings import Ratings

SETTINGS = ContestSettings(rules=("epsilon",), splits=3, draws=60)


def runs() -> list[Ratings]:
    """A base and a policy that answers the same prompts, in another order."""
    base = make_source(20, 4, 8, seed=1, kind="rewrite", name="base")
    policy = make_source(20, 4, 8, seed=2, kind="rewrite", name="policy")
    return [base, policy.subset(list(range(19, -1, -1)), [range(4)] * 20)]


def test_all_runs_have_the_high_variance_prompts_of_the_first() -> None:
    base, policy = evaluate(runs(), SETTINGS, ablations=False).contests
    for split in range(3):
        prompts = [
            {contest.ratings.prompt_ids[p] for p in np.flatnonzero(contest.high[split]).tolist()}
            for contest in (base, policy)
        ]
        assert prompts[0] == prompts[1]
    alone = compare_rules(policy.ratings, SETTINGS)
    assert (alone.high != policy.high).any()


def test_changes_are_against_the_best_of_k_of_the_base() -> None:
    result = evaluate(runs(), SETTINGS, ablations=False)
    frame = result.frame("base_changes")
    assert frame is not None
    base, policy = result.contests
    order = [base.ratings.prompt_ids.index(prompt) for prompt in policy.ratings.prompt_ids]
    for subset, mask in policy.subsets.items():
        difference = policy.reward[:, 1] - base.reward[:, 0][:, order]
        means = [difference[split][mask[split]].mean() for split in range(3)]
        row = frame.where(source="policy", method="epsilon", subset=subset).records()[0]
        assert row["delta_reward"] == pytest.approx(np.mean(means))
        low, delta, high = (float(str(row[f"{end}_reward"])) for end in ("low", "delta", "high"))
        assert low < delta < high
        base_row = frame.where(source="base", method="mean", subset=subset).records()[0]
        assert base_row["delta_tradeoff"] == 0
    assert "base" in frame.note


def test_other_prompts_are_not_compared() -> None:
    base, policy = runs()
    other = replace(policy, prompt_ids=[f"other {name}" for name in policy.prompt_ids])
    contests = [compare_rules(source, SETTINGS) for source in (base, other)]
    assert not len(source_table(contests))
    assert not len(source_table([]))


def test_people_s_ratings_keep_their_own_prompts() -> None:
    people = [make_source(20, 4, 6, seed=s, name=f"people {s}") for s in range(2)]
    result = evaluate(people, SETTINGS, ablations=False)
    for contest in result.contests:
        alone = compare_rules(contest.ratings, SETTINGS)
        assert (alone.high == contest.high).all()
