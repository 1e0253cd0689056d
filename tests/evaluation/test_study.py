from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.helpers import make_source

from darc.errors import InputError
from darc.evaluation.evaluate import joined_study
from darc.evaluation.join import join
from darc.evaluation.split import draw_halves
from darc.evaluation.study import Settings, make_study
from darc.evaluation.tables.common import compared, compared_tail, mean_of, tail_of

SETTINGS = Settings(rules=("epsilon", "entropic", "worst"), repeats=3, draws=50)


def test_numbers_by_plain_loops() -> None:
    source = make_source(10, 4, 6)
    study = make_study(source, SETTINGS)
    for r in range(3):
        judge = draw_halves(source, "rater", r).judge
        select = draw_halves(source, "rater", r).select
        for a in range(4):
            for p in range(10):
                chosen = judge[p, 0, study.choice[r, a, p]]
                assert study.reward[r, a, p] == pytest.approx(chosen.mean())
                assert study.risk[r, a, p] == pytest.approx(chosen.std(ddof=1))
                assert study.length[r, a, p] == source.tokens[p, study.choice[r, a, p]]
                both = study.reward[r, a, p] - 2 * study.risk[r, a, p]
                assert study.tradeoff[r, a, p] == pytest.approx(both)
        for p in range(10):
            means = select[p, 0].mean(axis=1)
            assert means[study.choice[r, 0, p]] == pytest.approx(means.max())
            spread = select[p, 0, study.choice[r, 0, p]].std(ddof=1)
            assert study.disagreement[r, p] == pytest.approx(spread)
        assert study.high[r].sum() == 2
        inside, outside = study.high[r], ~study.high[r]
        assert study.disagreement[r, inside].min() >= study.disagreement[r, outside].max()


def test_best_of_k_against_itself_is_nothing_but_ties() -> None:
    study = make_study(make_source(), SETTINGS)
    for values in (study.reward, study.tradeoff):
        found = compared(study, values, study.kept)
        assert found.cells(0) == (0.0, 0.0, 0.0)
    assert compared_tail(study, study.kept).cells(0) == (0.0, 0.0, 0.0)
    assert (study.signs[:, 0] == 0).all()
    assert (study.pairwise[:, 0] == 0).all()


def test_worst_of_one_scorer_is_best_of_k() -> None:
    study = make_study(make_source(), SETTINGS)
    assert np.array_equal(study.choice[:, study.methods.index("worst")], study.choice[:, 0])


def test_averages_over_prompts_then_splits() -> None:
    study = make_study(make_source(25), SETTINGS)
    lowest = np.sort(study.reward, axis=2)[:, :, :3]
    assert np.allclose(tail_of(study.outcome, study.kept, 0.1), lowest.mean(axis=(0, 2)))
    assert np.allclose(mean_of(study.reward, study.kept), study.reward.mean(axis=(0, 2)))


def test_sigma_of_the_selection_half_and_the_pools_largest() -> None:
    source = make_source(10, 4, 6)
    settings = Settings(rules=("mean",), repeats=2, draws=5, sigma="selection", subset="pool")
    study = make_study(source, settings)
    for r in range(2):
        sigma = draw_halves(source, "rater", r).select[:, 0].std(axis=2, ddof=1)
        assert np.allclose(study.risk[r, 0], sigma[np.arange(10), study.choice[r, 0]])
        assert np.allclose(study.disagreement[r], sigma.max(axis=1))


def test_median_matching_and_held_out_bounds() -> None:
    study = make_study(make_source(), Settings(rules=("mean",), repeats=2, lam=None, outcome="lcb"))
    assert study.lam > 0
    assert (study.outcome < study.reward)[study.risk > 0].all()


def test_median_matching_never_looks_at_what_it_judges() -> None:
    source, settings = make_source(12, 4, 6), Settings(rules=("mean",), repeats=2, lam=None)
    study = make_study(source, settings)
    for r in range(2):
        select = draw_halves(source, "rater", r).select[:, 0]
        expected = np.median(select.mean(axis=2)) / np.median(select.std(axis=2, ddof=1))
        assert np.allclose(study.lambdas[r], expected)
    assert study.lam == pytest.approx(study.lambdas.mean())
    both = study.reward - study.lambdas[:, None, :] * study.risk
    assert np.array_equal(study.tradeoff, both)


def test_a_proxys_tradeoff_is_weighed_on_the_scale_of_the_ratings() -> None:
    proxy = make_source(12, 4, 6, kind="rewrite", name="run")
    proxy = replace(proxy, samples=1000 * proxy.samples - 9000)
    human = make_source(12, 4, 6, seed=3, name="people")
    settings = Settings(rules=("mean",), lam=None)
    found = joined_study(join(proxy, human), settings).lambdas[0]
    # Each half of the prompts has one lambda, which its own ratings do not move.
    first = found == found[0]
    assert first.sum() == 6
    louder = human.samples.copy()
    louder[first] = 10 - 9 * (10 - louder[first])
    moved = joined_study(join(proxy, replace(human, samples=louder)), settings).lambdas[0]
    assert np.array_equal(moved[first], found[first])
    assert (moved[~first] != found[~first]).all()


def test_only_keeps_the_methods_asked_for() -> None:
    study = make_study(make_source(), SETTINGS)
    less = study.only([0, 2])
    assert less.methods == [study.methods[0], study.methods[2]]
    assert np.array_equal(less.reward, study.reward[:, [0, 2]])


def test_the_same_seed_gives_the_same_study() -> None:
    one, two = (make_study(make_source(), SETTINGS) for _ in range(2))
    assert np.array_equal(one.choice, two.choice)
    assert np.array_equal(one.counts, two.counts)


def test_one_rating_each_cannot_be_held_out() -> None:
    with pytest.raises(InputError, match="both selecting and judging"):
        make_study(make_source(5, 3, 1), SETTINGS)


@pytest.mark.parametrize(
    "wrong", [{"repeats": 0}, {"share": 0.0}, {"sigma": "both"}, {"outcome": "median"}]
)
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Settings(**wrong)  # type: ignore[arg-type]
