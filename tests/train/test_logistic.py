import numpy as np
import pytest

from darc.parts.scorers.base import sigmoid
from darc.train.logistic import fit_logistic, log_loss


def made(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(count, 3))
    labels = (draw.random(count) < sigmoid(2.0 * rows[:, 0] - rows[:, 1] + 0.5)).astype(float)
    return rows, labels


def test_the_weights_are_found() -> None:
    rows, labels = made(20_000, 0)
    weights, _, _ = fit_logistic(rows, labels, *made(20_000, 1), decay=0.0)
    assert np.allclose(weights, [2.0, -1.0, 0.0, 0.5], atol=0.1)


def test_held_out_rows_stop_the_fit() -> None:
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(30, 40))
    labels = np.repeat([0.0, 1.0], 15)
    held = draw.normal(size=(400, 40))
    held_labels = np.repeat([0.0, 1.0], 200)
    weights, step, loss = fit_logistic(rows, labels, held, held_labels, decay=0.0)
    assert step < 30
    assert loss <= np.log(2.0)
    assert log_loss(held @ weights[:-1] + weights[-1], held_labels) == pytest.approx(loss)
