import math

import numpy as np
import pytest

from darc.decide.statistics.panel_disagreement import (
    disagreement_alone,
    mean_of_repeats,
    panel_disagreement,
)

PANELS = 400


def simulated(
    disagreement: float = 0.0,
    severity: float = 0.0,
    noise: float = 0.0,
    repeats: int = 1,
    position: float = 0.0,
) -> list[np.ndarray]:
    """Panels of 8 raters for 8 answers, grades (K, n, repeats)."""
    random = np.random.default_rng(7)
    panels = []
    for _ in range(PANELS):
        answers = random.normal(6, 1.5, (8, 1, 1))
        mild = random.normal(0, severity, (1, 8, 1))
        opinions = random.normal(0, disagreement, (8, 8, 1))
        # The first answers of each order are graded higher.
        tilt = position * np.linspace(1, -1, 8)[:, None, None] * np.array([1, -1] * 4)[:, None]
        draws = random.normal(0, noise, (8, 8, repeats))
        panels.append(answers + mild + opinions + tilt + draws)
    return panels


def reported(panels: list[np.ndarray], orders: tuple[int, ...] = ()) -> float:
    """The root of the mean variance, over all panels and answers."""
    variances = [panel_disagreement(panel, orders).between for panel in panels]
    return float(np.sqrt(np.mean(variances)))


def test_severity_alone_is_no_disagreement() -> None:
    raw = np.mean([panel[..., 0].std(axis=1, ddof=1).mean() for panel in simulated(0, 1.7)])
    assert raw > 1.5
    assert reported(simulated(0, 1.7)) <= 0.01
    assert np.median([panel_disagreement(p).between for p in simulated(0, 1.7, 0.5, 3)]) <= 0.2**2


@pytest.mark.parametrize("severity", [0.0, 1.7])
@pytest.mark.parametrize(("noise", "repeats"), [(0.0, 1), (1.0, 3)])
def test_true_disagreement_is_reported(severity: float, noise: float, repeats: int) -> None:
    assert 1.8 <= reported(simulated(2.0, severity, noise, repeats)) <= 2.2


def test_each_answer_has_its_own_noise_and_disagreement() -> None:
    random = np.random.default_rng(3)
    sigma = np.array([0.0, 0.0, 2.0, 1.0])[:, None, None]
    noise = np.array([2.0, 0.5, 0.5, 0.5])[:, None, None]
    results = []
    for _ in range(PANELS):
        opinions = random.normal(0, 1, (4, 8, 1)) * sigma + random.normal(0, 1.5, (1, 8, 1))
        grades = 5 + opinions + random.normal(0, 1, (4, 8, 3)) * noise
        results.append(panel_disagreement(grades))
    own = np.mean([result.noise for result in results], axis=0)
    assert own == pytest.approx([4 / 3, 1 / 12, 1 / 12, 1 / 12], rel=0.1)
    between = np.median([result.between for result in results], axis=0)
    assert between == pytest.approx([0.0, 0.0, 4.0, 1.0], abs=0.6)


def test_position_is_no_disagreement() -> None:
    orders = (0, 1) * 4
    assert reported(simulated(0, 1.7, position=2.0)) > 1
    assert reported(simulated(0, 1.7, position=2.0), orders) <= 0.01
    assert 1.8 <= reported(simulated(2, 1.7, position=2.0), orders) <= 2.2


def test_samples_have_the_means_and_the_disagreement() -> None:
    for grades in simulated(1.5, 1.0, 1.0, 3)[:20]:
        result = panel_disagreement(grades)
        means = mean_of_repeats(grades)
        samples = disagreement_alone(means, result)
        assert samples.mean(axis=1) == pytest.approx(means.mean(axis=1))
        assert samples.var(axis=1, ddof=1) == pytest.approx(result.between)


def test_two_answers_do_not_show_severity() -> None:
    grades = np.array([[[4.0], [6.0], [8.0]], [[5.0], [5.0], [6.0]]])
    result = panel_disagreement(grades)
    assert not result.severity_removed
    assert result.between == pytest.approx(grades[..., 0].var(axis=1, ddof=1))


def test_gaps_count_for_what_is_there() -> None:
    panels = simulated(2.0, 1.7)
    for number, panel in enumerate(panels):
        panel[number % 8, (3 * number) % 8] = math.nan
    assert 1.8 <= reported(panels) <= 2.2
    samples = disagreement_alone(mean_of_repeats(panels[1]), panel_disagreement(panels[1]))
    assert math.isnan(samples[1, 3])
    assert np.isnan(samples).sum() == 1


def test_without_repeats_noise_is_not_measured() -> None:
    result = panel_disagreement(simulated(1.0)[0])
    assert math.isnan(result.repeat_variance)
    assert np.isnan(result.noise).all()


def test_one_rater_has_no_disagreement_to_report() -> None:
    result = panel_disagreement(simulated(1.0, 0, 1.0, 3)[0][:, :1])
    assert np.isnan(result.between).all()
    assert result.repeat_variance > 0
