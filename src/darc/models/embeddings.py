"""Sentence embeddings: the mean of a text's token vectors, or a small BERT, in numpy.

The second sees paraphrase better, at a hundred times the cost; neither sees negation.
"""

import itertools
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from darc.errors import MissingExtra, extra_needed
from darc.models.catalogue import MINILM
from darc.models.installed import find, require

Vectors = NDArray[np.float32]
Weights = Mapping[str, Vectors]

_PACKAGE = "wordllama"
_WEIGHTS_FILE = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER_FILE = Path("tokenizers", "l2_supercat_tokenizer_config.json")
# What the tokenizer writes for a space.
_SPACE = "\u2581"
# What the tokenizer reads as one token wherever it stands.
_SPECIAL_TOKEN = re.compile("<unk>|</?s>")
_WORD = re.compile(f"{_SPACE}+[^{_SPACE}]*")
_MAX_CACHED_WORDS = 10_000
# How many vectors of tokens are in memory at the same time, 1 kB each.
_TOKENS_AT_ONCE = 16_384

_MAX_TOKENS = 256
_BATCH_SIZE = 16
_ATTENTION_HEADS = 12
_EPSILON = 1e-12
# Added to the attention to padding, so that it vanishes.
_MASKED = np.float32(-1e9)
# Abramowitz and Stegun's approximation of the error function, 7.1.26, to 1.5e-7.
_ERROR_FUNCTION_SCALE = 0.3275911
_ERROR_FUNCTION_TERMS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0)


class Embeddings:
    """Embeddings of texts by WordLlama's 256-dimensional token vectors; loaded at the first use.

    Its files are read directly: importing the package would configure the root logger and needs
    libraries for downloads. About 8,000 short texts per second on one core; safe to use from
    several threads.
    """

    name = "wordllama-256"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: The texts, n of them.

        Returns:
            Vectors of unit length, shape (n, 256); zeros for a text without any token.

        Raises:
            MissingExtra: The package is not installed.
        """
        tokenizer, table = load()
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        token_rows = (np.array(self._tokenize(tokenizer, text), np.int64) for text in texts)
        sums = np.stack([_sum_of_rows(table, tokens) for tokens in token_rows])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)

    def _tokenize(self, tokenizer: Any, text: str) -> list[int]:
        """The tokens of a text; no token has a space except at its beginning, so words are kept."""
        if not text or _SPECIAL_TOKEN.search(text):
            return list(tokenizer.encode(text, add_special_tokens=False).ids)
        words = _WORD.findall(_SPACE + text.replace(" ", _SPACE))
        return [token for word in words for token in _word_tokens(tokenizer, word)]


def _sum_of_rows(table: Vectors, rows: NDArray[np.int64]) -> Vectors:
    """The sum of some rows of a table, without a copy of all of them."""
    total = np.zeros(table.shape[1], np.float32)
    for start in range(0, len(rows), _TOKENS_AT_ONCE):
        total += table[rows[start : start + _TOKENS_AT_ONCE]].sum(axis=0)
    return total


@lru_cache(_MAX_CACHED_WORDS)
def _word_tokens(tokenizer: Any, word: str) -> list[int]:
    return [token.id for token in tokenizer.model.tokenize(word)]


def installed() -> bool:
    """Whether there is what embeddings need, without loading it."""
    return all(find_spec(name) is not None for name in (_PACKAGE, "safetensors", "tokenizers"))


@cache
def load() -> tuple[Any, Vectors]:
    """Load the files of the wordllama package.

    Returns:
        The tokenizer and the table of token vectors (31 MB).

    Raises:
        MissingExtra: The package is not installed.
    """
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("embeddings", "embedded")
    folder = Path(spec.submodule_search_locations[0])
    tokenizer, weights = _read_files(folder / _TOKENIZER_FILE, folder / _WEIGHTS_FILE)
    tokenizer.no_truncation()
    (table,) = weights.values()
    return tokenizer, table.astype(np.float32)


def _read_files(tokenizer_file: Path, weights_file: Path) -> tuple[Any, Weights]:
    with extra_needed("embeddings", "embedded"):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    return tokenizer, load_file(weights_file)


class _MiniLMFiles(NamedTuple):
    tokenizer: Any
    weights: Weights
    #: Limits the threads of the linear algebra.
    thread_controller: Any


class MiniLM:
    """Embeddings by all-MiniLM-L6-v2, whose weights `darc models install minilm` fetches.

    Texts are read up to 256 tokens, some tens of milliseconds each, on one core: on a machine that
    has anything else to do, the threads of several wait for each other, ten times as long.

    Args:
        folder: The folder of the weights; by default where they were installed.
    """

    name = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    @cached_property
    def _files(self) -> _MiniLMFiles:
        with extra_needed("embeddings", "embedded"):
            from threadpoolctl import ThreadpoolController
        folder = self._folder or require(MINILM).path.parent
        (weights_file,) = folder.glob("*.safetensors")
        tokenizer, weights = _read_files(folder / "tokenizer.json", weights_file)
        tokenizer.enable_truncation(_MAX_TOKENS)
        return _MiniLMFiles(tokenizer, weights, ThreadpoolController())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; those of similar length are read together.

        Args:
            texts: The texts, n of them.

        Returns:
            Vectors of unit length, shape (n, 384).

        Raises:
            InputError: The weights are not installed.
            MissingExtra: A library is not installed.
        """
        with self._lock:
            files = self._files
            encodings = files.tokenizer.encode_batch(list(texts))
            tokens = [encoding.ids for encoding in encodings]
            order = sorted(range(len(texts)), key=lambda place: len(tokens[place]))
            vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
            with files.thread_controller.limit(limits=1, user_api="blas"):
                for start in range(0, len(order), _BATCH_SIZE):
                    places = order[start : start + _BATCH_SIZE]
                    rows = [tokens[place] for place in places]
                    vectors[places] = _embed_batch(files.weights, rows)
        return vectors


