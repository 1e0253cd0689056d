"""The scorer `relevance`: does the answer address the prompt?"""

from collections.abc import Callable, Sequence

import numpy as np

from darc.errors import InputError
from darc.language.text import Text
from darc.language.word_classes import content_stems
from darc.models.catalogue import MINILM
from darc.models.embeddings import Embeddings, MiniLM, best_embedder
from darc.models.installed import require
from darc.parts.scorers import embedding_scorer, evasion, prompt_words
from darc.parts.scorers.base import Embedder, Pair, scores_from_costs, source_version
from darc.parts.scorers.embedding_scorer import EmbeddingScorer
from darc.parts.scorers.prompt_words import PromptWords, coverage, echo, mismatch
from darc.registry import scorer
from darc.typing import Array

SOURCES = (
    "relevance.py",
    *embedding_scorer.SOURCES,
    *evasion.SOURCES,
    *prompt_words.SOURCES,
)
PACKAGES = embedding_scorer.PACKAGES
_BEST_SENTENCES = 3
_EXPECTED_SIMILARITY = 0.6
_SIMILARITY_COST = 2.5
_COVERAGE_COST = 0.5
_EVASION_COST = 1.5
_ECHO_COST = 1.0
_SUBSTANCE_COST = 0.4
# An answer that adds so many words to those of the prompt costs little for lack of substance.
_SUBSTANCE_WORDS = 12.0
_WORDS_PER_CODE_LINE = 3
_EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "auto": best_embedder,
    "static": Embeddings,
    "minilm": MiniLM,
}


@scorer("relevance")
class Relevance(EmbeddingScorer):
    """Closeness of an answer to its prompt, 0 to 1; English only.

    It measures the similarity of embeddings (the whole answer and its best sentences), how many of
    the prompt's subject words return, how many other content words are added, and whether code,
    items or numbers come where they were asked for. Evading harmless prompts and repeating the
    prompt cost. It does not judge truth: a wrong answer on the subject scores as high as a right
    one. The `embeddings` are MiniLM's of sentences where those are installed, or else static ones
    of words, sixty times as fast; "minilm" and "static" name them.
    """

    name = "relevance"
    version = source_version(*SOURCES, packages=PACKAGES)
    # Printed by `python -m tests.parts.scorers.calibrate`.
    location = 0.482
    scale = 0.176

    def __init__(self, embedder: Embedder | None = None, *, embeddings: str = "auto") -> None:
        if embeddings not in _EMBEDDERS:
            raise InputError(
                f"there are no embeddings {embeddings!r}", f"one of {', '.join(_EMBEDDERS)}"
            )
        super().__init__(embedder or _EMBEDDERS[embeddings]())
        if embedder is None and isinstance(self._embedder, MiniLM):
            self.version = f"{require(MINILM).sha256[:16]}-{type(self).version}"
            self.location = 0.596
            self.scale = 0.161

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs between 0 and 1, (pairs,); 1 to 2 ms for 200 words, in one batch."""
        if not pairs:
            return np.zeros(0)
        texts = [Text(answer) for _, answer in pairs]
        questions = [prompt.question for prompt, _ in pairs]
        words_of = {question: PromptWords.of(question) for question in questions}
        similarity = np.array(
            [_similarity(*vectors) for vectors in self.embed_parts(questions, texts)]
        )
        costs = [
            _cost(words_of[question], text) for question, text in zip(questions, texts, strict=True)
        ]
        distance = np.logaddexp(0.0, (_EXPECTED_SIMILARITY - similarity) * 10.0) / 10.0
        return scores_from_costs(np.array(costs) + _SIMILARITY_COST * distance)


def _similarity(prompt: Array, parts: Array, lengths: Array) -> float:
    """Mean of the cosines of a prompt to the whole answer and to its best sentences.

    The vector of the answer is the mean of its parts weighted by length, so that nothing is
    embedded twice.
    """
    answer = lengths @ parts
    norm = float(np.linalg.norm(answer)) or 1.0
    best_cosines = np.sort(parts @ prompt)[-_BEST_SENTENCES:]
    return 0.5 * float(answer @ prompt) / norm + 0.5 * float(best_cosines.mean())


def _cost(question: PromptWords, text: Text) -> float:
    """What the words of one answer cost, apart from its similarity."""
    request = question.request
    stems = content_stems(text.words)
    cost = _COVERAGE_COST * (1.0 - coverage(question, text, stems)) + mismatch(request, text)
    if not request.harmful:
        cost += _EVASION_COST * evasion.evasion(text)
    if not request.transform:
        added_words = len(stems - question.content) + _WORDS_PER_CODE_LINE * text.code_lines
        cost += _SUBSTANCE_COST * float(np.exp(-added_words / _SUBSTANCE_WORDS))
        cost += _ECHO_COST * echo(question, text)
    return cost
