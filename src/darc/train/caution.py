"""Fitting the model of atypical answers, in three forms."""

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from darc.models.embeddings import Embeddings
from darc.models.transformers import loading
from darc.models.transformers.loading import Loaded
from darc.parts.scorers.base import Embedder, Pair, sigmoid
from darc.parts.scorers.caution_features import FEATURE_NAMES, PairFeatures
from darc.parts.scorers.caution_models import (
    MODEL_FILE,
    Classifier,
    EncoderModel,
    Predictor,
    standardise,
    with_squares,
    write_model,
)
from darc.parts.scorers.reward import RewardScorer
from darc.train.examples import balanced, divide, each_kind
from darc.typing import Array

Tell = Callable[[str], None]
RIDGES = (1.0, 10.0, 100.0, 1000.0)
MOST_FEATURES = 64
# Few answers are spoilt in more ways than many are.
ROWS = 2000
# Of the classifier: Adam's step, the most steps, and how many bring nothing before it stops.
RATE, STEPS, PATIENCE = 0.01, 3000, 150
# Of the encoder.
FOLDER, BATCH, ENCODER_RATE, MOST_TOKENS = "encoder", 8, 2e-5, 512


def parts_of(pairs: Sequence[Pair], seed: int) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Typical pairs in three parts with no prompt in common: to fit, to stop by, to report on.

    A quarter of the prompts is held out, a fifth of the others stops the fit.
    """
    rest, held_out = divide(pairs, 0.25, seed)
    return *divide(rest, 0.2, seed + 1), held_out


def fit_classifier(
    pairs: Sequence[Pair], seed: int = 7, embedder: Embedder | None = None, tell: Tell = print
) -> Classifier:
    """A logistic model on the embedded features, stopped early; with held-out AUCs by kind."""
    fitted, stopping, held_out = parts_of(pairs, seed)
    anatomy = PairFeatures(embedder or Embeddings())
    tell(f"measuring {len(fitted)} answers to fit, {len(stopping)} to stop by")
    features, labels = _labelled(anatomy, fitted, seed)
    stop_features, stop_labels = _labelled(anatomy, stopping, seed + 1)
    location, scale = _units(features[labels == 0])
    own, held = (with_squares(each, location, scale) for each in (features, stop_features))
    weights, step, loss = fit_logistic(own, labels, held, stop_labels)
    model = Classifier(
        list(FEATURE_NAMES), location, scale, weights[:-1].tolist(), float(weights[-1])
    )
    report = measured(lambda own: model.atypicality(anatomy.measure(own)), held_out, seed, tell)
    return replace(model, report=report | {"fitted": len(fitted), "steps": step, "loss": loss})


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
    fitted, stopping, held_out = parts_of(pairs, seed)
    anatomy = PairFeatures(embedder or Embeddings())
    features_of = RewardScorer(target).hidden if target else anatomy.measure

    def prompts_of(own: Sequence[Pair]) -> Array:
        return anatomy.embed([prompt.question for prompt, _ in own])

    tell(f"measuring {len(fitted)} typical answers to fit, {len(stopping)} to stop by")
    raw, stop_raw = features_of(fitted), features_of(stopping)
    inputs, stop_inputs = prompts_of(fitted), prompts_of(stopping)
    location, scale = _units(raw)
    rows = standardise(raw, location, scale)
    basis: list[list[float]] = []
    if rows.shape[1] > MOST_FEATURES:
        leading = np.linalg.svd(rows, full_matrices=False)[2][:MOST_FEATURES].T
        rows, basis = rows @ leading, leading.tolist()
    names = [f"hidden {i}" for i in range(raw.shape[1])] if target else list(FEATURE_NAMES)
    unit = [1.0] * rows.shape[1]
    tried = [
        Predictor(names, location, scale, weights.tolist(), unit, 0.0, 1.0, target, basis)
        for weights in (_ridge(inputs, rows, ridge) for ridge in RIDGES)
    ]
    best = min(tried, key=lambda model: float(model.errors(stop_inputs, stop_raw).mean()))
    weights = np.array(best.weights)
    residual = rows - (inputs @ weights[:-1] + weights[-1])
    # Residuals count in units of their spread, and errors by those of typical answers.
    model = replace(best, spread=np.maximum(residual.std(axis=0), 1e-3).tolist())
    logs = np.log(model.errors(stop_inputs, stop_raw) + 1e-12)
    model = replace(model, centre=float(logs.mean()), width=max(float(logs.std()), 1e-3))
    report = measured(
        lambda own: model.atypicality(prompts_of(own), features_of(own)), held_out, seed, tell
    )
    return replace(model, report=report | {"fitted": len(fitted)})


def fit_encoder(
    pairs: Sequence[Pair],
    model: str,
    out: Path,
    *,
    seed: int = 7,
    epochs: int = 5,
    tell: Tell = print,
) -> EncoderModel:
    """Fine-tune a sequence classifier into a folder, with the epoch that held-out loss likes best.

    Each epoch draws new negatives, one a typical answer. Stops when an epoch brings nothing.
    """
    loading.need("an encoder")
    import torch
    import transformers
    from torch.nn.functional import binary_cross_entropy_with_logits

    from darc.models.transformers.scoring import batch_of

    fitted, stopping, held_out = parts_of(pairs, seed)
    torch.manual_seed(seed)
    with loading.quiet(), loading.readable(model):
        tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
        network = getattr(transformers, loading.SEQUENCE).from_pretrained(
            model, num_labels=1, trust_remote_code=False, ignore_mismatched_sizes=True
        )
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    loading.mend_padding(network, tokenizer)
    limit = min(MOST_TOKENS, loading.longest_input(network, tokenizer) or MOST_TOKENS)
    loaded = Loaded(network.to(place), tokenizer, place, limit)
    stop_pairs, stop_labels = _mixed(stopping, seed + 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=ENCODER_RATE)
    best, least, at = copy.deepcopy(network.state_dict()), np.inf, 0
    for epoch in range(1, epochs + 1):
        own, labels = _mixed(fitted, seed + 10 * epoch)
        order = random.Random(seed + epoch).sample(range(len(own)), len(own))
        network.train()
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            batch = batch_of(loaded, _rows(loaded, [own[i] for i in rows]))
            logits = network(**batch).logits[:, 0]
            wanted = torch.tensor([labels[i] for i in rows], device=place)
            optimizer.zero_grad()
            binary_cross_entropy_with_logits(logits, wanted.float()).backward()
            optimizer.step()
        loss = log_loss(_logits(loaded, stop_pairs), stop_labels)
        tell(f"epoch {epoch}: held-out loss {loss:.4f}")
        if loss >= least:
            break
        best, least, at = copy.deepcopy(network.state_dict()), loss, epoch
    network.load_state_dict(best)
    report = measured(lambda some: sigmoid(_logits(loaded, some)), held_out, seed, tell)
    report |= {"fitted": len(fitted), "steps": at, "loss": float(least), "encoder": model}
    made = EncoderModel(FOLDER, limit, report)
    out.mkdir(parents=True, exist_ok=True)
    with loading.quiet():
        network.save_pretrained(out / FOLDER)
        tokenizer.save_pretrained(out / FOLDER)
    write_model(made, out / MODEL_FILE)
    return made


def measured(
    atypicality: Callable[[Sequence[Pair]], Array], typical: list[Pair], seed: int, tell: Tell
) -> dict[str, Any]:
    """AUC on held-out pairs by kind of negative, and over as many of all kinds as typical ones."""
    tell(f"measuring {len(typical)} held-out answers")
    base = atypicality(typical)
    negatives = each_kind(typical, seed + 2)
    negatives["all, 1:1"] = [pair for pair, _ in balanced(typical, seed + 3, rounds=1)]
    found = {kind: auc(base, atypicality(some)) for kind, some in negatives.items() if some}
    return {"held_out": len(typical), "auc": found}


def _labelled(anatomy: PairFeatures, pairs: Sequence[Pair], seed: int) -> tuple[Array, Array]:
    """Features and labels, 1 for atypical, as many of each."""
    rounds = min(12, max(4, ROWS // len(pairs)))
    negatives = [pair for pair, _ in balanced(pairs, seed, rounds)]
    positive = anatomy.measure(pairs)
    repeated = positive[np.arange(len(negatives)) % len(positive)]
    features = np.concatenate([repeated, anatomy.measure(negatives)])
    return features, np.repeat([0.0, 1.0], len(negatives))


def _mixed(pairs: Sequence[Pair], seed: int) -> tuple[list[Pair], Array]:
    """Pairs and one negative of each, with labels, 1 for atypical."""
    negatives = [pair for pair, _ in balanced(pairs, seed, rounds=1)]
    return [*pairs, *negatives], np.repeat([0.0, 1.0], [len(pairs), len(negatives)])


def _rows(loaded: Loaded, pairs: Sequence[Pair]) -> list[dict[str, list[int]]]:
    from darc.models.transformers.scoring import encoded

    limit = loaded.context or MOST_TOKENS
    return [encoded(loaded.tokenizer, prompt.messages, text, limit) for prompt, text in pairs]


def _logits(loaded: Loaded, pairs: Sequence[Pair]) -> Array:
    from darc.models.transformers.scoring import forward

    loaded.model.eval()
    batches = (pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH))
    return np.concatenate([forward(loaded, _rows(loaded, own))[:, 0] for own in batches])


def _units(rows: Array) -> tuple[list[float], list[float]]:
    scale = rows.std(axis=0)
    return rows.mean(axis=0).tolist(), np.where(scale > 1e-9, scale, 1.0).tolist()


def _ridge(inputs: Array, targets: Array, ridge: float) -> Array:
    """Weights (d_in + 1, d_out) of the least squares with a penalty on all but the constant."""
    centre = inputs.mean(axis=0)
    moved = inputs - centre
    gram = moved.T @ moved + ridge * np.eye(inputs.shape[1])
    slope = np.linalg.solve(gram, moved.T @ (targets - targets.mean(axis=0)))
    return np.vstack([slope, targets.mean(axis=0) - centre @ slope])


def fit_logistic(
    features: Array, labels: Array, held_features: Array, held_labels: Array, decay: float = 0.03
) -> tuple[Array, int, float]:
    """Weights (d + 1,), the bias last, of the step with the lowest held-out loss, and that loss.

    Full-batch Adam on (n, d) rows until the loss has not fallen for `PATIENCE` steps.
    Deterministic; O(n d) a step.
    """
    rows, held = (np.column_stack([each, np.ones(len(each))]) for each in (features, held_features))
    point = first = second = np.zeros(rows.shape[1])
    penalty = np.append(np.full(features.shape[1], decay), 0.0)
    best, at, least = point, 0, log_loss(held @ point, held_labels)
    for step in range(1, STEPS + 1):
        gradient = rows.T @ (sigmoid(rows @ point) - labels) / len(rows) + penalty * point
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        ahead = first / (1 - 0.9**step)
        point = point - RATE * ahead / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        loss = log_loss(held @ point, held_labels)
        if loss < least:
            best, at, least = point, step, loss
        elif step - at > PATIENCE:
            break
    return best, at, least


def log_loss(logits: Array, labels: Array) -> float:
    """The mean negative log-likelihood of labels 0 and 1."""
    return float(np.mean(np.logaddexp(0.0, logits) - labels * logits))


def auc(typical: Array, atypical: Array) -> float:
    """The probability that an atypical one scores above a typical one, equals counting half."""
    if not len(typical) or not len(atypical):
        return float("nan")
    return float(0.5 + 0.5 * np.sign(atypical[:, None] - typical).mean())
