"""The grid's decisions are those of `darc.select_batch`."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import Array, fast_settings

import darc
from darc.analysis.tune.grid import grid, tunable
from darc.analysis.tune.trials import choices
from darc.decide.method import Method
from darc.decide.sample_batch import SampleBatch
from darc.decide.tuning_grid import Scale

SPREADS = (("atypicality", 0.2), ("log_likelihood", 0.5), ("similarity", 0.1))
EVERY = [
    s
    for rule in tunable(2, dict(SPREADS) | {"dropout": 0.0})[0]
    for s in grid(rule, Scale(1.0, 5, SPREADS))
]


def pool(seed: int, scorers: int, gaps: bool, whole: bool) -> tuple[Array, dict[str, Array]]:
    generator = np.random.default_rng(seed)
    samples = generator.normal(5.0, 1.5, size=(7, scorers, 5, 4))
    if whole:
        samples = np.rint(samples)
    if gaps:
        samples[generator.random(samples.shape) < 0.2] = np.nan
        samples[:, :, 0] = np.nan_to_num(samples[:, :, 0], nan=5.0)
    side = {
        "log_likelihood": generator.normal(-2, 0.5, size=(7, 5)),
        "similarity": generator.random((7, 5, 5)),
        "atypicality": np.rint(generator.random((7, 5))),
        "dropout": np.rint(generator.normal(5.0, 1.0, size=(7, 5, 3))),
    }
    return samples, side


@fast_settings
@given(
    seed=st.integers(0, 10_000),
    scorers=st.integers(1, 2),
    gaps=st.booleans(),
    whole=st.booleans(),
    settings=st.lists(st.sampled_from(EVERY), min_size=1, max_size=8, unique_by=lambda s: s.text),
)
def test_choices_are_those_of_select_batch(
    seed: int, scorers: int, gaps: bool, whole: bool, settings: list[Method]
) -> None:
    samples, side = pool(seed, scorers, gaps, whole)
    names = [f"p{i}" for i in range(7)]
    batch = SampleBatch(samples, names, side=side)
    found = choices(batch, [replace(method, seed=seed) for method in settings])
    for row, setting in zip(found, settings, strict=True):
        rule = setting.rule
        used: dict[str, Any] = {n: side[n] for n in rule.side_names if n in side}
        expected = darc.select_batch(
            samples,
            rule,
            beta=setting.beta,
            seed=seed,
            prompt_ids=names,
            **used,
        )
        np.testing.assert_array_equal(row, expected.index, err_msg=setting.text)


def test_every_setting_is_reported() -> None:
    samples, _ = pool(0, 1, gaps=False, whole=False)
    seen: list[int] = []
    choices(SampleBatch(samples, range(len(samples))), grid("penalty", Scale(1.0, 5)), seen.append)
    assert sum(seen) == len(grid("penalty", Scale(1.0, 5)))
