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
        for case in found.gains + found.losses:
            p = prompts.index(case.prompt_id)
            assert p in changed
            assert (
                case.base.candidate_id == contest.source.candidate_ids[p][contest.choice[0, 0, p]]
            )
            judged = half.judge[p, 0, contest.choice[0, place, p]]
            assert case.ours.judge[0] == judged[~np.isnan(judged)].tolist()
        gains = [case.gain for case in found.gains]
        assert gains == sorted(gains, reverse=True)
        assert all(case.gain <= 0 for case in found.losses)


def test_a_pair_shows_both_scales(result: Evaluation) -> None:
    joined = galleries(result)[-1]
    assert joined.scorers == ["s0", "s1"]
    assert joined.judges == [""]
