"""Does the answer address the prompt."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, starmap

import numpy as np

from darc.errors import InputError
from darc.language.data_files import any_of, read_toml
from darc.language.inflection import loose_stem
from darc.language.text import Text
from darc.language.word_classes import content_stems, subject_words
from darc.models.embeddings import Embeddings, MiniLM, best_embedder
from darc.models.installed import MINILM, require
from darc.parts.scorers import flaws
from darc.parts.scorers.base import Embedder, Pair, from_costs, source_version
from darc.parts.scorers.flaws import Expectation, expectation
from darc.registry import scorer
from darc.typing import Array

BEST_SENTENCES = 3
EXPECTED_SIMILARITY, SIMILARITY_COST = 0.6, 2.5
COVERAGE_COST, EVASION_COST, ECHO_COST = 0.5, 1.5, 1.0
SUBSTANCE_COST, SUBSTANCE_WORDS, LINE_WORDS = 0.4, 12.0, 3
EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "auto": best_embedder,
    "static": Embeddings,
    "minilm": MiniLM,
}


@dataclass(frozen=True)
class PromptWords:
    """What is needed of a prompt: its request, stems of subject and content words, triples."""

    request: Expectation
    subjects: frozenset[str]
    content: frozenset[str]
    triples: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, question: str) -> "PromptWords":
        """The question taken apart. O(length)."""
        words = Text(question).words
        return cls(
            expectation(question),
            frozenset(map(loose_stem, subject_words(words))),
            frozenset(content_stems(words)),
            triples(words),
        )


def triples(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """The runs of three words."""
    return frozenset(zip(words, words[1:], words[2:], strict=False))


SOURCES = ("relevance.py", "../../models/embeddings.py", *flaws.SOURCES)
# The weights of the embeddings come with it.
PACKAGES = ("wordllama",)


class EmbeddingScorer:
    """Scores between 0 and 1 that rest on embeddings, the static ones unless others are given.

    What is scored with others has no version, since nothing is known of them. `embeddings` is the
    name of those in use.
    """

    version: str
    in_process = True
    bounds = (0.0, 1.0)

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or Embeddings()
        self.embeddings: str = getattr(self._embedder, "name", "")
        if not isinstance(self._embedder, Embeddings):
            self.version = ""

    def embed(self, texts: Sequence[str]) -> Array:
        """Rows of unit length, (n, d)."""
        return np.asarray(self._embedder.embed(texts), dtype=np.float64)

    def embed_parts(
        self, questions: Sequence[str], texts: Sequence[Text]
    ) -> Iterator[tuple[Array, Array, Array]]:
        """For each pair the prompt (d,), the answer's parts (s, d) and their lengths (s,)."""
        pieces = [[*text.sentences, *text.code] or [text.raw] for text in texts]
        asked = {question: row for row, question in enumerate(dict.fromkeys(questions))}
        vectors = self.embed([*asked, *chain.from_iterable(pieces)])
        end = len(asked)
        for question, parts in zip(questions, pieces, strict=True):
            start, end = end, end + len(parts)
            sizes = np.array([len(part) for part in parts], dtype=np.float64)
            yield vectors[asked[question]], vectors[start:end], sizes


