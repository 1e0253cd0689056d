import tracemalloc
import weakref
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.evaluation import judged_by_people
from darc.analysis.evaluate.run_contest import Splits, compare_rules, contest_of
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.report.contest_columns import (
    change_columns,
    mean_over_prompts,
    outcome_columns,
    tail_change_columns,
)
from darc.errors import InputError
from darc.ratings.joining import join
from darc.ratings.ratings import Halves
from darc.settings.validation import validate_settings

SETTINGS = ContestSettings(rules=("epsilon", "entropic", "worst"), splits=3, draws=50)


def test_numbers_by_plain_loops() -> None:
    source = make_source(10, 4, 6)
    contest = compare_rules(source, SETTINGS)
    for r in range(3):
        judge = source.halves("rater", r).judge.samples
        select = source.halves("rater", r).select.samples
        for a in range(4):
            for p in range(10):
                chosen = judge[p, 0, contest.choice[r, a, p]]
                assert contest.reward[r, a, p] == pytest.approx(chosen.mean())
                assert contest.risk[r, a, p] == pytest.approx(chosen.std(ddof=1))
                assert contest.length[r, a, p] == source.lengths[p, contest.choice[r, a, p]]
                both = contest.reward[r, a, p] - 2 * contest.risk[r, a, p]
                assert contest.tradeoff[r, a, p] == pytest.approx(both)
        for p in range(10):
            means = select[p, 0].mean(axis=1)
            assert means[contest.choice[r, 0, p]] == pytest.approx(means.max())
            spread = select[p, 0, contest.choice[r, 0, p]].std(ddof=1)
            assert contest.disagreement[r, p] == pytest.approx(spread)
        assert contest.high[r].sum() == 2
        inside = contest.high[r]
        outside = ~contest.high[r]
        assert contest.disagreement[r, inside].min() >= contest.disagreement[r, outside].max()


def test_best_of_k_against_itself_is_nothing_but_ties() -> None:
    contest = compare_rules(make_source(), SETTINGS)
    for values in (contest.reward, contest.tradeoff):
        found = change_columns(contest, values, contest.usable)
        assert [cells[0] for cells in found.values()] == [0.0, 0.0, 0.0]
    worst = tail_change_columns(contest, contest.usable)
    assert [cells[0] for cells in worst.values()] == [0.0, 0.0, 0.0]
    assert (contest.against(contest.reward)[:, 0] == 0).all()
    assert (contest.pairwise[:, 0] == 0).all()


def test_worst_of_one_scorer_is_best_of_k() -> None:
    contest = compare_rules(make_source(), SETTINGS)
    assert np.array_equal(contest.choice[:, contest.methods.index("worst")], contest.choice[:, 0])


def test_averages_over_prompts_then_splits() -> None:
    contest = compare_rules(make_source(25), SETTINGS)
    lowest = np.sort(contest.reward, axis=2)[:, :, :3]
    assert np.allclose(outcome_columns(contest, contest.usable)["cvar"], lowest.mean(axis=(0, 2)))
    assert np.allclose(
        mean_over_prompts(contest.reward, contest.usable), contest.reward.mean(axis=(0, 2))
    )


def test_sigma_of_the_selection_half_and_the_pools_largest() -> None:
    source = make_source(10, 4, 6)
    settings = ContestSettings(rules=("mean",), splits=2, draws=5, sigma="selection", subset="pool")
    contest = compare_rules(source, settings)
    for r in range(2):
        sigma = source.halves("rater", r).select.samples[:, 0].std(axis=2, ddof=1)
        assert np.allclose(contest.risk[r, 0], sigma[np.arange(10), contest.choice[r, 0]])
        assert np.allclose(contest.disagreement[r], sigma.max(axis=1))


def test_median_matching_and_held_out_bounds() -> None:
    contest = compare_rules(
        make_source(), ContestSettings(rules=("mean",), splits=2, lam=None, outcome="lcb")
    )
    assert contest.lam > 0
    assert (contest.outcome < contest.reward)[contest.risk > 0].all()


