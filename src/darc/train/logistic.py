"""A logistic model, fitted until held-out loss stops falling."""

from typing import NamedTuple

import numpy as np

from darc.parts.scorers.base import sigmoid
from darc.typing import Array

_LEARNING_RATE = 0.01
_MAX_STEPS = 3000
# How many steps may bring nothing before the fit stops.
_PATIENCE = 150
# What keeps Adam from dividing by 0.
_EPSILON = 1e-8


class LogisticFit(NamedTuple):
    """The weights with the lowest held-out loss."""

    #: Shape (d + 1,), the bias last.
    weights: Array
    #: The step at which they were reached.
    step: int
    #: Their held-out loss.
    loss: float


def fit_logistic(
    features: Array, labels: Array, held_features: Array, held_labels: Array, decay: float = 0.03
) -> LogisticFit:
    """Fit a logistic model by full-batch Adam; deterministic, O(n d) per step.

    Args:
        features: Shape (n, d).
        labels: 0 or 1, shape (n,).
        held_features: Features that stop the fit, shape (m, d).
        held_labels: Their labels, shape (m,).
        decay: The penalty on the weights, but not on the bias.

    Returns:
        The weights of the step with the lowest held-out loss.
    """
    rows = np.column_stack([features, np.ones(len(features))])
    held_rows = np.column_stack([held_features, np.ones(len(held_features))])
    penalty = np.append(np.full(features.shape[1], decay), 0.0)
    weights = np.zeros(rows.shape[1])
    first_moment = np.zeros(rows.shape[1])
    second_moment = np.zeros(rows.shape[1])
    best = LogisticFit(weights, 0, log_loss(held_rows @ weights, held_labels))
    for step in range(1, _MAX_STEPS + 1):
        errors = sigmoid(rows @ weights) - labels
        gradient = rows.T @ errors / len(rows) + penalty * weights
        first_moment = 0.9 * first_moment + 0.1 * gradient
        second_moment = 0.999 * second_moment + 0.001 * gradient**2
        direction = first_moment / (1 - 0.9**step)
        size = np.sqrt(second_moment / (1 - 0.999**step)) + _EPSILON
        weights = weights - _LEARNING_RATE * direction / size
        loss = log_loss(held_rows @ weights, held_labels)
        if loss < best.loss:
            best = LogisticFit(weights, step, loss)
        elif step - best.step > _PATIENCE:
            break
    return best


def log_loss(logits: Array, labels: Array) -> float:
    """The mean negative log-likelihood of labels 0 and 1."""
    return float(np.mean(np.logaddexp(0.0, logits) - labels * logits))
