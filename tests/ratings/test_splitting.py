from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.helpers import make_source

from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.errors import InputError, UnknownName
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.settings.validation import validate_settings


def halves_mask(source: Ratings, split: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which samples select and which judge, found by giving every sample its own number."""
    numbers = np.arange(source.samples.size, dtype=float).reshape(source.samples.shape)
    numbered = replace(source, samples=np.where(np.isnan(source.samples), np.nan, numbers))
    halves = numbered.halves(split, seed)
    return np.isin(numbers, halves.select.samples), np.isin(numbers, halves.judge.samples)


@pytest.mark.parametrize("kind", ["rater", "rewrite"])
@pytest.mark.parametrize("scorers", [1, 2])
@pytest.mark.parametrize("split", ["auto", "sample"])
def test_poisoned_halves_change_nothing_on_the_other_side(
    kind: str, scorers: int, split: str
) -> None:
    source = make_source(15, 4, 7, scorers, kind=kind)
    settings = validate_settings(ContestSettings, {"split": split, "splits": 4, "draws": 10})
    clean = compare_rules(source, settings)
    for repeat in range(settings.splits):
        one = settings.model_copy(update={"seed": repeat, "splits": 1})
        select, judge = halves_mask(source, source.split_unit(split), repeat)
        assert not (select & judge).any()
        garbage = np.random.default_rng(repeat).normal(0, 1e6, source.samples.shape)
        poisoned = compare_rules(
            replace(source, samples=np.where(judge, garbage, source.samples)), one
        )
        assert poisoned.methods == clean.methods
        assert np.array_equal(poisoned.choice[0], clean.choice[repeat])
        assert np.array_equal(poisoned.high[0], clean.high[repeat])
        assert not np.array_equal(poisoned.reward[0], clean.reward[repeat])
        other = compare_rules(
            replace(source, samples=np.where(select, garbage, source.samples)), one
        )
        same = other.choice[0] == clean.choice[repeat]
        assert same.any()
        for name in ("reward", "risk"):
            left = getattr(other, name)[0]
            right = getattr(clean, name)[repeat]
            assert np.array_equal(left[same], right[same], equal_nan=True)


def test_a_panel_is_cut_in_two_equal_halves() -> None:
    source = make_source(5, 3, 6)
    assert source.raters_recur
    select, judge = halves_mask(source, "rater", 1)
    assert (select.sum(axis=3) == 3).all()
    assert (judge.sum(axis=3) == 3).all()
    assert len({row.tobytes() for row in select.reshape(-1, 6)}) == 1


def test_names_of_people_who_rated_nothing_do_not_count() -> None:
    source = make_source(5, 3, 4)
    more = replace(source, rater_names=[*source.rater_names, "x", "y", "z"])
    for seed in range(5):
        select, _ = halves_mask(more, "rater", seed)
        assert (select.sum(axis=3) == 2).all()
    rewrites = replace(more, kind="rewrite")
    assert (halves_mask(rewrites, "rewrite", 0)[0].sum(axis=3) == 2).all()


def test_either_half_of_an_odd_panel_can_be_larger() -> None:
    sizes = {
        int(halves_mask(make_source(2, 2, 5), "rater", s)[0].sum(axis=3)[0, 0, 0])
        for s in range(20)
    }
    assert sizes == {2, 3}


def test_raters_who_never_come_back_are_not_stable() -> None:
    source = make_source(6, 3, 4)
    raters = source.raters + 4 * np.arange(6)[:, None, None, None]
    source = replace(source, raters=raters, rater_names=[str(i) for i in range(24)])
    assert source.split_unit() == "sample"
    assert source.split_unit("rater") == "rater"
    select, judge = halves_mask(source, "sample", 0)
    assert (select.sum(axis=3) == 2).all()
    assert (judge.sum(axis=3) == 2).all()


def test_one_prompt_is_split_by_rater() -> None:
    assert make_source(1, 3, 4).split_unit() == "rater"


def test_prompts_without_both_halves_are_dropped() -> None:
    source = make_source(3, 2, 4)
    raters = source.raters.copy()
    samples = source.samples.copy()
    samples[0, :, :, 1:] = np.nan
    raters[0, :, :, 1:] = NOBODY
    source = replace(source, samples=samples, raters=raters)
    for seed in range(5):
        halves = source.halves("rater", seed)
        assert not halves.usable[0]
        assert np.isnan(halves.select.samples[0]).all()
        assert np.isnan(halves.judge.samples[0]).all()


def test_rewrites_have_the_same_numbers_for_all_candidates() -> None:
    source = make_source(4, 3, 9, scorers=2, kind="rewrite")
    assert source.split_unit() == "rewrite"
    select, _ = halves_mask(source, "rewrite", 0)
    assert (select == select[:, :1, :1]).all()
    assert len({row.tobytes() for row in select[:, 0, 0]}) > 1


def test_unknown_splits_are_refused() -> None:
    with pytest.raises(UnknownName):
        make_source().split_unit("raters")
    with pytest.raises(InputError):
        make_source(kind="rewrite").split_unit("rater")