def best_embedder() -> Embeddings | MiniLM:
    """MiniLM if it is installed, or else the mean of token vectors."""
    if find(MINILM) is None:
        return Embeddings()
    return MiniLM()


def _embed_batch(weights: Weights, rows: Sequence[list[int]]) -> Vectors:
    """The embeddings of rows of tokens."""
    longest = max(map(len, rows))
    tokens = np.array([row + [0] * (longest - len(row)) for row in rows])
    lengths = np.array([[len(row)] for row in rows])
    is_token = np.arange(longest) < lengths
    return _pool(states(weights, tokens, is_token, _ATTENTION_HEADS), is_token)


def states(weights: Weights, tokens: NDArray[np.int64], is_token: Any, heads: int) -> Vectors:
    """The last layer's states of a BERT.

    Args:
        weights: The weights by name.
        tokens: Token numbers, shape (n, length).
        is_token: Which of them are not padding, shape (n, length).
        heads: The number of attention heads.

    Returns:
        States, shape (n, length, d).
    """
    network = _Bert(weights, heads)
    state = network.embed(tokens)
    mask = np.where(is_token, np.float32(0), _MASKED)[:, None, None, :]
    for number in itertools.count():
        layer = f"encoder.layer.{number}."
        if f"{layer}output.dense.weight" not in weights:
            break
        state = network.apply_layer(layer, state, mask)
    return state


class _Bert:
    """The layers of a BERT."""

    def __init__(self, weights: Weights, heads: int) -> None:
        self._weights = weights
        self._heads = heads

    def embed(self, tokens: NDArray[np.int64]) -> Vectors:
        """The states of tokens before the first layer, shape (n, length, d)."""
        table = "embeddings.{}_embeddings.weight"
        words = self._weights[table.format("word")][tokens]
        positions = self._weights[table.format("position")][: tokens.shape[1]]
        types = self._weights[table.format("token_type")][0]
        return self._normalise("embeddings.LayerNorm", words + positions + types)

    def apply_layer(self, layer: str, state: Vectors, mask: Vectors) -> Vectors:
        """The states after a layer."""
        attended = self._attend(layer, state, mask)
        attended = self._dense(f"{layer}attention.output.dense", attended) + state
        state = self._normalise(f"{layer}attention.output.LayerNorm", attended)
        wide = _gelu(self._dense(f"{layer}intermediate.dense", state))
        narrow = self._dense(f"{layer}output.dense", wide)
        return self._normalise(f"{layer}output.LayerNorm", narrow + state)

    def _attend(self, layer: str, state: Vectors, mask: Vectors) -> Vectors:
        size = state.shape[-1] // self._heads
        shape = (*state.shape[:2], self._heads, size)

        def project(part: str) -> Vectors:
            projected = self._dense(f"{layer}attention.self.{part}", state)
            return projected.reshape(shape).transpose(0, 2, 1, 3)

        query = project("query")
        key = project("key")
        value = project("value")
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(size)) + mask
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (shares / shares.sum(axis=-1, keepdims=True)) @ value
        return np.asarray(mixed.transpose(0, 2, 1, 3).reshape(state.shape))

    def _dense(self, name: str, state: Vectors) -> Vectors:
        weight = self._weights[f"{name}.weight"]
        return np.asarray(state @ weight.T + self._weights[f"{name}.bias"])

    def _normalise(self, name: str, state: Vectors) -> Vectors:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
        weight = self._weights[f"{name}.weight"]
        return np.asarray(centred / spread * weight + self._weights[f"{name}.bias"])


def _pool(state: Vectors, is_token: Any) -> Vectors:
    """The mean of the states of each row's tokens, of unit length."""
    mass = is_token[..., None].astype(np.float32)
    mean = (state * mass).sum(axis=1) / np.maximum(mass.sum(axis=1), 1.0)
    lengths = np.linalg.norm(mean, axis=1, keepdims=True)
    return np.asarray(mean / np.maximum(lengths, _EPSILON))


def _gelu(x: Vectors) -> Vectors:
    """The input times the normal distribution up to it."""
    z = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(_ERROR_FUNCTION_SCALE) * z)
    terms = np.array(_ERROR_FUNCTION_TERMS, np.float32)
    upper = np.float32(0.5) * np.polyval(terms, t) * np.exp(-z * z)
    return np.asarray(x * np.where(x >= 0, 1 - upper, upper))
