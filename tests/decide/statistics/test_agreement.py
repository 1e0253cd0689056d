from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from darc.decide.statistics.agreement import alpha_interval, krippendorff_alpha
from darc.errors import InputError, UnknownName

Array = NDArray[np.float64]

repeatable = settings(derandomize=True, max_examples=60, deadline=None, database=None)
LEVELS = ("interval", "ordinal", "nominal")
nan = np.nan

# Krippendorff (2011), 4 observers by 12 units.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
).T


@st.composite
def tables(draw: st.DrawFn) -> Array:
    units = draw(st.integers(1, 8))
    raters = draw(st.integers(2, 5))
    rating = st.one_of(st.none(), st.integers(0, 4), st.floats(-5, 5).map(lambda x: round(x, 2)))
    cells = draw(st.lists(rating, min_size=units * raters, max_size=units * raters))
    flat = [nan if cell is None else float(cell) for cell in cells]
    return np.array(flat).reshape(units, raters)


def random_table(seed: int, units: int = 30, raters: int = 5) -> Array:
    generator = np.random.default_rng(seed)
    truth = generator.normal(5.0, 2.0, (units, 1))
    table = np.round(truth + generator.normal(0.0, 1.5, (units, raters)))
    table[generator.random(table.shape) < 0.35] = nan
    return np.asarray(table)


