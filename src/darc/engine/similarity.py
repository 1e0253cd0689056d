"""A guard on meaning: the embeddings of an answer and its rewrite must be close."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from darc.perturb.filters import Similarity
from darc.scorers.base import Embedder

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
