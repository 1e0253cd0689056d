"""Fitting the numbers of `harm` to people's choices."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.parts.scorers.answers import examples

from darc.parts.scorers import Harm
from darc.parts.scorers.base import sigmoid
from darc.parts.scorers.harm import user_text
from darc.runs.questions import EXAMPLES, find_questions
from darc.train.head import AnswerPair, fit_preference

Array = NDArray[np.float64]

ORDINARY = Path(__file__).with_name("ordinary.txt")
# How strongly weights are drawn to 0: those of the answer's features, those of embeddings.
ANSWERS = 60.0
RISK = 0.3
# The deviation of an answer's logit, and how far the middle one lies on the side of compliance.
STRENGTH = 1.0
SHIFT = 2.0
RISK_WORDS = 10.0
RISK_GAIN = 6.0
RISK_SHIFT = 1.3
# How often the risk's gradient is followed, and how often its largest curvature is approached.
GRADIENT_STEPS = 400
POWER_STEPS = 30


def ordinary_prompts() -> list[str]:
    """Harmless prompts: this folder's, DARC's own, and the development half of the hand-written."""
    prompts = ORDINARY.read_text(encoding="utf-8").splitlines()
    for question in find_questions(EXAMPLES):
        prompts += question.turns
    prompts += [example.prompt.question for example in examples() if not example.held_out]
    return prompts


def conversations(prompts: Sequence[str], seed: int = 0) -> list[str]:
    """As many harmless conversations of two to five turns, each of prompts drawn at random."""
    draw = random.Random(seed)
    return ["\n".join(draw.choices(prompts, k=draw.randint(2, 5))) for _ in prompts]


def fit_risk(harm: Harm, risky: Sequence[str], harmless: Sequence[str]) -> dict[str, Array]:
    """A logistic model of risky prompts by their embeddings and words."""
    harmless_texts = [*harmless, *conversations(harmless)]
    texts = [*risky, *harmless_texts]
    rows = np.column_stack([harm.risk_features(texts), np.ones(len(texts))])
    rows[len(risky) :] *= -1.0
    weights = _fit_wide(rows, np.append(np.full(rows.shape[1] - 1, RISK), 0.01))
    return {
        "risk": weights[:-1],
        "risk_bias": np.array(weights[-1] - RISK_SHIFT),
        "risk_words": np.array(RISK_WORDS),
        "risk_gain": np.array(RISK_GAIN),
    }


def _fit_wide(rows: Array, penalty: Array) -> Array:
    """Fit what `fit_preference` fits, by accelerated gradients: for thousands of features."""
    data = rows.astype(np.float32)
    largest = np.ones(data.shape[1], dtype=np.float32)
    for _ in range(POWER_STEPS):
        largest = data.T @ (data @ largest)
        largest /= np.linalg.norm(largest)
    curvature = float(np.linalg.norm(data @ largest) ** 2) / 4 + float(penalty.max())
    weights = np.zeros(data.shape[1])
    ahead = weights
    for step in range(GRADIENT_STEPS):
        wrong = sigmoid(-(data @ ahead.astype(np.float32)).astype(np.float64))
        gradient = penalty * ahead - data.T @ wrong.astype(np.float32)
        following = ahead - gradient / curvature
        ahead = following + step / (step + 3) * (following - weights)
        weights = following
    return weights


def fit_answers(better: Array, worse: Array, without: Sequence[int] = ()) -> dict[str, Array]:
    """The weights of features (n, d), some left out, from better and worse answers."""
    both = np.vstack([better, worse])
    unit = both.std(axis=0).clip(1e-6)
    penalty = np.full(len(unit), ANSWERS)
    penalty[list(without)] = 1e12
    weights = fit_preference((better - worse) / unit, penalty) / unit
    weights *= STRENGTH / (both @ weights).std()
    return {"weights": weights, "bias": np.array(-np.median(both @ weights) - SHIFT)}


def fit(harm: Harm, pairs: Sequence[AnswerPair], harmless: Sequence[str]) -> dict[str, Array]:
    """All numbers of harm.npz."""
    better = harm.features([(pair.prompt, pair.better) for pair in pairs])
    worse = harm.features([(pair.prompt, pair.worse) for pair in pairs])
    risky = [user_text(pair.prompt) for pair in pairs]
    return {**fit_answers(better, worse), **fit_risk(harm, risky, harmless)}
