"""How atypical an answer is, by a model that `darc train caution` fitted, in a JSON file."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.files import atomic_writer, read_json
from darc.language.data_files import read_patterns
from darc.language.text import Text
from darc.language.word_classes import content_stems
from darc.models.embeddings import Embeddings
from darc.models.installed import files_hash
from darc.parts.scorers import fluency, form, relevance
from darc.parts.scorers.base import Embedder, Pair, sigmoid, source_version
from darc.parts.scorers.fluency import Fluency, breathlessness, repetition
from darc.parts.scorers.form import Form
from darc.parts.scorers.prompt_words import PromptWords, coverage, echo, mismatch
from darc.parts.scorers.relevance import Relevance
from darc.parts.scorers.reward import RewardScorer
from darc.parts.scorers.shape import ending_cost
from darc.registry import scorer
from darc.typing import Array

SCHEMA = 1
FILE = "caution.json"
OWN = "caution.py"
SOURCES = (OWN, *form.SOURCES, *fluency.SOURCES, *relevance.SOURCES)
MARKS = read_patterns("answers.toml", "marks")
PACKAGES = (*fluency.PACKAGES, *relevance.PACKAGES)


NAMES = (
    *("relevance", "fluency", "form"),
    *("whole", "best", "middle", "worst", "first", "last"),
    *("outlier", "second outlier", "next", "next least", "order", "loneliest", "lonely gap"),
    *("sentences", "words", "ending", "open fence", "covered", "mismatch", "echo"),
    *("repetition", "breath", "opens linked", "numbers fall", "last half", "new words"),
    *("strangest", "ordinals fall", "markers inside"),
)
_PLACES = ("first firstly", "second secondly then next", "third thirdly", "finally lastly")
ORDINALS = {word: place for place, words in enumerate(_PLACES) for word in words.split()}


class PairFeatures:
    """Measures pairs by the embedded scorers, static embeddings and the layout of sentences."""

    def __init__(self, embedder: Embedder) -> None:
        self._relevance = Relevance(embedder)
        self._scorers = (self._relevance, Fluency(), Form())
        self.embed = self._relevance.embed

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """One row a pair, (n, features) in the order of `NAMES`; about 5 ms for 200 words."""
        if not pairs:
            return np.zeros((0, len(NAMES)))
        scores = np.column_stack([scorer.score(pairs) for scorer in self._scorers])
        texts = [Text(answer) for _, answer in pairs]
        questions = [prompt.question for prompt, _ in pairs]
        read = {question: PromptWords.of(question) for question in questions}
        places = list(starmap(_relations, self._relevance.embed_parts(questions, texts)))
        shape = [_shape(read[asked], text) for asked, text in zip(questions, texts, strict=True)]
        return np.column_stack([scores, np.array(places), np.array(shape)])


def _relations(prompt: Array, parts: Array, sizes: Array) -> list[float]:
    """How a prompt (d,) and the sentences (s, d) of an answer lie to each other."""
    near = parts @ prompt
    whole = sizes @ parts
    length = float(np.linalg.norm(whole)) or 1.0
    between = parts @ parts.T
    count = len(parts)
    rest = whole[None, :] - sizes[:, None] * parts + sizes.mean() * prompt[None, :]
    scale = np.linalg.norm(rest, axis=1)
    fit = np.sort(np.einsum("sd,sd->s", parts, rest) / np.where(scale > 0, scale, 1.0))
    closest = np.maximum(near, (between - 2.0 * np.eye(count)).max(axis=1))
    # A short sentence is far from all others whatever it says.
    lonely = np.sort(closest + 0.35 * np.exp(-sizes / 40.0))
    neighbours = np.diag(between, 1) if count > 1 else np.zeros(1)
    others = between[np.triu_indices(count, 1)] if count > 1 else np.zeros(1)
    return [
        float(whole @ prompt) / length,
        float(np.sort(near)[-3:].mean()),
        float(near.mean()),
        float(near.min()),
        float(near[0] - near.mean()),
        float(near[-1] - near.mean()),
        float(fit[0]),
        float(fit[1] - fit[0]) if count > 1 else 0.0,
        float(neighbours.mean() - others.mean()),
        float(neighbours.min()),
        float(between[0, 1:].mean() - others.mean()) if count > 1 else 0.0,
        float(lonely[0]),
        float(np.median(lonely) - lonely[0]),
    ]


def _shape(question: PromptWords, text: Text) -> list[float]:
    """What the words and marks of an answer show."""
    stems = content_stems(text.words)
    sentences = text.sentences
    numbers = [int(number) for number in MARKS["numbered"].findall(text.raw)]
    ordinals = [ORDINALS[word] for word in text.words if word in ORDINALS]
    half = len(text.raw) // 2
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
        float(bool(sentences) and bool(MARKS["linked"].match(sentences[0]))),
        _falls(numbers) / len(numbers) if numbers else 0.0,
        coverage(question, text, content_stems(Text(text.raw[half:]).words)),
        len(stems - question.content) / max(1, len(stems)),
        strangest(question, sentences),
        _falls(ordinals) / (len(ordinals) - 1) if len(ordinals) > 1 else 0.0,
        float(np.log1p(len(MARKS["inside"].findall(text.raw)))),
    ]


def _falls(places: Sequence[int]) -> int:
    """How many places come after a later one."""
    return sum(b < a for a, b in pairwise(places))


def strangest(question: PromptWords, sentences: Sequence[str]) -> float:
    """How many content words of the strangest sentence stand nowhere else, as log(1 + count)."""
    own = [content_stems(Text(each).words) for each in sentences]
    counts = Counter(word for words in own for word in words)
    alone = [
        sum(counts[word] == 1 and word not in question.content for word in words)
        for words in own
        if len(words) > 2 and not any(counts[w] > 1 or w in question.content for w in words)
    ]
    return float(np.log1p(max(alone, default=0)))


@dataclass(frozen=True)
class Classifier:
    """A logistic model of (x - location) / scale, and its squares, over d features.

    `weights` has 2 d numbers, those of the squares behind.
    """

    features: list[str]
    location: list[float]
    scale: list[float]
    weights: list[float]
    bias: float
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "classifier"

    def atypicality(self, features: Array) -> Array:
        """The probability of "atypical", (n,), of features (n, d)."""
        inputs = expanded(features, self.location, self.scale)
        return sigmoid(inputs @ np.array(self.weights) + self.bias)


@dataclass(frozen=True)
class Predictor:
    """A linear prediction of an answer's features from its prompt's embedding.

    Atypical is a large error: e = Phi((log error - centre) / width), where the error is the mean
    square of the residuals in units of `spread`, and centre and width are those of held-out typical
    answers. `weights` is (d_prompt + 1, d); `basis` (d_raw, d) projects the features first, empty
    where they are taken as they are. `target` names the reward model whose features these are,
    empty for the embedded ones.
    """

    features: list[str]
    location: list[float]
    scale: list[float]
    weights: list[list[float]]
    spread: list[float]
    centre: float
    width: float
    target: str = ""
    basis: list[list[float]] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "features"

    def errors(self, prompts: Array, features: Array) -> Array:
        """The mean squared residual of each pair, (n,)."""
        standard = standardised(features, self.location, self.scale)
        if self.basis:
            standard = standard @ np.array(self.basis)
        weights = np.array(self.weights)
        residual = standard - (prompts @ weights[:-1] + weights[-1])
        return np.asarray(np.mean((residual / np.array(self.spread)) ** 2, axis=1))

    def atypicality(self, prompts: Array, features: Array) -> Array:
        """Numbers in [0, 1], (n,), of prompt embeddings (n, d_prompt) and features (n, d)."""
        z = (np.log(self.errors(prompts, features) + 1e-12) - self.centre) / self.width
        return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in z])


@dataclass(frozen=True)
class EncoderModel:
    """A sequence classifier in a folder beside the file, whose one output is the logit."""

    folder: str = "encoder"
    max_length: int = 512
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "encoder"


Model = Classifier | Predictor | EncoderModel
_KINDS: dict[str, type[Model]] = {kind.form: kind for kind in (Classifier, Predictor, EncoderModel)}


def standardised(features: Array, location: list[float], scale: list[float]) -> Array:
    """Features in units of the typical ones', cut off at 8 so that none rules alone."""
    return np.clip((features - np.array(location)) / np.array(scale), -8.0, 8.0)


