import numpy as np
import pytest

from darc.analysis.panel_audit.within_prompt_correlations import (
    correlation_change,
    correlations_with,
)


def test_only_what_happens_within_prompts_counts() -> None:
    generator = np.random.default_rng(0)
    level = 5 * generator.normal(size=(120, 1))
    length = generator.normal(size=(120, 4)) + level
    fair = generator.normal(size=(120, 4)) + level
    fond = 0.6 * (length - level) + 0.8 * generator.normal(size=(120, 4))
    by_fair, by_fond = correlations_with(length, np.stack([fair, fond], axis=2))
    assert by_fair.low <= 0 <= by_fair.high
    assert by_fond.low <= 0.6 <= by_fond.high
    within = [(a - a.mean(axis=1, keepdims=True)).ravel() for a in (length, fond)]
    assert by_fond.value == pytest.approx(np.corrcoef(*within)[0, 1])


def test_change_of_a_correlation() -> None:
    generator = np.random.default_rng(1)
    truth = generator.normal(size=(100, 5))
    good = truth + generator.normal(size=truth.shape)
    bad = generator.normal(size=truth.shape)
    assert correlation_change(bad, good, truth).high < -0.4
    same = correlation_change(good, good, truth)
    assert same.value == same.low == same.high == 0