@pytest.mark.parametrize(
    ("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_published_example(level: str, alpha: float) -> None:
    assert round(krippendorff_alpha(PUBLISHED, level), 3) == alpha


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(10))
def test_matches_the_reference_package(level: str, seed: int) -> None:
    table = random_table(seed)
    expected: Any = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
    assert krippendorff_alpha(table, level) == pytest.approx(expected, abs=1e-12)


@repeatable
@given(tables(), st.sampled_from(LEVELS))
def test_matches_pair_by_pair_counting(table: Array, level: str) -> None:
    rows = [row[~np.isnan(row)] for row in table]
    rows = [row for row in rows if row.size >= 2]
    pool = np.concatenate(rows) if rows else np.empty(0)

    def distance(one: float, two: float) -> float:
        if level == "nominal":
            return float(one != two)
        if level == "interval":
            return (one - two) ** 2
        low, high = sorted((one, two))
        between = np.sum((pool >= low) & (pool <= high))
        return float(between - (np.sum(pool == low) + np.sum(pool == high)) / 2) ** 2

    def total(row: Array) -> float:
        return sum(distance(float(a), float(b)) for a in row for b in row)

    expected = total(pool) / max(pool.size - 1, 1)
    found = krippendorff_alpha(table, level)
    if expected == 0:
        assert np.isnan(found)
    else:
        observed = sum(total(row) / (row.size - 1) for row in rows)
        assert found == pytest.approx(1.0 - observed / expected, abs=1e-10)


@repeatable
@given(tables(), st.randoms(use_true_random=False))
def test_order_of_units_and_raters_does_not_matter(table: Array, random: Any) -> None:
    units = list(range(table.shape[0]))
    raters = list(range(table.shape[1]))
    random.shuffle(units)
    random.shuffle(raters)
    for level in LEVELS:
        assert krippendorff_alpha(table[units][:, raters], level) == pytest.approx(
            krippendorff_alpha(table, level), abs=1e-12, nan_ok=True
        )


@repeatable
@given(tables(), st.floats(-1e6, 1e6), st.sampled_from([1e-200, 1e-3, 1.0, 40.0]))
def test_interval_ignores_place_and_scale(table: Array, shift: float, scale: float) -> None:
    alpha = krippendorff_alpha(table)
    assert krippendorff_alpha(table * -scale) == pytest.approx(alpha, abs=1e-11, nan_ok=True)
    kept = table[np.sum(~np.isnan(table), axis=1) >= 2]
    assume(kept.size and np.nanmax(kept) - np.nanmin(kept) > 0.1)
    assert krippendorff_alpha(table + shift) == pytest.approx(alpha, abs=1e-7)


@repeatable
@given(tables())
def test_ordinal_sees_order_only_and_nominal_identity_only(table: Array) -> None:
    stretched = np.exp(table)
    assert krippendorff_alpha(stretched, "ordinal") == pytest.approx(
        krippendorff_alpha(table, "ordinal"), abs=1e-12, nan_ok=True
    )
    shuffled = np.sin(table * 1e4)
    assume(np.unique(shuffled).size == np.unique(table).size)
    assert krippendorff_alpha(shuffled, "nominal") == pytest.approx(
        krippendorff_alpha(table, "nominal"), abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("level", LEVELS)
def test_landmarks(level: str) -> None:
    agreed = np.array([[1, 1, nan], [2, 2, 2], [9, nan, 9]])
    assert krippendorff_alpha(agreed, level) == pytest.approx(1.0)
    assert krippendorff_alpha([[1, 2], [2, 1]], level) < 0
    chance = np.random.default_rng(0).integers(0, 5, (20_000, 3))
    assert abs(krippendorff_alpha(chance, level)) < 0.02


@pytest.mark.parametrize("level", LEVELS)
def test_lonely_ratings_are_ignored(level: str) -> None:
    table = random_table(3)
    lonely = np.full((4, table.shape[1]), nan)
    lonely[:3, 0] = [100.0, -50.0, 3.0]
    assert krippendorff_alpha(np.vstack([table, lonely]), level) == krippendorff_alpha(table, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "table", [np.full((3, 4), 0.1), np.empty((0, 3)), [[1.0, nan], [nan, 2.0]], np.empty((3, 0))]
)
def test_nothing_to_disagree_about_gives_nan(level: str, table: Any) -> None:
    assert np.isnan(krippendorff_alpha(table, level))
    assert np.isnan(alpha_interval(table, level, resamples=10)).all()


@pytest.mark.parametrize("level", LEVELS)
def test_interval_equals_a_bootstrap_of_the_raw_ratings(level: str) -> None:
    table = random_table(5, units=12)
    table = table[np.sum(~np.isnan(table), axis=1) >= 2]
    units = table.shape[0]
    draws = np.random.default_rng(11).multinomial(units, np.full(units, 1 / units), size=60)
    alphas = [krippendorff_alpha(np.repeat(table, draw, axis=0), level) for draw in draws]
    expected = np.nanquantile(alphas, [0.05, 0.95])
    found = alpha_interval(table, level, confidence=0.9, resamples=60, seed=11)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_interval_widens_with_confidence_around_the_estimate(level: str) -> None:
    table = random_table(6, units=60)
    alpha = krippendorff_alpha(table, level)
    narrow = alpha_interval(table, level, confidence=0.5, resamples=400)
    wide = alpha_interval(table, level, confidence=0.99, resamples=400)
    assert wide[0] < narrow[0] < alpha < narrow[1] < wide[1] <= 1.0
    assert wide == alpha_interval(table, level, confidence=0.99, resamples=400)
    assert wide != alpha_interval(table, level, confidence=0.99, resamples=400, seed=1)


def test_interval_covers_the_alpha_of_the_population() -> None:
    population = random_table(7, units=20_000)
    truth = krippendorff_alpha(population)
    generator = np.random.default_rng(8)
    hits = 0
    for _ in range(150):
        low, high = alpha_interval(generator.choice(population, 80), resamples=300)
        hits += low <= truth <= high
    assert 0.85 <= hits / 150 <= 0.995


def test_resamples_without_variation_are_left_out() -> None:
    low, high = alpha_interval([[1.0, 1.0], [2.0, 2.0]], resamples=50)
    assert low == pytest.approx(1.0)
    assert high == pytest.approx(1.0)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(UnknownName, match="interval"):
        krippendorff_alpha(PUBLISHED, "intervall")
    with pytest.raises(InputError, match="dimensions"):
        krippendorff_alpha([1.0, 2.0])
    with pytest.raises(InputError, match="infinite"):
        krippendorff_alpha([[1.0, np.inf]])
    with pytest.raises(InputError, match="confidence"):
        alpha_interval(PUBLISHED, confidence=1.0)
    with pytest.raises(InputError, match="resamples"):
        alpha_interval(PUBLISHED, resamples=0)
