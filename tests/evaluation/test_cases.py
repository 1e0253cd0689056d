import numpy as np
import pytest
from tests.evaluation.helpers import make_source

from darc.evaluation.cases import galleries
from darc.evaluation.contest import ContestSettings, Splits
from darc.evaluation.evaluate import Evaluation, evaluate

SETTINGS = ContestSettings(rules=("epsilon", "lcb"), repeats=2, draws=30)


@pytest.fixture(scope="module")
def result() -> Evaluation:
    proxy = make_source(kind="rewrite", scorers=2, name="run", seed=1)
    return evaluate([proxy, make_source(name="people")], SETTINGS)


def test_cases_are_those_of_the_first_split(result: Evaluation) -> None:
    for found, contest in zip(galleries(result), result.contests, strict=False):
        half = next(iter(Splits(contest.source, contest.settings)))
        place = contest.methods.index("epsilon")
        changed = np.flatnonzero(contest.choice[0, 0] != contest.choice[0, place])
        assert found.changed == len(changed)
        assert found.rule == "epsilon"
        prompts = list(contest.source.prompt_ids)
        for case in found.cases:
            p = prompts.index(case.prompt_id)
            assert p in changed
            assert (
                case.base.candidate_id == contest.source.candidate_ids[p][contest.choice[0, 0, p]]
            )
            judged = half.judge[p, 0, contest.choice[0, place, p]]
            assert case.ours.judge[0] == judged[~np.isnan(judged)].tolist()
        gains = [case.gain for case in found.cases]
        better, worse = [g for g in gains if g > 0], [g for g in gains if g <= 0]
        assert better == sorted(better, reverse=True)
        assert worse == sorted(worse)
        if better and worse:
            assert gains[:2] == [better[0], worse[0]]


def test_a_pair_shows_both_scales(result: Evaluation) -> None:
    for case in galleries(result)[-1].cases:
        for _, _, strips in case.sides:
            assert [name for name, _ in strips] == ["s0", "s1", ""]
