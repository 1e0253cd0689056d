"""The scorer `head`: a linear preference over embeddings, as `darc train head` fits it."""

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.files import atomic_path
from darc.language.text import Text
from darc.models.catalogue import MINILM
from darc.models.embeddings import Embeddings, MiniLM
from darc.models.file_hash import hash_files
from darc.parts.scorers.base import Embedder, Pair, sigmoid, source_version
from darc.registry import scorer
from darc.typing import Array

SOURCES = (
    "head.py",
    "../../models/embeddings.py",
    "../../language/data_files.py",
    "../../language/text.py",
    "../../language/data/answers.toml",
)
PACKAGES = ("wordllama",)
_SCHEMA = 1
# The entries of an embedding are about 1/16; scaled like this, they weigh like the other features.
_EMBEDDING_SCALE = 16.0
_CLOSENESS_SCALE = 4.0
# No file of a preference is larger than this once it is unpacked, in bytes.
_MAX_UNPACKED = 16 * 2**20


@dataclass(frozen=True, eq=False)
class Preference:
    """A linear model of features: score = sigmoid(features @ weights - centre)."""

    #: The name of the embedding that the features were made with.
    embedding: str
    #: The weights of the features of `measure`, (d + 3,).
    weights: Array
    centre: float
    #: The mean and the standard deviation of the scores of the answers it was fitted to.
    location: float
    scale: float
    #: What training measured.
    report: dict[str, Any] = field(default_factory=dict)

    def score(self, features: Array) -> Array:
        """Score pairs between 0 and 1, (pairs,), by their features (pairs, d + 3)."""
        return sigmoid(features @ self.weights - self.centre)


@scorer("head", "FILE")
class Head:
    """A preference fitted to your own pairs or ratings, 0 to 1; FILE is written by darc train head.

    It is linear in the answer's embedding, its closeness to the prompt and its length: it learns
    subjects, tone and length, not facts or reasoning.
    """

    in_process = True
    bounds = (0.0, 1.0)

    def __init__(self, path: str, embedder: Embedder | None = None, *, name: str = "head") -> None:
        self.name = name
        self._path = Path(path)
        self.preference = read_preference(self._path)
        self._embedder = embedder or _make_embedder(self.preference.embedding)
        embedding = getattr(self._embedder, "name", "") or "another"
        if embedding != self.preference.embedding:
            raise InputError(
                f"{path} was fitted on the embedding {self.preference.embedding!r}, "
                f"and this is {embedding!r}",
                "fit it again: darc train head",
            )
        self.location = self.preference.location
        self.scale = self.preference.scale

    @cached_property
    def version(self) -> str:
        """A hash of the file and of the code that measures; empty with an embedder of your own."""
        if not isinstance(self._embedder, Embeddings | MiniLM):
            return ""
        return f"{hash_files([self._path])}-{source_version(*SOURCES, packages=PACKAGES)}"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs between 0 and 1, (pairs,)."""
        if not pairs:
            return np.zeros(0)
        return self.preference.score(measure(self._embedder, pairs))


def _make_embedder(name: str) -> Embedder:
    if name == MINILM:
        return MiniLM()
    return Embeddings()


def measure(embedder: Embedder, pairs: Sequence[Pair]) -> Array:
    """Measure what a preference is linear in.

    Args:
        embedder: Embeds texts in d dimensions.
        pairs: Pairs of prompt and answer.

    Returns:
        Features of shape (pairs, d + 3): the answer's embedding, its closeness to the prompt, and
        the logarithms of its numbers of words and sentences.
    """
    answers = [answer for _, answer in pairs]
    questions = list(dict.fromkeys(prompt.question for prompt, _ in pairs))
    vectors = np.asarray(embedder.embed([*answers, *questions]), np.float64)
    answer_vectors, question_vectors = np.split(vectors, [len(answers)])
    row_of_question = {question: row for row, question in enumerate(questions)}
    rows = [row_of_question[prompt.question] for prompt, _ in pairs]
    closeness = np.einsum("nd,nd->n", answer_vectors, question_vectors[rows])
    texts = [Text(answer) for answer in answers]
    lengths = np.log1p([[len(text.words), len(text.sentences)] for text in texts])
    return np.column_stack(
        [_EMBEDDING_SCALE * answer_vectors, _CLOSENESS_SCALE * closeness, lengths]
    )


def write_preference(model: Preference, path: Path) -> None:
    """Write a preference as an .npz file."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            schema=_SCHEMA,
            embedding=model.embedding,
            weights=model.weights,
            numbers=np.array([model.centre, model.location, model.scale]),
            report=json.dumps(model.report),
        )


def read_preference(path: Path) -> Preference:
    """Read a preference that `write_preference` wrote.

    Raises:
        InputError: If there is no such file, or it was written by another version.
    """
    if not path.is_file():
        raise InputError(f"there is no file {path}", "fit one: darc train head PAIRS --out FILE")
    try:
        _check_unpacked_size(path)
        with np.load(path, allow_pickle=False) as stored:
            schema = int(stored["schema"])
            centre, location, scale = stored["numbers"].tolist()
            weights = np.asarray(stored["weights"], dtype=np.float64)
            report = json.loads(str(stored["report"]))
            model = Preference(str(stored["embedding"]), weights, centre, location, scale, report)
    except Exception:  # zipfile, zlib, numpy and json each have errors of their own
        raise InputError(f"{path} is not a file of darc train head", "check the path") from None
    if not np.isfinite([*weights.ravel(), centre, location, scale]).all() or weights.ndim != 1:
        raise InputError(f"{path} is damaged", "fit it again: darc train head")
    if schema != _SCHEMA:
        raise InputError(f"{path} has schema {schema}", "it needs another version of DARC")
    return model


def _check_unpacked_size(path: Path) -> None:
    """Raise a ValueError for a file that would take much memory to read."""
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > _MAX_UNPACKED:
        raise ValueError(f"{size} bytes")
