"""What the Caution baseline measures on a pair of prompt and answer."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from darc.language.data_files import read_patterns
from darc.language.text import Text
from darc.language.word_classes import content_stems
from darc.parts.scorers import fluency, form, relevance
from darc.parts.scorers.base import Embedder, Pair
from darc.parts.scorers.fluency import Fluency, breathlessness, repetition
from darc.parts.scorers.form import Form
from darc.parts.scorers.prompt_words import PromptWords, coverage, echo, mismatch
from darc.parts.scorers.relevance import Relevance
from darc.parts.scorers.shape import ending_cost
from darc.typing import Array

SOURCES = ("caution_features.py", *fluency.SOURCES, *form.SOURCES, *relevance.SOURCES)
PACKAGES = (*fluency.PACKAGES, *relevance.PACKAGES)
_SCORER_NAMES = ("relevance", "fluency", "form")
_RELATION_NAMES = (
    "whole",
    "best",
    "middle",
    "worst",
    "first",
    "last",
    "outlier",
    "second outlier",
    "next",
    "next least",
    "order",
    "loneliest",
    "lonely gap",
)
_SHAPE_NAMES = (
    "sentences",
    "words",
    "ending",
    "open fence",
    "covered",
    "mismatch",
    "echo",
    "repetition",
    "breath",
    "opens linked",
    "numbers fall",
    "last half",
    "new words",
    "strangest",
    "ordinals fall",
    "markers inside",
)
#: The names of the features, in the order of the columns.
FEATURE_NAMES = (*_SCORER_NAMES, *_RELATION_NAMES, *_SHAPE_NAMES)
_MARKS = read_patterns("answers.toml", "marks")
_WORDS_OF_ORDINALS = (
    "first firstly",
    "second secondly then next",
    "third thirdly",
    "finally lastly",
)
_ORDINALS = {
    word: number for number, words in enumerate(_WORDS_OF_ORDINALS) for word in words.split()
}


class PairFeatures:
    """Measures pairs by the embedded scorers, static embeddings and the layout of sentences."""

    def __init__(self, embedder: Embedder) -> None:
        self._relevance = Relevance(embedder)
        self._scorers = (self._relevance, Fluency(), Form())

    def embed(self, texts: Sequence[str]) -> Array:
        """Embed texts as rows of unit length, (texts, dimensions)."""
        return self._relevance.embed(texts)

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Measure pairs; about 5 ms for 200 words.

        Args:
            pairs: Pairs of prompt and answer.

        Returns:
            Features of shape (pairs, features), in the order of `FEATURE_NAMES`.
        """
        if not pairs:
            return np.zeros((0, len(FEATURE_NAMES)))
        scores = np.column_stack([scorer.score(pairs) for scorer in self._scorers])
        texts = [Text(answer) for _, answer in pairs]
        questions = [prompt.question for prompt, _ in pairs]
        words_of = {question: PromptWords.of(question) for question in questions}
        relations = [
            _relation_features(*vectors)
            for vectors in self._relevance.embed_parts(questions, texts)
        ]
        shapes = [
            _shape_features(words_of[question], text)
            for question, text in zip(questions, texts, strict=True)
        ]
        return np.column_stack([scores, np.array(relations), np.array(shapes)])


def _relation_features(prompt: Array, parts: Array, lengths: Array) -> list[float]:
    """How a prompt (d,) and the sentences (sentences, d) of an answer lie to each other."""
    to_prompt = parts @ prompt
    answer = lengths @ parts
    norm = float(np.linalg.norm(answer)) or 1.0
    between = parts @ parts.T
    count = len(parts)
    fit = np.sort(_cosines_to_rest(prompt, parts, lengths, answer))
    closest = np.maximum(to_prompt, (between - 2.0 * np.eye(count)).max(axis=1))
    # A short sentence is far from all others, whatever it says.
    lonely = np.sort(closest + 0.35 * np.exp(-lengths / 40.0))
    neighbours = np.zeros(1)
    others = np.zeros(1)
    outlier_gap = 0.0
    order = 0.0
    if count > 1:
        neighbours = np.diag(between, 1)
        others = between[np.triu_indices(count, 1)]
        outlier_gap = float(fit[1] - fit[0])
        order = float(between[0, 1:].mean() - others.mean())
    return [
        float(answer @ prompt) / norm,
        float(np.sort(to_prompt)[-3:].mean()),
        float(to_prompt.mean()),
        float(to_prompt.min()),
        float(to_prompt[0] - to_prompt.mean()),
        float(to_prompt[-1] - to_prompt.mean()),
        float(fit[0]),
        outlier_gap,
        float(neighbours.mean() - others.mean()),
        float(neighbours.min()),
        order,
        float(lonely[0]),
        float(np.median(lonely) - lonely[0]),
    ]


def _cosines_to_rest(prompt: Array, parts: Array, lengths: Array, answer: Array) -> Array:
    """The cosine of each sentence to the other sentences and the prompt, (sentences,)."""
    rest = answer[None, :] - lengths[:, None] * parts + lengths.mean() * prompt[None, :]
    norms = np.linalg.norm(rest, axis=1)
    return np.asarray(np.einsum("sd,sd->s", parts, rest) / np.where(norms > 0, norms, 1.0))


def _shape_features(question: PromptWords, text: Text) -> list[float]:
    """What the words and marks of an answer show."""
    stems = content_stems(text.words)
    last_half = Text(text.raw[len(text.raw) // 2 :])
    sentences = text.sentences
    opens_linked = bool(sentences) and _MARKS["linked"].match(sentences[0]) is not None
    numbers = [int(number) for number in _MARKS["numbered"].findall(text.raw)]
    ordinals = [_ORDINALS[word] for word in text.words if word in _ORDINALS]
    return [
        float(np.log1p(len(sentences))),
        float(np.log1p(len(text.words))),
        ending_cost(text),
        float(text.fence_is_open),
        coverage(question, text, stems),
        mismatch(question.request, text),
        echo(question, text),
        repetition(text.words),
        breathlessness(text),
        float(opens_linked),
        _count_falls(numbers) / max(1, len(numbers)),
        coverage(question, text, content_stems(last_half.words)),
        len(stems - question.content) / max(1, len(stems)),
        _strangest_sentence(question, sentences),
        _count_falls(ordinals) / max(1, len(ordinals) - 1),
        float(np.log1p(len(_MARKS["inside"].findall(text.raw)))),
    ]


def _count_falls(numbers: Sequence[int]) -> int:
    """How many numbers follow a larger one."""
    return sum(second < first for first, second in pairwise(numbers))


def _strangest_sentence(question: PromptWords, sentences: Sequence[str]) -> float:
    """How many content words of the strangest sentence stand nowhere else, as log(1 + count)."""
    stems_of_sentences = [content_stems(Text(sentence).words) for sentence in sentences]
    counts = Counter(stem for stems in stems_of_sentences for stem in stems)
    largest = 0
    for stems in stems_of_sentences:
        is_strange = all(counts[stem] == 1 and stem not in question.content for stem in stems)
        if len(stems) > 2 and is_strange:
            largest = max(largest, len(stems))
    return float(np.log1p(largest))
