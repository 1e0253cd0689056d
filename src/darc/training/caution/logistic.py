"""Logistic regression with early stopping on held-out rows."""

from dataclasses import dataclass

import numpy as np

from darc.typing import Array


@dataclass(frozen=True)
class Fit:
    """Weights (d,), bias, the step with the lowest held-out loss, and that loss in nats."""

    weights: Array
    bias: float
    step: int
    loss: float


def fit_logistic(
    features: Array,
    labels: Array,
    held_features: Array,
    held_labels: Array,
    *,
    rate: float = 0.01,
    decay: float = 0.03,
    steps: int = 3000,
    patience: int = 150,
) -> Fit:
    """Full-batch Adam on (n, d) rows until the held-out loss has not fallen for `patience` steps.

    Deterministic; O(n d) a step.
    """
    count, size = features.shape
    point = np.zeros(size + 1)
    first, second = np.zeros(size + 1), np.zeros(size + 1)
    rows = np.column_stack([features, np.ones(count)])
    held = np.column_stack([held_features, np.ones(len(held_features))])
    penalty = np.append(np.full(size, decay), 0.0)
    best = Fit(point[:-1].copy(), 0.0, 0, log_loss(held @ point, held_labels))
    for step in range(1, steps + 1):
        gradient = rows.T @ (sigmoid(rows @ point) - labels) / count + penalty * point
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        ahead = first / (1 - 0.9**step)
        point = point - rate * ahead / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        loss = log_loss(held @ point, held_labels)
        if loss < best.loss:
            best = Fit(point[:-1].copy(), float(point[-1]), step, loss)
        elif step - best.step > patience:
            break
    return best


def sigmoid(logits: Array) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -logits)))


def log_loss(logits: Array, labels: Array) -> float:
    """The mean negative log-likelihood of labels 0 and 1."""
    return float(np.mean(np.logaddexp(0.0, logits) - labels * logits))


def auc(typical: Array, atypical: Array) -> float:
    """The probability that an atypical one scores above a typical one, equals counting half."""
    if not len(typical) or not len(atypical):
        return float("nan")
    above = (atypical[:, None] > typical[None, :]).mean()
    return float(above + 0.5 * (atypical[:, None] == typical[None, :]).mean())
