"""Static sentence embeddings: the mean of a text's token vectors."""

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.errors import MissingExtra

PACKAGE = "wordllama"
WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")

Vectors = NDArray[np.float32]


class Embeddings:
    """Embeddings of texts by WordLlama's 256-dimensional token vectors; loaded at the first use.

    Its files are read directly: importing the package would configure the root logger and needs
    libraries for downloads. About 8 000 short texts a second on one core; safe to use from
    several threads.
    """

    name = "wordllama-256"
    dimensions = 256

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Vectors] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, (n, 256), of unit length; zeros for a text without any token."""
        tokenizer, table = self._load()
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        counts = np.array([len(one.ids) for one in encoded])
        tokens = np.concatenate([np.asarray(one.ids, dtype=np.int64) for one in encoded])
        # A last row of zeros keeps every start of `reduceat` inside the array.
        vectors = np.concatenate([table[tokens], np.zeros((1, self.dimensions), np.float32)])
        starts = np.cumsum(counts) - counts
        sums = np.add.reduceat(vectors, starts, axis=0)
        sums[counts == 0] = 0
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)

    def _load(self) -> tuple[Any, Vectors]:
        with self._lock:
            if self._loaded is None:
                self._loaded = load()
            return self._loaded


def load() -> tuple[Any, Vectors]:
    """The tokenizer and the table of token vectors, from the files of the wordllama package."""
    place = find_spec(PACKAGE)
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtra("embeddings", "embedded") from None
    if place is None or not place.submodule_search_locations:
        raise MissingExtra("embeddings", "embedded")
    folder = Path(place.submodule_search_locations[0])
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (table,) = load_file(folder / WEIGHTS).values()
    return tokenizer, table.astype(np.float32)
