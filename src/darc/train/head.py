"""Fitting a linear preference to pairs of a better and a worse answer."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from darc.analysis.reading import load_ratings
from darc.errors import InputError
from darc.files import read_entries
from darc.models.embeddings import best_embedder
from darc.parts.scorers.base import Embedder, Pair, sigmoid
from darc.parts.scorers.head import Preference, measure
from darc.train.examples import read_messages
from darc.train.preferences import PairChoosing, make_pairs
from darc.types import Message, Prompt
from darc.typing import Array

LEAST_PROMPTS = 10
FOLDS = 10
PENALTIES = (10.0, 100.0, 1000.0)
STEPS = 30


@dataclass(frozen=True)
class AnswerPair:
    """A prompt, the answer that people preferred, and the other one."""

    prompt: Prompt
    better: str
    worse: str


def read_pairs(path: Path, texts: Path | None = None) -> list[AnswerPair]:
    """The pairs of JSON lines with prompt, chosen and rejected, each a text or messages.

    Without a prompt, the messages before the last one of `chosen` are it. Of ratings, whose answers
    may be in the file `texts`, all pairs that their means tell apart.
    """
    first = next(read_entries(path), (None, None))[1] if path.is_file() else None
    rows: Iterable[Any]
    if isinstance(first, dict) and {"chosen", "rejected"} & first.keys():
        rows = read_entries(path)
    else:
        source = load_ratings(path, texts)
        if not source.texts or not any(source.questions):
            raise InputError(
                f"{path} has neither pairs nor ratings with texts",
                "write prompt, chosen, rejected a line, or give the texts of ratings by --texts",
            )
        given = source.samples, source.questions, source.texts
        made = make_pairs(*given, PairChoosing(which="all"), Counter())
        rows = ((None, row) for row in made)
    pairs = []
    for place, (line, row) in enumerate(rows, 1):
        if not isinstance(row, dict) or not row.get("chosen") or not row.get("rejected"):
            what = f"{path}, line {line or place}: no chosen and rejected answer"
            raise InputError(what, "write prompt, chosen, rejected")
        better, worse = read_messages(row["chosen"]), read_messages(row["rejected"])
        prompt = read_messages(row["prompt"]) if row.get("prompt") else better[:-1]
        asked = Prompt(str(place), prompt or (Message("user", ""),))
        pairs.append(AnswerPair(asked, better[-1].content, worse[-1].content))
    return pairs


def fit_head(
    pairs: Sequence[AnswerPair],
    embedder: Embedder | None = None,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> Preference:
    """The preference, with what it gets right of prompts that it was not fitted to.

    The penalty is the one of `PENALTIES` with the lowest loss in cross-validation over prompts.
    """
    groups = ["\0".join(f"{m.role}\0{m.content}" for m in pair.prompt.messages) for pair in pairs]
    if len(set(groups)) < LEAST_PROMPTS:
        raise InputError(
            f"there are pairs for {len(set(groups))} prompts", f"give at least {LEAST_PROMPTS}"
        )
    tool = embedder or best_embedder()
    tell(f"measuring {2 * len(pairs)} answers")
    both: list[Pair] = [(p.prompt, p.better) for p in pairs] + [(p.prompt, p.worse) for p in pairs]
    features = measure(tool, both)
    better, worse = features[: len(pairs)], features[len(pairs) :]
    # The weights are a sum of differences: few pairs need no more coordinates than that.
    parts, sizes, basis = np.linalg.svd(better - worse, full_matrices=False)
    fold, differences = folds(groups, seed), parts * sizes
    margins = {each: held_out(differences, fold, each) for each in PENALTIES}
    losses = {each: np.logaddexp(0.0, -margin).mean() for each, margin in margins.items()}
    penalty = min(losses, key=lambda each: float(losses[each]))
    weights = fit_preference(differences, penalty) @ basis
    centre = float(np.median(features @ weights))
    model = Preference(getattr(tool, "name", ""), weights, centre, 0.0, 1.0)
    scores = model.score(features)
    location, scale = float(scores.mean()), float(scores.std(ddof=1)) or 1.0
    report = {"pairs": len(pairs), "prompts": len(set(groups)), "penalty": penalty}
    shares = share_right(margins[penalty], groups)
    report |= dict(zip(("accuracy", "low", "high"), shares, strict=True))
    return replace(model, location=location, scale=scale, report=report)


def fit_preference(differences: Array, penalty: float | Array) -> Array:
    """Weights (d,) of a logistic model of differences (n, d), better minus worse, by Newton."""
    weights = np.zeros(differences.shape[1])
    ridge = np.full_like(weights, penalty)
    for _ in range(STEPS):
        wrong = sigmoid(-(differences @ weights))
        gradient = ridge * weights - differences.T @ wrong
        curvature = (differences * (wrong * (1.0 - wrong))[:, None]).T @ differences
        step = np.linalg.solve(curvature + np.diag(ridge), gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def held_out(differences: Array, fold: Array, penalty: float | Array) -> Array:
    """The margin (n,) of each pair by weights that were fitted without its fold."""
    margin = np.zeros(len(differences))
    for each in np.unique(fold):
        weights = fit_preference(differences[fold != each], penalty)
        margin[fold == each] = differences[fold == each] @ weights
    return margin


def folds(groups: Sequence[str], seed: int) -> Array:
    """The fold of each group, (n,), by a hash: equal ones together."""
    drawn = (sha256(f"{seed}\0{group}".encode()).digest()[:4] for group in groups)
    return np.array([int.from_bytes(each) % FOLDS for each in drawn], dtype=np.float64)


def share_right(margins: Array, groups: Sequence[str] = ()) -> tuple[float, float, float]:
    """The share of positive margins, 0 counting half, and its 95 % interval.

    Wilson's, for as many independent pairs as the pairs of all `groups` are worth: those of one
    prompt are alike.
    """
    right = (margins > 0) + 0.5 * (margins == 0)
    share, z = float(right.mean()), 1.96
    _, place = np.unique(groups or np.arange(len(right)), return_inverse=True)
    spread = float((np.bincount(place, right - share) ** 2).sum()) / len(right) ** 2
    count = min(len(right), share * (1 - share) / spread) if spread else float(place.max() + 1)
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * np.sqrt(share * (1 - share) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return share, float(middle - half), float(middle + half)
