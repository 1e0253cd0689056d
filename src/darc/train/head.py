"""Fitting a linear preference to pairs of a better and a worse answer."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from darc.analysis.reading import load_ratings
from darc.entries import read_entries
from darc.errors import InputError
from darc.models.embeddings import best_embedder
from darc.parts.scorers.base import Embedder, Pair, sigmoid
from darc.parts.scorers.head import Preference, measure
from darc.settings.pairs import PairSettings
from darc.train.examples import read_messages
from darc.train.pairs import make_pairs
from darc.types import Message, Prompt
from darc.typing import Array

_MIN_PROMPTS = 10
_FOLDS = 10
_PENALTIES = (10.0, 100.0, 1000.0)
_NEWTON_STEPS = 30
_SMALLEST_STEP = 1e-8
# The quantile of the normal distribution for 95 % intervals.
_NORMAL_QUANTILE = 1.96


@dataclass(frozen=True)
class AnswerPair:
    """A prompt, the answer that people preferred, and the other one."""

    prompt: Prompt
    better: str
    worse: str


def read_pairs(path: Path, texts: Path | None = None) -> list[AnswerPair]:
    """Read pairs of a better and a worse answer.

    Args:
        path: JSON lines with prompt, chosen and rejected, each a text or messages; without a prompt
            the messages before the last one of `chosen` are the prompt. Or ratings, of which all
            pairs are used whose means differ.
        texts: The file with the answers of rated candidates.

    Returns:
        The pairs.

    Raises:
        InputError: There are neither pairs nor ratings with texts.
    """
    rows: Iterable[tuple[int | None, Any]]
    rows = read_entries(path) if _has_pairs(path) else _pairs_of_ratings(path, texts)
    return [_read_pair(path, number, line, row) for number, (line, row) in enumerate(rows, 1)]


def _has_pairs(path: Path) -> bool:
    """Whether the first line of a file is a pair."""
    if not path.is_file():
        return False
    _, first = next(read_entries(path), (None, None))
    return isinstance(first, dict) and bool({"chosen", "rejected"} & first.keys())


def _pairs_of_ratings(path: Path, texts: Path | None) -> list[tuple[None, Any]]:
    ratings = load_ratings(path, texts)
    if not ratings.texts or not any(ratings.questions):
        raise InputError(
            f"{path} has neither pairs nor ratings with texts",
            "write prompt, chosen, rejected per line, or give the texts of ratings by --texts",
        )
    choosing = PairSettings(which="all")
    rows = make_pairs(ratings.samples, ratings.questions, ratings.texts, choosing, Counter())
    return [(None, row) for row in rows]


def _read_pair(path: Path, number: int, line: int | None, row: Any) -> AnswerPair:
    if not isinstance(row, dict) or not row.get("chosen") or not row.get("rejected"):
        raise InputError(
            f"{path}, line {line or number}: no chosen and rejected answer",
            "write prompt, chosen, rejected",
        )
    better = read_messages(row["chosen"])
    worse = read_messages(row["rejected"])
    messages = better[:-1]
    if row.get("prompt"):
        messages = read_messages(row["prompt"])
    prompt = Prompt(str(number), messages or (Message("user", ""),))
    return AnswerPair(prompt, better[-1].content, worse[-1].content)


def fit_head(
    pairs: Sequence[AnswerPair],
    embedder: Embedder | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Preference:
    """Fit a preference; its penalty has the lowest loss in cross-validation over prompts.

    Args:
        pairs: Pairs of at least ten prompts.
        embedder: What embeds texts; by default the best that is installed.
        seed: The seed of the folds.
        tell: Called with a sentence before the measurement.

    Returns:
        The preference, whose report says how often it is right about prompts that it was not fitted
        to.

    Raises:
        InputError: There are too few prompts.
    """
    prompts = [_prompt_key(pair.prompt) for pair in pairs]
    prompt_count = len(set(prompts))
    if prompt_count < _MIN_PROMPTS:
        raise InputError(
            f"there are pairs for {prompt_count} prompts", f"give at least {_MIN_PROMPTS}"
        )
    embedder = embedder or best_embedder()
    tell(f"measuring {2 * len(pairs)} answers")
    better_answers: list[Pair] = [(pair.prompt, pair.better) for pair in pairs]
    worse_answers: list[Pair] = [(pair.prompt, pair.worse) for pair in pairs]
    features = measure(embedder, better_answers + worse_answers)
    better = features[: len(pairs)]
    worse = features[len(pairs) :]
    # The weights are a sum of differences: few pairs need no more coordinates than that.
    coordinates, sizes, basis = np.linalg.svd(better - worse, full_matrices=False)
    differences = coordinates * sizes
    pair_folds = folds(prompts, seed)
    margins = {
        penalty: held_out_margins(differences, pair_folds, penalty) for penalty in _PENALTIES
    }
    losses = {
        penalty: float(np.logaddexp(0.0, -margin).mean()) for penalty, margin in margins.items()
    }
    penalty = min(_PENALTIES, key=losses.__getitem__)
    weights = fit_preference(differences, penalty) @ basis
    centre = float(np.median(features @ weights))
    model = Preference(getattr(embedder, "name", ""), weights, centre, 0.0, 1.0)
    scores = model.score(features)
    accuracy, low, high = share_right(margins[penalty], prompts)
    report = {
        "pairs": len(pairs),
        "prompts": prompt_count,
        "penalty": penalty,
        "accuracy": accuracy,
        "low": low,
        "high": high,
    }
    return replace(
        model,
        location=float(scores.mean()),
        scale=float(scores.std(ddof=1)) or 1.0,
        report=report,
    )


def _prompt_key(prompt: Prompt) -> str:
    """A text that is equal for equal conversations."""
    return "\0".join(f"{message.role}\0{message.content}" for message in prompt.messages)


def fit_preference(differences: Array, penalty: float | Array) -> Array:
    """Fit a logistic model of differences by Newton's method.

    Args:
        differences: Features of the better answers minus those of the worse, shape (n, d).
        penalty: The ridge penalty, one or d numbers.

    Returns:
        Weights, shape (d,).
    """
    weights = np.zeros(differences.shape[1])
    ridge = np.full_like(weights, penalty)
    for _ in range(_NEWTON_STEPS):
        wrong = sigmoid(-(differences @ weights))
        gradient = ridge * weights - differences.T @ wrong
        curvature = (differences * (wrong * (1.0 - wrong))[:, None]).T @ differences
        step = np.linalg.solve(curvature + np.diag(ridge), gradient)
        weights = weights - step
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    return weights


def held_out_margins(differences: Array, fold: Array, penalty: float | Array) -> Array:
    """The margin of each pair by weights that were fitted without its fold.

    Args:
        differences: Features of the better answers minus those of the worse, shape (n, d).
        fold: The fold of each pair, shape (n,).
        penalty: The ridge penalty, one or d numbers.

    Returns:
        Margins, shape (n,).
    """
    margins = np.zeros(len(differences))
    for number in np.unique(fold):
        is_held_out = fold == number
        weights = fit_preference(differences[~is_held_out], penalty)
        margins[is_held_out] = differences[is_held_out] @ weights
    return margins


def folds(groups: Sequence[str], seed: int) -> Array:
    """The fold of each group, shape (n,), by a hash, so that equal groups are together."""
    numbers = []
    for group in groups:
        digest = sha256(f"{seed}\0{group}".encode()).digest()
        numbers.append(int.from_bytes(digest[:4]) % _FOLDS)
    return np.array(numbers, dtype=np.float64)


def share_right(margins: Array, groups: Sequence[str] = ()) -> tuple[float, float, float]:
    """The share of positive margins, 0 counting half, with its 95 % interval.

    The interval is Wilson's, for as many independent pairs as the pairs of all groups are worth:
    those of one prompt are alike.

    Args:
        margins: Shape (n,).
        groups: The prompt of each pair; by default every pair is of its own.

    Returns:
        The share and the ends of its interval.
    """
    right = (margins > 0) + 0.5 * (margins == 0)
    share = float(right.mean())
    count = _independent_pairs(right, share, groups)
    z = _NORMAL_QUANTILE
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return share, float(middle - half), float(middle + half)


def _independent_pairs(right: Array, share: float, groups: Sequence[str]) -> float:
    """The number of independent pairs whose share would vary as much."""
    _, group = np.unique(groups or np.arange(len(right)), return_inverse=True)
    variance = float((np.bincount(group, right - share) ** 2).sum()) / len(right) ** 2
    if not variance:
        return float(group.max() + 1)
    return min(len(right), share * (1 - share) / variance)
