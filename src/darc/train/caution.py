"""Fitting the model of atypical answers on embedded features.

The classifier tells typical from atypical answers; the predictor expects the features of a typical
answer, and counts how far an answer is from that.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from darc.models.embeddings import Embeddings
from darc.parts.scorers.base import Embedder, Pair
from darc.parts.scorers.caution_features import FEATURE_NAMES, PairFeatures
from darc.parts.scorers.caution_models import Classifier, Predictor, standardise, with_squares
from darc.parts.scorers.reward import RewardScorer
from darc.train.caution_report import report_on, split_examples
from darc.train.logistic import fit_logistic
from darc.train.negatives import balanced
from darc.typing import Array

Tell = Callable[[str], None]

_RIDGES = (1.0, 10.0, 100.0, 1000.0)
_MAX_FEATURES = 64
# Few answers are spoilt in more ways than many are.
_ROWS = 2000
_MIN_ROUNDS = 4
_MAX_ROUNDS = 12
_SMALLEST_SPREAD = 1e-3
_SMALLEST_ERROR = 1e-12


def fit_classifier(
    pairs: Sequence[Pair], seed: int = 7, embedder: Embedder | None = None, tell: Tell = print
) -> Classifier:
    """Fit a logistic model on the embedded features, stopped early.

    Args:
        pairs: Typical pairs.
        seed: The seed of the division and of the negatives.
        embedder: What embeds texts.
        tell: Called with a sentence as each step begins.

    Returns:
        The model, whose report has the held-out AUC by kind of negative.
    """
    parts = split_examples(pairs, seed)
    pair_features = PairFeatures(embedder or Embeddings())
    tell(f"measuring {len(parts.fitted)} answers to fit, {len(parts.stopping)} to stop by")
    features, labels = _labelled_features(pair_features, parts.fitted, seed)
    stop_features, stop_labels = _labelled_features(pair_features, parts.stopping, seed + 1)
    location, scale = _location_and_scale(features[labels == 0])
    fit = fit_logistic(
        with_squares(features, location, scale),
        labels,
        with_squares(stop_features, location, scale),
        stop_labels,
    )
    model = Classifier(
        list(FEATURE_NAMES), location, scale, fit.weights[:-1].tolist(), float(fit.weights[-1])
    )
    report = report_on(
        lambda some_pairs: model.atypicality(pair_features.measure(some_pairs)),
        parts.held_out,
        seed,
        tell,
    )
    report |= {"fitted": len(parts.fitted), "steps": fit.step, "loss": fit.loss}
    return replace(model, report=report)


def fit_predictor(
    pairs: Sequence[Pair],
    seed: int = 7,
    embedder: Embedder | None = None,
    target: str = "",
    tell: Tell = print,
) -> Predictor:
    """Fit a ridge regression from prompts to the features of their typical answers.

    It sees typical answers alone. The penalty of the regression and the scale of errors come from
    those that stop it.

    Args:
        pairs: Typical pairs.
        seed: The seed of the division and of the negatives.
        embedder: What embeds texts.
        target: A reward model whose features are predicted instead of the embedded ones; of more
            than 64 features the leading components are.
        tell: Called with a sentence as each step begins.

    Returns:
        The model, whose report has the held-out AUC by kind of negative.
    """
    parts = split_examples(pairs, seed)
    pair_features = PairFeatures(embedder or Embeddings())
    measure: Callable[[Sequence[Pair]], Array] = pair_features.measure
    if target:
        measure = RewardScorer(target).hidden

    def embed_prompts(some_pairs: Sequence[Pair]) -> Array:
        return pair_features.embed([prompt.question for prompt, _ in some_pairs])

    tell(f"measuring {len(parts.fitted)} typical answers to fit, {len(parts.stopping)} to stop by")
    features = measure(parts.fitted)
    stop_features = measure(parts.stopping)
    prompts = embed_prompts(parts.fitted)
    stop_prompts = embed_prompts(parts.stopping)

    location, scale = _location_and_scale(features)
    rows = standardise(features, location, scale)
    basis: list[list[float]] = []
    if rows.shape[1] > _MAX_FEATURES:
        leading = np.linalg.svd(rows, full_matrices=False)[2][:_MAX_FEATURES].T
        rows = rows @ leading
        basis = leading.tolist()
    names = list(FEATURE_NAMES)
    if target:
        names = [f"hidden {i}" for i in range(features.shape[1])]
    models = []
    for ridge in _RIDGES:
        weights = _fit_ridge(prompts, rows, ridge).tolist()
        spread = [1.0] * rows.shape[1]
        models.append(Predictor(names, location, scale, weights, spread, 0.0, 1.0, target, basis))
    model = min(models, key=lambda one: float(one.errors(stop_prompts, stop_features).mean()))

    # Residuals count in units of their spread, and errors in units of those of typical answers.
    best_weights = np.array(model.weights)
    residuals = rows - (prompts @ best_weights[:-1] + best_weights[-1])
    model = replace(model, spread=np.maximum(residuals.std(axis=0), _SMALLEST_SPREAD).tolist())
    log_errors = np.log(model.errors(stop_prompts, stop_features) + _SMALLEST_ERROR)
    width = max(float(log_errors.std()), _SMALLEST_SPREAD)
    model = replace(model, centre=float(log_errors.mean()), width=width)
    report = report_on(
        lambda some_pairs: model.atypicality(embed_prompts(some_pairs), measure(some_pairs)),
        parts.held_out,
        seed,
        tell,
    )
    return replace(model, report=report | {"fitted": len(parts.fitted)})


def _labelled_features(
    pair_features: PairFeatures, pairs: Sequence[Pair], seed: int
) -> tuple[Array, Array]:
    """Features and labels, 1 for atypical, as many of each."""
    rounds = min(_MAX_ROUNDS, max(_MIN_ROUNDS, _ROWS // len(pairs)))
    negatives = [pair for pair, _ in balanced(pairs, seed, rounds)]
    typical = pair_features.measure(pairs)
    repeated = typical[np.arange(len(negatives)) % len(typical)]
    features = np.concatenate([repeated, pair_features.measure(negatives)])
    labels = np.repeat([0.0, 1.0], len(negatives))
    return features, labels


def _location_and_scale(rows: Array) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of each column; the scale of a constant column is 1."""
    deviation = rows.std(axis=0)
    scale = np.where(deviation > 1e-9, deviation, 1.0)
    return rows.mean(axis=0).tolist(), scale.tolist()


def _fit_ridge(inputs: Array, targets: Array, ridge: float) -> Array:
    """Weights (d_in + 1, d_out) of the least squares with a penalty on all but the constant."""
    centre = inputs.mean(axis=0)
    centred = inputs - centre
    gram = centred.T @ centred + ridge * np.eye(inputs.shape[1])
    slope = np.linalg.solve(gram, centred.T @ (targets - targets.mean(axis=0)))
    constant = targets.mean(axis=0) - centre @ slope
    return np.vstack([slope, constant])
