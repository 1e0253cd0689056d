from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import evaluate, judged_by_people
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.family_tables import family_agreement_table, family_table
from darc.errors import InputError
from darc.ratings.joining import join
from darc.ratings.ratings import Ratings

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=60)


def families() -> list[Ratings]:
    """Runs of two families, one of them with its prompts in another order and one prompt less."""
    style, targeted = (
        make_source(15, 4, 6, seed=s, kind="rewrite", name=family, family=family)
        for s, family in enumerate(("style", "targeted"))
    )
    return [targeted.subset(list(range(13, -1, -1)), [range(4)] * 14), style]


def test_families_stand_side_by_side() -> None:
    sources = families()
    people = make_source(15, 4, 6, seed=9, name="people")
    contests = [compare_rules(source, SETTINGS) for source in [*sources, people]]
    frame = family_table(contests)
    assert set(frame.column("family")) == {"style", "targeted"}
    assert set(frame.column("judge")) == {"its own rewrites"}
    assert not len(family_table(contests[1:]))
    targeted, style = contests[:2]
    for split in range(SETTINGS.splits):
        wanted = {style.ratings.prompt_ids[p] for p in np.flatnonzero(style.high[split]).tolist()}
        rows = [p for p, name in enumerate(targeted.ratings.prompt_ids) if name in wanted]
        alone = [replace_splits(each, split) for each in (targeted, style)]
        row = family_table(alone).where(family="targeted", slice="stress", method="epsilon")
        a = targeted.methods.index("epsilon")
        assert row.column("prompts") == [len(rows)]
        assert row.column("reward") == [pytest.approx(targeted.reward[split, a, rows].mean())]


def test_people_judge_families_where_they_are_joined() -> None:
    people = make_source(15, 4, 6, seed=9, name="people")
    sources = [*families(), make_source(15, 4, 6, seed=5, kind="rewrite", name="log")]
    pairs = [join(source, people) for source in sources]
    with_studies = [(pair, judged_by_people(pair, SETTINGS)) for pair in pairs]
    frame = family_table([compare_rules(source, SETTINGS) for source in sources], with_studies)
    assert set(frame.column("judge")) == {"people"}
    assert set(frame.column("family")) == {"style", "targeted"}
    assert set(frame.column("source")) == {"style judged by people", "targeted judged by people"}
    style = with_studies[1]
    targeted = with_studies[0]
    slices = {}
    high = np.flatnonzero(style[1].high[0]).tolist()
    wanted = {style[1].ratings.prompt_ids[p] for p in high}
    for pair, contest in (style, targeted):
        rows = [p for p, name in enumerate(contest.ratings.prompt_ids) if name in wanted]
        slices[pair.proxy.family] = len(rows)
        found = frame.where(family=pair.proxy.family, slice="stress", method="mean")
        assert found.column("reward") == [pytest.approx(contest.reward[0, 0, rows].mean())]
    agreement = family_agreement_table(with_studies, 20, 0)
    assert set(agreement.column("metric")) >= {"spearman", "jaccard@20%"}
    assert set(agreement.column("family")) == {"style", "targeted"}
    for family, prompts in slices.items():
        stress = agreement.where(slice="stress", family=family)
        assert set(stress.column("n")) == {4 * prompts}
    one_family = [with_studies[1], with_studies[2]]
    assert not len(family_agreement_table(one_family, 20, 0))


def test_a_listed_stress_slice_is_used_for_every_family() -> None:
    people = make_source(15, 4, 6, seed=9, name="people")
    pairs = [join(source, people) for source in families()]
    judged = [(pair, judged_by_people(pair, SETTINGS)) for pair in pairs]
    stress = frozenset(people.prompt_ids[2:6])
    frame = family_table([], judged, stress)
    for pair, contest in judged:
        places = [p for p, name in enumerate(contest.ratings.prompt_ids) if name in stress]
        row = frame.where(family=pair.proxy.family, slice="stress", method="mean")
        assert row.column("prompts") == [4]
        assert row.column("reward") == [pytest.approx(contest.reward[0, 0, places].mean())]
    assert "4 that were listed" in frame.note
    agreement = family_agreement_table(judged, 20, 0, stress)
    assert set(agreement.where(slice="stress").column("n")) == {4 * 4}


def test_a_stress_slice_of_other_prompts_is_refused() -> None:
    with pytest.raises(InputError, match="stress slice"):
        evaluate(families(), SETTINGS.model_copy(update={"stress": frozenset({"other"})}))


def test_ids_that_no_source_has_are_told() -> None:
    sources = families()
    stress = frozenset({sources[1].prompt_ids[0], "other"})
    settings = SETTINGS.model_copy(update={"stress": stress})
    warnings = evaluate(sources, settings, ablations=False).warnings
    assert any("1 of the 2 prompt ids" in text for text in warnings)
    unused = evaluate(sources[1:], settings, ablations=False).warnings
    assert any("stress slice was not used" in warning for warning in unused)


def replace_splits(contest: Contest, split: int) -> Contest:
    """The study of one of its splits."""
    names = ("choice", "reward", "risk", "outcome", "usable", "high", "disagreement")
    return replace(contest, **{name: getattr(contest, name)[[split]] for name in names})