def expanded(features: Array, location: list[float], scale: list[float]) -> Array:
    """The inputs of a classifier, (n, 2 d): features and their squares."""
    standard = standardised(features, location, scale)
    return np.column_stack([standard, standard**2 / 4.0])


def write_model(model: Model, path: Path) -> None:
    """Write a model as JSON."""
    with atomic_writer(path) as file:
        file.write(json.dumps({"schema": SCHEMA, **asdict(model)}, indent=1) + "\n")


def read_model(path: Path) -> Model:
    """The model of a file that `write_model` wrote, or of a folder with one in it."""
    file = path / FILE if path.is_dir() else path
    try:
        data = read_json(file, "train one: darc train caution")
        schema = data.pop("schema")
        if schema != SCHEMA:
            raise InputError(f"{file} has schema {schema}", "it needs another version of DARC")
        return _KINDS[data["form"]](**data)
    except (KeyError, AttributeError, TypeError):
        raise InputError(f"{file} is no model of darc train caution", "check the path") from None


@scorer("caution", "PATH")
class Caution:
    """The probability that an answer is atypical, 0 to 1; higher is worse, for the rule `caution`.

    Named for the side input: --side atypicality=caution:PATH. PATH is a file of darc train caution,
    or a folder for its form `encoder`, which needs the extra `hf`.
    """

    name = "caution"
    location = None
    scale = None
    bounds = (0.0, 1.0)

    def __init__(self, path: str, embedder: Embedder | None = None) -> None:
        self._path = Path(path)
        self.model: Model = read_model(self._path)
        by_network = isinstance(self.model, EncoderModel) or bool(getattr(self.model, "target", ""))
        if not by_network and tuple(getattr(self.model, "features", ())) != NAMES:
            raise InputError(
                f"{path} was trained on other features", "train it again with this version"
            )
        self._embedder = embedder

    @cached_property
    def version(self) -> str:
        """A hash of the model's file and of the code that measures; empty where one is unknown."""
        if not isinstance(self._embedder, Embeddings | None):
            return ""
        file = self._path / FILE if self._path.is_dir() else self._path
        alone = isinstance(self.model, EncoderModel)
        code = source_version(OWN) if alone else source_version(*SOURCES, packages=PACKAGES)
        own = f"{files_hash([file])}-{code}"
        if self._network is None:
            return own
        return f"{own}-{self._network.version}" if self._network.version else ""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One probability of "atypical" a pair, (n,)."""
        if not pairs:
            return np.empty(0)
        if isinstance(self.model, EncoderModel):
            assert self._network is not None
            return sigmoid(self._network.score(pairs))
        network = self._network
        features = self._pair_features.measure(pairs) if network is None else network.hidden(pairs)
        if isinstance(self.model, Classifier):
            return self.model.atypicality(features)
        prompts = self._pair_features.embed([prompt.question for prompt, _ in pairs])
        return self.model.atypicality(prompts, features)

    @cached_property
    def _pair_features(self) -> PairFeatures:
        return PairFeatures(self._embedder or Embeddings())

    @cached_property
    def _network(self) -> RewardScorer | None:
        """The encoder, or the reward model whose features are predicted."""
        if isinstance(self.model, EncoderModel):
            folder = self._path if self._path.is_dir() else self._path.parent
            place = str(folder / self.model.folder)
            return RewardScorer(place, max_length=self.model.max_length, low=-700, high=700)
        target = self.model.target if isinstance(self.model, Predictor) else ""
        return RewardScorer(target) if target else None
