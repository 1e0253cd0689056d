"""What scorers that rest on embeddings have in common."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from darc.language.text import Text
from darc.models.embeddings import Embeddings
from darc.parts.scorers.base import Embedder
from darc.typing import Array

SOURCES = (
    "embedding_scorer.py",
    "../../models/embeddings.py",
    "../../language/data_files.py",
    "../../language/text.py",
    "../../language/data/answers.toml",
)
# The weights of the embeddings come with this package.
PACKAGES = ("wordllama",)


class EmbeddingScorer:
    """Scores between 0 and 1 that rest on embeddings: the static ones unless others are given."""

    version: str
    in_process = True
    bounds = (0.0, 1.0)

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or Embeddings()
        #: The name of the embeddings in use.
        self.embeddings: str = getattr(self._embedder, "name", "")
        if not isinstance(self._embedder, Embeddings):
            # Nothing is known about other embeddings.
            self.version = ""

    def embed(self, texts: Sequence[str]) -> Array:
        """Embed texts as rows of unit length, (texts, dimensions)."""
        return np.asarray(self._embedder.embed(texts), dtype=np.float64)

    def embed_parts(
        self, questions: Sequence[str], texts: Sequence[Text]
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Embed prompts and the parts of their answers in one batch.

        Args:
            questions: The question of each pair.
            texts: The answer of each pair, which is split into sentences and code blocks.

        Yields:
            For each pair the vector of the question (d,), those of the answer's parts (parts, d),
            and the parts' lengths in characters (parts,).
        """
        parts_of_answers = [[*text.sentences, *text.code] or [text.raw] for text in texts]
        row_of_question = {question: row for row, question in enumerate(dict.fromkeys(questions))}
        vectors = self.embed([*row_of_question, *chain.from_iterable(parts_of_answers)])
        end = len(row_of_question)
        for question, parts in zip(questions, parts_of_answers, strict=True):
            start = end
            end = start + len(parts)
            lengths = np.array([len(part) for part in parts], dtype=np.float64)
            yield vectors[row_of_question[question]], vectors[start:end], lengths
