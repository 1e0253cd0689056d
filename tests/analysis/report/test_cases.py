import re

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import Evaluation, evaluate
from darc.analysis.evaluate.run_contest import Splits
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.cases import galleries
from darc.decide.standards import scale_of

SETTINGS = ContestSettings(rules=("epsilon", "lcb"), splits=2, draws=30)


@pytest.fixture(scope="module")
def result() -> Evaluation:
    proxy = make_source(kind="rewrite", scorers=2, name="run", seed=1)
    return evaluate([proxy, make_source(name="people")], SETTINGS)


def test_cases_are_those_of_the_first_split(result: Evaluation) -> None:
    for found, contest in zip(galleries(result), result.contests, strict=False):
        half = next(iter(Splits(contest.ratings, contest.settings)))
        place = contest.methods.index("epsilon")
        changed = np.flatnonzero(contest.choice[0, 0] != contest.choice[0, place])
        assert found.changed == len(changed)
        assert found.rule == "epsilon"
        prompts = list(contest.ratings.prompt_ids)
        for case in found.cases:
            p = prompts.index(case.prompt_id)
            assert p in changed
            assert (
                case.base.candidate_id == contest.ratings.candidate_ids[p][contest.choice[0, 0, p]]
            )
            judged = half.judge.samples[p, 0, contest.choice[0, place, p]]
            assert case.ours.judge[0] == judged[~np.isnan(judged)].tolist()
        gains = [case.gain for case in found.cases]
        better = [g for g in gains if g > 0]
        worse = [g for g in gains if g <= 0]
        assert better == sorted(better, reverse=True)
        assert worse == sorted(worse)
        if better and worse:
            assert gains[:2] == [better[0], worse[0]]


def captions(html: str) -> list[str]:
    return re.findall('<p class="dots-caption">(.*?)</p>', html)


def test_a_pair_shows_both_scales(result: Evaluation) -> None:
    cases = galleries(result)[-1].cases
    assert cases
    for case in cases:
        both = ["s0 scores that selected", "s1 scores that selected", "ratings held out"]
        assert captions(case.figure) == both * 2


def test_people_are_unhappy_below_the_middle_of_the_scale(result: Evaluation) -> None:
    gallery = galleries(result)[1]
    assert gallery.source == "people"
    for case in gallery.cases:
        assert captions(case.figure) == ["ratings that selected", "ratings held out"] * 2
        assert "Chosen by epsilon" in case.figure
        assert case.figure.index(case.ours.candidate_id) < case.figure.index("Best-of-K")
        low, high = scale_of(result.inputs[1].samples) or (0.0, 0.0)
        below = [v for v in case.base.judge[0] if v < (low + high) / 2]
        amount = f"{len(below)} of {len(case.base.judge[0])}" if below else "nobody"
        assert f"{amount} unhappy" in case.figure


def test_scores_of_rewrites_have_no_unhappy_marks(result: Evaluation) -> None:
    for case in galleries(result)[0].cases:
        assert "unhappy" not in case.figure
        assert case.figure.count("<title>average") == 8