@scorer("relevance")
class Relevance(EmbeddingScorer):
    """Closeness of an answer to its prompt, 0 to 1; English only.

    Measures: similarity of embeddings (the whole answer and its best sentences), how many of the
    prompt's subject words return, how many other content words are added, and whether code, items
    or numbers come where they were asked for; evasion of harmless prompts and repeating the prompt
    cost. It is no judge of truth: a wrong answer on the subject scores as high as a right one.
    The `embeddings` are MiniLM's of sentences where those are installed, or else static ones of
    words, sixty times as fast; "minilm" and "static" name them.
    """

    name = "relevance"
    version = source_version(*SOURCES, packages=PACKAGES)
    # Printed by `python -m tests.parts.scorers.calibrate`.
    location = 0.482
    scale = 0.176

    def __init__(self, embedder: Embedder | None = None, *, embeddings: str = "auto") -> None:
        if embeddings not in EMBEDDERS:
            raise InputError(
                f"there are no embeddings {embeddings!r}", f"one of {', '.join(EMBEDDERS)}"
            )
        super().__init__(embedder or EMBEDDERS[embeddings]())
        if embedder is None and isinstance(self._embedder, MiniLM):
            self.version = f"{require(MINILM).sha256[:16]}-{type(self).version}"
            self.location, self.scale = 0.596, 0.161

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One number between 0 and 1 a pair, (n,); 1 to 2 ms for 200 words, in one batch."""
        if not pairs:
            return np.zeros(0)
        texts = [Text(answer) for _, answer in pairs]
        questions = [prompt.question for prompt, _ in pairs]
        read = {question: PromptWords.of(question) for question in questions}
        similarity = np.array(list(starmap(_similarity, self.embed_parts(questions, texts))))
        costs = [_cost(read[asked], text) for asked, text in zip(questions, texts, strict=True)]
        distance = np.logaddexp(0.0, (EXPECTED_SIMILARITY - similarity) * 10.0) / 10.0
        return from_costs(np.array(costs) + SIMILARITY_COST * distance)


def _similarity(prompt: Array, parts: Array, sizes: Array) -> float:
    """Mean of the cosines of a prompt to the whole answer and to its best sentences.

    The whole is the mean of its parts by length, so that nothing is embedded twice.
    """
    whole = sizes @ parts
    length = float(np.linalg.norm(whole)) or 1.0
    best = np.sort(parts @ prompt)[-BEST_SENTENCES:]
    return 0.5 * float(whole @ prompt) / length + 0.5 * float(best.mean())


def _cost(question: PromptWords, text: Text) -> float:
    """What the words of one answer cost, apart from its similarity."""
    request = question.request
    stems = content_stems(text.words)
    cost = COVERAGE_COST * (1.0 - coverage(question, text, stems)) + mismatch(request, text)
    if not request.harmful:
        cost += EVASION_COST * evasion(text)
    if not request.transform:
        added = len(stems - question.content) + LINE_WORDS * text.code_lines
        cost += SUBSTANCE_COST * float(np.exp(-added / SUBSTANCE_WORDS))
        cost += ECHO_COST * echo(question, text)
    return cost


def coverage(question: PromptWords, text: Text, stems: set[str]) -> float:
    """How far the stems (and code) of an answer cover the prompt's subjects, 0 to 1, saturating."""
    if not question.subjects:
        return 1.0
    code = " ".join([*text.code, *text.inline_code]).lower()
    said = sum(subject in stems or subject in code for subject in question.subjects)
    return float(1.0 - np.exp(-3.0 * said / len(question.subjects)))


def mismatch(request: Expectation, text: Text) -> float:
    """What it costs to give prose where code, items or a number was asked for."""
    cost = 0.0
    if request.code and not text.code_lines:
        cost += 0.15 if text.inline_code else 0.4
    if not request.code and text.code:
        cost += 0.3
    if request.items and len(text.items) < 2:
        cost += 0.3
    if request.number and not any(map(str.isdecimal, text.raw)):
        cost += 0.3
    return cost


EVASION = read_toml("answers.toml")["evasion"]
# How surely a sentence with such a phrase says nothing.
WEIGHTS = tuple(
    (weight, any_of(*EVASION[kind]))
    for kind, weight in (("refusals", 0.9), ("delegations", 0.65), ("vagueness", 0.5))
)
REST_WEIGHT = 0.35


def evasion(text: Text) -> float:
    """How much of the answer evades, 0 to 1: evasive sentences against substantial ones.

    One admission of doubt in a long answer weighs little. O(length).
    """
    if not text.sentences:
        return 0.0
    evasive = 0.0
    for sentence in map(str.lower, text.sentences):
        doubts = (1.0 - weight for weight, pattern in WEIGHTS if pattern.search(sentence))
        evasive += 1.0 - math.prod(doubts, start=1.0)
    blocks = 3.0 * len(text.code) + 0.5 * len(text.inline_code)
    rest = len(text.sentences) - evasive + blocks
    return evasive / (evasive + REST_WEIGHT * rest)


def echo(question: PromptWords, text: Text) -> float:
    """The share of the answer's word triples that stand in the prompt too, 0 to 1."""
    said = triples(text.words)
    return len(question.triples & said) / len(said) if said else 0.0
