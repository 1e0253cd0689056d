import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from darc.core import plain, risk
from darc.core.statistics import batched

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
