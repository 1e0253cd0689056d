"""Fitting the model of atypical answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darc.models.embeddings import Embeddings
from darc.scorers.base import Embedder, Pair
from darc.scorers.caution import Classifier, Predictor, expanded, standardised
from darc.scorers.pair_features import NAMES, PairFeatures
from darc.scorers.reward import RewardScorer
from darc.training.caution.examples import balanced, divide, each_kind
from darc.typing import Array

Tell = Callable[[str], None]
RIDGES = (1.0, 10.0, 100.0, 1000.0)
MOST_FEATURES = 64
# Few answers are spoilt in more ways than many are.
ROWS = 2000


@dataclass(frozen=True)
class CautionParts:
    """Typical pairs in three parts with no prompt in common: to fit, to stop by, to report on."""

    fitted: list[Pair]
    stopping: list[Pair]
    held_out: list[Pair]


def parts_of(pairs: Sequence[Pair], seed: int) -> CautionParts:
    """A quarter of the prompts is held out, a fifth of the others stops the fit."""
    rest, held_out = divide(pairs, 0.25, seed)
    fitted, stopping = divide(rest, 0.2, seed + 1)
    return CautionParts(fitted, stopping, held_out)


def fit_classifier(
    pairs: Sequence[Pair], seed: int = 7, embedder: Embedder | None = None, tell: Tell = print
) -> Classifier:
    """A logistic model on the embedded features, stopped early; with held-out AUCs by kind."""
    parts, anatomy = parts_of(pairs, seed), PairFeatures(embedder or Embeddings())
    tell(f"measuring {len(parts.fitted)} answers to fit, {len(parts.stopping)} to stop by")
    features, labels = _labelled(anatomy, parts.fitted, seed)
    stop_features, stop_labels = _labelled(anatomy, parts.stopping, seed + 1)
    typical = features[labels == 0]
    location, scale = _units(typical)
    made = fit_logistic(
        expanded(features, location, scale),
        labels,
        expanded(stop_features, location, scale),
        stop_labels,
    )
    model = Classifier(list(NAMES), location, scale, made.weights.tolist(), made.bias)
    report = measured(
        lambda own: model.atypicality(anatomy.measure(own)), parts.held_out, seed, tell
    )
    report |= {"fitted": len(parts.fitted), "steps": made.step, "loss": made.loss}
    return replace(model, report=report)


def fit_predictor(
    pairs: Sequence[Pair],
    seed: int = 7,
    embedder: Embedder | None = None,
    target: str = "",
    tell: Tell = print,
) -> Predictor:
    """A ridge regression from prompts to the features of their typical answers.

    It sees typical answers alone; the penalty of the regression and the scale of errors come from
    those that stop it. `target` names a reward model whose features are predicted instead of the
    embedded ones; of more than 64 the leading components are.
    """
    parts, anatomy = parts_of(pairs, seed), PairFeatures(embedder or Embeddings())
    network = RewardScorer(target) if target else None

    def features_of(own: Sequence[Pair]) -> Array:
        return network.hidden(own) if network is not None else anatomy.measure(own)

    def prompts_of(own: Sequence[Pair]) -> Array:
        return anatomy.embed([prompt.question for prompt, _ in own])

    tell(f"measuring {len(parts.fitted)} typical answers to fit, {len(parts.stopping)} to stop by")
    raw, stop_raw = features_of(parts.fitted), features_of(parts.stopping)
    location, scale = _units(raw)
    rows = standardised(raw, location, scale)
    basis = _basis(rows) if rows.shape[1] > MOST_FEATURES else np.zeros((0, 0))
    if basis.size:
        rows = rows @ basis
    names = [f"hidden {i}" for i in range(raw.shape[1])] if target else list(NAMES)
    inputs, stop_inputs = prompts_of(parts.fitted), prompts_of(parts.stopping)
    best: Predictor | None = None
    least = np.inf
    for ridge in RIDGES:
        weights = _ridge(inputs, rows, ridge)
        plain = Predictor(
            names,
            location,
            scale,
            weights.tolist(),
            [1.0] * rows.shape[1],
            0.0,
            1.0,
            target,
            basis.tolist(),
        )
        error = float(plain.errors(stop_inputs, stop_raw).mean())
        if error < least:
            least, best = error, plain
    assert best is not None
    model = _scaled(best, inputs, rows, stop_inputs, stop_raw)
    report = measured(
        lambda own: model.atypicality(prompts_of(own), features_of(own)),
        parts.held_out,
        seed,
        tell,
    )
    report |= {"fitted": len(parts.fitted)}
    return replace(model, report=report)


def measured(
    atypicality: Callable[[Sequence[Pair]], Array], typical: Sequence[Pair], seed: int, tell: Tell
) -> dict[str, Any]:
    """AUC on held-out pairs by kind of negative, and over as many of all kinds as typical ones."""
    tell(f"measuring {len(typical)} held-out answers")
    base = atypicality(typical)
    found: dict[str, Any] = {"held_out": len(typical), "auc": {}}
    for kind, negatives in each_kind(typical, seed + 2).items():
        if negatives:
            found["auc"][kind] = auc(base, atypicality(negatives))
    mixed = [pair for pair, _ in balanced(typical, seed + 3, rounds=1)]
    found["auc"]["all, 1:1"] = auc(base, atypicality(mixed))
    return found


def _labelled(anatomy: PairFeatures, pairs: Sequence[Pair], seed: int) -> tuple[Array, Array]:
    """Features and labels, 1 for atypical, as many of each."""
    rounds = min(12, max(4, ROWS // len(pairs)))
    negatives = [pair for pair, _ in balanced(pairs, seed, rounds)]
    positive = anatomy.measure(pairs)
    repeated = positive[np.arange(len(negatives)) % len(positive)]
    features = np.concatenate([repeated, anatomy.measure(negatives)])
    return features, np.repeat([0.0, 1.0], len(negatives))


def _units(rows: Array) -> tuple[list[float], list[float]]:
    scale = rows.std(axis=0)
    return rows.mean(axis=0).tolist(), np.where(scale > 1e-9, scale, 1.0).tolist()


def _basis(rows: Array) -> Array:
    """The leading components of centred rows (n, d), (d, 64)."""
    return np.asarray(np.linalg.svd(rows, full_matrices=False)[2][:MOST_FEATURES].T)


def _ridge(inputs: Array, targets: Array, ridge: float) -> Array:
    """Weights (d_in + 1, d_out) of the least squares with a penalty on all but the constant."""
    centre = inputs.mean(axis=0)
    moved = inputs - centre
    gram = moved.T @ moved + ridge * np.eye(inputs.shape[1])
    slope = np.linalg.solve(gram, moved.T @ (targets - targets.mean(axis=0)))
    return np.vstack([slope, targets.mean(axis=0) - centre @ slope])


def _scaled(
    model: Predictor, inputs: Array, rows: Array, stop: Array, stop_raw: Array
) -> Predictor:
    """The model with residuals in units of their spread, and the scale of typical errors."""
    weights = np.array(model.weights)
    residual = rows - (inputs @ weights[:-1] + weights[-1])
    spread = np.maximum(residual.std(axis=0), 1e-3).tolist()
    scaled = replace(model, spread=spread)
    logs = np.log(scaled.errors(stop, stop_raw) + 1e-12)
    return replace(scaled, centre=float(logs.mean()), width=max(float(logs.std()), 1e-3))


@dataclass(frozen=True)
class LogisticFit:
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
) -> LogisticFit:
    """Full-batch Adam on (n, d) rows until the held-out loss has not fallen for `patience` steps.

    Deterministic; O(n d) a step.
    """
    count, size = features.shape
    point = np.zeros(size + 1)
    first, second = np.zeros(size + 1), np.zeros(size + 1)
    rows = np.column_stack([features, np.ones(count)])
    held = np.column_stack([held_features, np.ones(len(held_features))])
    penalty = np.append(np.full(size, decay), 0.0)
    best = LogisticFit(point[:-1].copy(), 0.0, 0, log_loss(held @ point, held_labels))
    for step in range(1, steps + 1):
        gradient = rows.T @ (sigmoid(rows @ point) - labels) / count + penalty * point
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        ahead = first / (1 - 0.9**step)
        point = point - rate * ahead / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        loss = log_loss(held @ point, held_labels)
        if loss < best.loss:
            best = LogisticFit(point[:-1].copy(), float(point[-1]), step, loss)
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
