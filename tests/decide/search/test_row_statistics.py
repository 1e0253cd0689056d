from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from darc.decide.search import row_statistics as plain
from darc.decide.statistics import risk
from darc.decide.statistics.summary import batched
from darc.typing import Array

plain_settings = settings(derandomize=True, max_examples=150, deadline=None, database=None)
betas = st.sampled_from([0.0, 1e-200, 1e-9, 1e-3, 0.3, 1.0, 5.0, 1e200, np.inf])
numbers = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-10, 10), st.floats(-1e-9, 1e-9), st.floats(1e6, 2e6)
)


def close(found: float, wanted: float, reach: float) -> bool:
    """Whether the two differ by the rounding of samples of this size, or are both undefined."""
    return bool(np.isnan(found) and np.isnan(wanted)) or abs(found - wanted) <= 1e-14 * reach


@plain_settings
@given(st.lists(numbers, max_size=9), betas, numbers, st.integers(0, 4))
def test_summary_is_that_of_the_kernel(
    samples: list[float], beta: float, fill: float, times: int
) -> None:
    row = [*samples, *([fill] * times)] or [np.nan]
    wanted = batched(np.array(row)[None, None, None], beta, 1.0, "none")
    found = plain.summary(samples, beta, fill, times)
    reach = 100 * max(map(abs, row))
    assert close(found.value, float(wanted.value[0, 0]), reach)
    assert close(found.mean, float(wanted.mean[0, 0]), reach)
    assert close(found.risk_premium, float(wanted.risk_premium[0, 0]), reach)
    # A root: the squares agree to the rounding of a square.
    assert close(found.sigma**2, float(wanted.sigma[0, 0]) ** 2, reach * (max(row) - min(row)))


@st.composite
def pools(draw: st.DrawFn) -> list[list[float]]:
    """One candidate's samples by scorer, (M, n)."""
    size = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(numbers, min_size=size, max_size=size), min_size=1, max_size=4))


@plain_settings
@given(pools(), betas)
def test_scorers_are_hedged_as_in_the_statistics(scores: list[list[float]], gamma: float) -> None:
    samples = np.array(scores)[None, :, None, :]
    wanted = batched(samples, 1.0, gamma, "none")
    found = plain.hedged([plain.summary(row, 1.0) for row in scores], gamma)
    reach = 100 * float(np.abs(samples).max())
    assert close(found.value, float(wanted.value[0, 0]), reach)
    assert close(found.mean, float(wanted.mean[0, 0]), reach)
    assert close(found.risk_premium, float(wanted.risk_premium[0, 0]), reach)


@plain_settings
@given(st.lists(numbers, min_size=1, max_size=40), st.sampled_from([0.05, 0.1, 0.3, 0.7, 1.0]))
def test_cvar_is_that_of_the_core(samples: list[float], alpha: float) -> None:
    wanted = float(risk.cvar(np.array(samples), alpha))
    assert close(plain.cvar(samples, alpha), wanted, 100 * max(map(abs, samples)))
    assert np.isnan(plain.cvar([], alpha))


@plain_settings
@given(st.lists(numbers, min_size=1, max_size=8), numbers, st.integers(1, 8), betas)
def test_a_fill_is_added_without_looking_at_the_samples_again(
    samples: list[float], above: float, times: int, beta: float
) -> None:
    known = plain.summary(samples, beta)
    fill = known.value + abs(above)
    wanted = plain.summary(samples, beta, fill, times)
    found = plain.with_fill(known, fill, times / (len(samples) + times), beta)
    reach = 1e4 * max(map(abs, [*samples, fill]))
    assert close(found.value, wanted.value, reach)
    assert close(found.mean, wanted.mean, reach)


B = 10.0
LAM = 1.3


def grid_best(seen: Array, unseen: int, objective: Callable[[Array], Array]) -> float:
    """The best objective over a grid of two different fills, which the single fill must reach."""
    one, other = np.meshgrid(np.linspace(-B, B, 81), np.linspace(-B, B, 21))
    fills = [one.ravel()] * (unseen - unseen // 2) + [other.ravel()] * (unseen // 2)
    rows = np.column_stack([*(np.full(one.size, each) for each in seen), *fills])
    return float(objective(rows).max())


def test_one_common_fill_is_the_best_completion() -> None:
    generator = np.random.default_rng(0)
    for _ in range(12):
        seen = generator.uniform(-6, 6, size=int(generator.integers(1, 5)))
        unseen = int(generator.integers(2, 4))
        beta = float(generator.uniform(0.2, 3))
        m = len(seen)
        n = len(seen) + unseen
        value = float(risk.entropic_value(seen, beta))
        premium = float(risk.mean(seen)) - value

        def penalised(rows: Array) -> Array:
            own = risk.entropic_value(rows, beta)  # noqa: B023
            return np.asarray(own - LAM * (rows.mean(axis=-1) - own))

        def bounded(rows: Array) -> Array:
            return np.asarray(rows.mean(axis=-1) - LAM * rows.std(axis=-1, ddof=1))

        fill = plain.best_fill_penalty(value, m, n, B, beta, LAM)
        found = float(penalised(np.append(seen, [fill] * unseen)))
        assert found >= grid_best(seen, unseen, penalised) - 1e-9

        spread = float(risk.sigma(seen))
        fill = plain.best_fill_lcb(float(seen.mean()), spread, m, n, B, LAM)
        found = float(bounded(np.append(seen, [fill] * unseen)))
        assert found >= grid_best(seen, unseen, bounded) - 1e-9

        limit = m / n * premium + 0.2

        def capped(rows: Array) -> Array:
            own = risk.entropic_value(rows, beta)  # noqa: B023
            return np.where(rows.mean(axis=-1) - own <= limit, own, -np.inf)  # noqa: B023

        fill = plain.best_fill_tau(value, premium, m, n, B, beta, limit)
        found = float(risk.entropic_value(np.append(seen, [fill] * unseen), beta))
        assert found >= grid_best(seen, unseen, capped) - 1e-9
        assert float(risk.risk_premium(np.append(seen, [fill] * unseen), beta)) <= limit + 1e-6


def test_nothing_seen_means_the_upper_bound() -> None:
    assert plain.best_fill_penalty(np.nan, 0, 5, B, 1.0, 1.0) == B
    assert plain.best_fill_tau(np.nan, np.nan, 0, 5, B, 1.0, 0.1) == B
    assert plain.best_fill_lcb(np.nan, np.nan, 0, 5, B, 1.0) == B
