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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import MissingExtra, extra_needed
from darc.models.installed import MINILM, find, require

PACKAGE = "wordllama"
WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")

# What the tokenizer writes for a space; what it reads as one token wherever it stands.
SPACE, SPECIAL = "\u2581", re.compile("<unk>|</?s>")
WORD = re.compile(f"{SPACE}+[^{SPACE}]*")
MOST_WORDS = 10_000

LONGEST, BATCH, HEADS, EPSILON = 256, 16, 12, 1e-12
HIDDEN = np.float32(-1e9)

Vectors = NDArray[np.float32]
Weights = Mapping[str, Vectors]


class Embeddings:
    """Embeddings of texts by WordLlama's 256-dimensional token vectors; loaded at the first use.

    Its files are read directly: importing the package would configure the root logger and needs
    libraries for downloads. About 8 000 short texts a second on one core; safe to use from
    several threads.
    """

    name = "wordllama-256"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, (n, 256), of unit length; zeros for a text without any token."""
        tokenizer, table = load()
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        encoded = [self._tokens(tokenizer, text) for text in texts]
        counts = np.array([len(ids) for ids in encoded])
        tokens = np.array([token for ids in encoded for token in ids], dtype=np.int64)
        # A last row of zeros keeps every start of `reduceat` inside the array.
        vectors = np.concatenate([table[tokens], np.zeros((1, self.dimensions), np.float32)])
        starts = np.cumsum(counts) - counts
        sums = np.add.reduceat(vectors, starts, axis=0)
        sums[counts == 0] = 0
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)

    def _tokens(self, tokenizer: Any, text: str) -> list[int]:
        """The tokens of a text; no token has a space but at its beginning, so words are known."""
        if not text or SPECIAL.search(text):
            return list(tokenizer.encode(text, add_special_tokens=False).ids)
        words = WORD.findall(SPACE + text.replace(" ", SPACE))
        return [token for word in words for token in _word_tokens(tokenizer, word)]


@lru_cache(MOST_WORDS)
def _word_tokens(tokenizer: Any, word: str) -> list[int]:
    return [token.id for token in tokenizer.model.tokenize(word)]


def installed() -> bool:
    """Whether there is what embeddings need, without loading it."""
    return all(find_spec(name) is not None for name in (PACKAGE, "safetensors", "tokenizers"))


@cache
def load() -> tuple[Any, Vectors]:
    """The tokenizer and the table of token vectors (31 MB), from the wordllama package's files."""
    place = find_spec(PACKAGE)
    if place is None or not place.submodule_search_locations:
        raise MissingExtra("embeddings", "embedded")
    folder = Path(place.submodule_search_locations[0])
    tokenizer, weights = _read(folder / TOKENIZER, folder / WEIGHTS)
    tokenizer.no_truncation()
    (table,) = weights.values()
    return tokenizer, table.astype(np.float32)


def _read(tokenizer: Path, weights: Path) -> tuple[Any, Weights]:
    with extra_needed("embeddings", "embedded"):
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    made = Tokenizer.from_file(str(tokenizer))
    made.no_padding()
    return made, load_file(weights)


class MiniLM:
    """Embeddings (n, 384) of unit length; `darc models install minilm` fetches the weights.

    Texts are read up to 256 tokens, some tens of milliseconds each, on one core: on a machine that
    has anything else to do, the threads of several wait for each other, ten times as long.
    """

    name = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self._lock = folder, threading.Lock()

    @cached_property
    def _loaded(self) -> tuple[Any, Weights, Any]:
        with extra_needed("embeddings", "embedded"):
            from threadpoolctl import ThreadpoolController
        folder = self._folder or require(MINILM).path.parent
        (weights,) = folder.glob("*.safetensors")
        tokenizer, table = _read(folder / "tokenizer.json", weights)
        tokenizer.enable_truncation(LONGEST)
        return tokenizer, table, ThreadpoolController()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text; texts of similar length are read together."""
        with self._lock:
            tokenizer, weights, threads = self._loaded
            encoded = [each.ids for each in tokenizer.encode_batch(list(texts))]
            order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
            result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
            with threads.limit(limits=1, user_api="blas"):
                for start in range(0, len(order), BATCH):
                    places = order[start : start + BATCH]
                    rows = [encoded[place] for place in places]
                    longest = max(map(len, rows))
                    tokens = np.array([row + [0] * (longest - len(row)) for row in rows])
                    known = np.arange(longest) < np.array([[len(row)] for row in rows])
                    result[places] = pooled(states(weights, tokens, known, HEADS), known)
        return result


def best_embedder() -> Embeddings | MiniLM:
    """MiniLM where it is installed, or else the mean of token vectors."""
    return Embeddings() if find(MINILM) is None else MiniLM()


def states(weights: Weights, tokens: NDArray[np.int64], known: Any, heads: int) -> Vectors:
    """The last layer's states (n, length, d) of tokens (n, length), of which some are `known`."""

    def dense(name: str, state: Vectors) -> Vectors:
        return np.asarray(state @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])

    def normal(name: str, state: Vectors) -> Vectors:
        centred = state - state.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        return np.asarray(centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"])

    table = "embeddings.{}_embeddings.weight"
    state = weights[table.format("word")][tokens]
    state = state + weights[table.format("position")][: tokens.shape[1]]
    state = normal("embeddings.LayerNorm", state + weights[table.format("token_type")][0])
    hidden = np.where(known, np.float32(0), HIDDEN)[:, None, None, :]
    shape = (*tokens.shape, heads, state.shape[-1] // heads)
    for number in itertools.count():
        layer = f"encoder.layer.{number}."
        if f"{layer}output.dense.weight" not in weights:
            break
        query, key, value = (
            dense(f"{layer}attention.self.{part}", state).reshape(shape).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        close = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(shape[3])) + hidden
        close = np.exp(close - close.max(axis=-1, keepdims=True))
        mixed = (close / close.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(0, 2, 1, 3).reshape(state.shape)
        heard = dense(f"{layer}attention.output.dense", mixed) + state
        state = normal(f"{layer}attention.output.LayerNorm", heard)
        wide = _gelu(dense(f"{layer}intermediate.dense", state))
        state = normal(f"{layer}output.LayerNorm", dense(f"{layer}output.dense", wide) + state)
    return state


def pooled(state: Vectors, known: Any) -> Vectors:
    """The mean of the known states of each row, of unit length."""
    mass = known[..., None].astype(np.float32)
    mean = (state * mass).sum(axis=1) / np.maximum(mass.sum(axis=1), 1.0)
    return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12))


def _gelu(x: Vectors) -> Vectors:
    """The input times the normal distribution up to it; its error function to 1.5e-7."""
    z = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0)
    upper = np.float32(0.5) * np.polyval(np.array(series, np.float32), t) * np.exp(-z * z)
    return np.asarray(x * np.where(x >= 0, 1 - upper, upper))
