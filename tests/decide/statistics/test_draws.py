import numpy as np
import pytest
from scipy import stats

from darc.decide.statistics.draws import poisson, prompt_seeds, uniforms


def test_seeds_depend_on_seed_and_prompt_alone() -> None:
    seeds = prompt_seeds(1, ["a", "b", "c"])
    assert np.array_equal(prompt_seeds(1, ["c", "a", "b"]), seeds[[2, 0, 1]])
    assert not np.array_equal(prompt_seeds(2, ["a", "b", "c"]), seeds)
    assert prompt_seeds(1, [7]) == prompt_seeds(1, ["7"])
    assert len(set(prompt_seeds(0, range(10_000)).tolist())) == 10_000


def test_numbers_are_uniform_and_independent() -> None:
    numbers = uniforms(prompt_seeds(0, range(20_000)), 4)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    for column in numbers.T:
        assert stats.kstest(column, "uniform").pvalue > 1e-4
    correlation = np.corrcoef(numbers.T)
    assert np.abs(correlation - np.eye(4)).max() < 0.03


@pytest.mark.parametrize("rate", [0.3, 4.0, 12.0, 300.0])
def test_poisson_by_inversion(rate: float) -> None:
    uniform = np.linspace(0, 1, 2001)[:-1]
    assert np.array_equal(poisson(rate, uniform + 1e-9), stats.poisson(rate).ppf(uniform + 1e-9))
