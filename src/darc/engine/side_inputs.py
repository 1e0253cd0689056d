"""What rules want to know of candidates besides their scores, and how alike texts are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError, MissingExtra
from darc.perturb.filters import Similarity
from darc.scorers.base import Embedder, Scorer
from darc.selection.rule import Rule
from darc.types import Candidate, Prompt
from darc.typing import Array

# Static embeddings of the hand-made rewrites in the tests: 1 in 100 good ones lies below.
LEAST = 0.62


def similarity_of(embedder: Embedder) -> Similarity:
    """The cosines of pairs of texts, (pairs,)."""

    def similarity(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        if not pairs:
            return np.zeros(0)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors = np.asarray(embedder.embed(texts), dtype=np.float64)
        place = {text: row for row, text in enumerate(texts)}
        left, right = (vectors[[place[pair[side]] for pair in pairs]] for side in (0, 1))
        return np.einsum("nd,nd->n", left, right)

    return similarity


def similarities(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float64]:
    """The cosine of each text with each other, (K, K)."""
    vectors = np.asarray(embedder.embed(list(texts)), dtype=np.float64)
    return np.asarray(vectors @ vectors.T)


SIDE_NAMES = {
    "log_likelihood": "loglik:MODEL",
    "atypicality": "SCORER",
    "dropout": "dropout:MODEL",
}


@dataclass(frozen=True)
class SideMaker:
    """Makes side inputs: what the candidates carry, similarities, and what scorers are named for.

    `scorers` maps log_likelihood, atypicality or dropout to the scorer that gives it; one for
    dropout has a method samples(pairs) -> (n, T).
    """

    scorers: Mapping[str, Scorer]
    embedder: Embedder | None

    def check(self, rule: Rule) -> None:
        """Refuse a rule whose side inputs cannot be made, before anything is done."""
        for name in rule.required():
            if name == "similarity" and self.embedder is None:
                raise MissingExtra(f"rule {rule.name!r} (similarities of answers)", "embedded")
            if name in ("atypicality", "dropout") and name not in self.scorers:
                raise _missing(f"rule {rule.name!r} needs {name!r}", name)

    def make(self, prompt: Prompt, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """The side inputs of one prompt's candidates, as lists: those that can be had."""
        pairs = [(prompt, candidate.text) for candidate in candidates]
        side: dict[str, Any] = {"tokens": [candidate.tokens for candidate in candidates]}
        known = [candidate.log_likelihood for candidate in candidates]
        if all(value is not None for value in known):
            side["log_likelihood"] = known
        if self.embedder is not None:
            texts = [candidate.text for candidate in candidates]
            side["similarity"] = np.round(similarities(self.embedder, texts), 9).tolist()
        for name, scorer in self.scorers.items():
            if name == "dropout":
                side[name] = _samples(scorer, pairs).tolist()
            else:
                side[name] = np.asarray(scorer.score(pairs), dtype=np.float64).tolist()
        return side


def wanted(rule: Rule, side: Mapping[str, Any]) -> dict[str, Array]:
    """What a rule needs or takes of a prompt's side inputs, as arrays."""
    for name in rule.required():
        if name not in side:
            raise _missing(
                f"rule {rule.name!r} needs {name!r}, which the generator does not give", name
            )
    names = [name for name in (*rule.required(), *rule.takes) if name in side]
    return {name: np.asarray(side[name], dtype=np.float64) for name in names}


def _missing(what: str, name: str) -> InputError:
    scorer = SIDE_NAMES.get(name, "SCORER")
    return InputError(what, f"name a scorer for it: --side {name}={scorer}")


def _samples(scorer: Scorer, pairs: Sequence[tuple[Prompt, str]]) -> Array:
    draw = getattr(scorer, "samples", None)
    if draw is None:
        raise InputError(
            f"scorer {scorer.name!r} has no stochastic passes", "such as dropout=dropout:MODEL"
        )
    return np.asarray(draw(pairs), dtype=np.float64)