def test_median_matching_never_looks_at_what_it_judges() -> None:
    source = make_source(12, 4, 6)
    settings = ContestSettings(rules=("mean",), splits=2, lam=None)
    contest = compare_rules(source, settings)
    for r in range(2):
        select = source.halves("rater", r).select.samples[:, 0]
        expected = np.median(select.mean(axis=2)) / np.median(select.std(axis=2, ddof=1))
        assert np.allclose(contest.lambdas[r], expected)
    assert contest.lam == pytest.approx(contest.lambdas.mean())
    both = contest.reward - contest.lambdas[:, None, :] * contest.risk
    assert np.array_equal(contest.tradeoff, both)


def test_a_proxys_tradeoff_is_weighed_on_the_scale_of_the_ratings() -> None:
    proxy = make_source(12, 4, 6, kind="rewrite", name="run")
    proxy = replace(proxy, samples=1000 * proxy.samples - 9000)
    human = make_source(12, 4, 6, seed=3, name="people")
    settings = ContestSettings(rules=("mean",), lam=None)
    found = judged_by_people(join(proxy, human), settings).lambdas[0]
    # Each half of the prompts has one lambda, which its own ratings do not move.
    first = found == found[0]
    assert first.sum() == 6
    louder = human.samples.copy()
    louder[first] = 10 - 9 * (10 - louder[first])
    moved = judged_by_people(join(proxy, replace(human, samples=louder)), settings).lambdas[0]
    assert np.array_equal(moved[first], found[first])
    assert (moved[~first] != found[~first]).all()


def test_only_keeps_the_methods_asked_for() -> None:
    contest = compare_rules(make_source(), SETTINGS)
    less = contest.only([0, 2])
    assert less.methods == [contest.methods[0], contest.methods[2]]
    assert np.array_equal(less.reward, contest.reward[:, [0, 2]])


def test_the_same_seed_gives_the_same_study() -> None:
    one, two = (compare_rules(make_source(), SETTINGS) for _ in range(2))
    assert np.array_equal(one.choice, two.choice)
    assert np.array_equal(one.counts, two.counts)


def test_one_rating_each_cannot_be_held_out() -> None:
    with pytest.raises(InputError, match="both selecting and judging"):
        compare_rules(make_source(5, 3, 1), SETTINGS)


@pytest.mark.parametrize(
    "wrong", [{"splits": 0}, {"share": 0.0}, {"sigma": "both"}, {"outcome": "median"}]
)
def test_settings_are_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        validate_settings(ContestSettings, wrong)


def test_a_contest_keeps_no_samples_of_its_splits() -> None:
    source = make_source(6, 3, 4)
    settings = with_splits(8)
    seen: list[weakref.ref[object]] = []

    def halves() -> Iterator[Halves]:
        for half in Splits(source, settings):
            seen.extend(map(weakref.ref, (half.select.samples, half.judge.samples)))
            yield half
            assert sum(each() is not None for each in seen) <= 4

    contest = contest_of(source, halves(), settings, settings.methods, "rater")
    assert len(contest.usable) == len(seen) / 2 == 8
    assert not any(each() is not None for each in seen)


def test_more_splits_take_a_few_numbers_a_prompt_and_rule() -> None:
    source = make_source(60, 8, 9, 2, kind="rewrite")

    def peak(repeats: int) -> int:
        tracemalloc.start()
        compare_rules(source, with_splits(repeats))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)
    # Eight bytes a prompt and method, of six numbers and of what is made of them; a split's samples
    # would be a hundred times eight.
    assert (peak(22) - peak(2)) / 20 < 8 * 60 * 4 * 20


def with_splits(repeats: int) -> ContestSettings:
    return SETTINGS.model_copy(update={"splits": repeats})
