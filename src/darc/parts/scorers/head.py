"""A linear preference over embeddings, as `darc train head` fits it."""

import json
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

SCHEMA = 1
SOURCES = (
    *("head.py", "../../models/embeddings.py"),
    *("../../language/text.py", "../../language/data_files.py", "../../language/data/answers.toml"),
)
PACKAGES = ("wordllama",)
# An embedding's entries are about 1/16; so scaled they weigh like the others.
EMBEDDING_SCALE = 16.0


@dataclass(frozen=True, eq=False)
class Preference:
    """Weights of `measure`d pairs: score = sigmoid(features @ weights - centre).

    `embedding` names what the features were made with; `location` and `scale` are the mean and
    deviation of the scores of the answers it was fitted to; `report` says what came out.
    """

    embedding: str
    weights: Array
    centre: float
    location: float
    scale: float
    report: dict[str, Any] = field(default_factory=dict)

    def score(self, features: Array) -> Array:
        """Numbers between 0 and 1, (n,), of features (n, d)."""
        return sigmoid(features @ self.weights - self.centre)


@scorer("head", "FILE")
class Head:
    """A preference fitted to your own pairs or ratings, 0 to 1; FILE is of darc train head.

    It is linear in the answer's embedding, its closeness to the prompt and its length: it learns
    subjects, tone and length, not facts or reasoning.
    """

    in_process = True
    bounds = (0.0, 1.0)

    def __init__(self, path: str, embedder: Embedder | None = None, *, name: str = "head") -> None:
        self.name = name
        self._path = Path(path)
        self.preference = read_preference(self._path)
        named = self.preference.embedding == MINILM
        self._embedder = embedder or (MiniLM() if named else Embeddings())
        own = getattr(self._embedder, "name", "")
        if own != self.preference.embedding:
            raise InputError(
                f"{path} was fitted on the embedding {self.preference.embedding!r}, "
                f"and this is {own or 'another'!r}",
                "fit it again: darc train head",
            )
        self.location, self.scale = self.preference.location, self.preference.scale

    @cached_property
    def version(self) -> str:
        """A hash of the file and of the code that measures; empty with an embedder of one's own."""
        if not isinstance(self._embedder, Embeddings | MiniLM):
            return ""
        return f"{hash_files([self._path])}-{source_version(*SOURCES, packages=PACKAGES)}"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One number between 0 and 1 a pair, (n,)."""
        return self.preference.score(measure(self._embedder, pairs)) if pairs else np.zeros(0)


def measure(embedder: Embedder, pairs: Sequence[Pair]) -> Array:
    """What a preference is linear in, (n, d + 3): embedding, closeness, words, sentences."""
    texts = [Text(answer) for _, answer in pairs]
    questions = dict.fromkeys(prompt.question for prompt, _ in pairs)
    asked = {question: row for row, question in enumerate(questions)}
    vectors = np.asarray(embedder.embed([*(answer for _, answer in pairs), *asked]), np.float64)
    answers, prompts = np.split(vectors, [len(texts)])
    prompts = prompts[[asked[prompt.question] for prompt, _ in pairs]]
    lengths = np.log1p([[len(text.words), len(text.sentences)] for text in texts])
    close = 4.0 * np.einsum("nd,nd->n", answers, prompts)
    return np.column_stack([EMBEDDING_SCALE * answers, close, lengths])


def write_preference(model: Preference, path: Path) -> None:
    """Write a preference as an .npz file."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            schema=SCHEMA,
            embedding=model.embedding,
            weights=model.weights,
            numbers=np.array([model.centre, model.location, model.scale]),
            report=json.dumps(model.report),
        )


def read_preference(path: Path) -> Preference:
    """The preference of a file that `write_preference` wrote."""
    if not path.is_file():
        raise InputError(f"there is no file {path}", "fit one: darc train head PAIRS --out FILE")
    try:
        with np.load(path, allow_pickle=False) as stored:
            schema = int(stored["schema"])
            centre, location, scale = stored["numbers"].tolist()
            weights = np.asarray(stored["weights"], dtype=np.float64)
            report = json.loads(str(stored["report"]))
            model = Preference(str(stored["embedding"]), weights, centre, location, scale, report)
    except (ValueError, KeyError, TypeError, OSError, EOFError, AttributeError):
        raise InputError(f"{path} is no file of darc train head", "check the path") from None
    if schema != SCHEMA:
        raise InputError(f"{path} has schema {schema}", "it needs another version of DARC")
    return model
