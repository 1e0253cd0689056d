"""Static sentence embeddings: the mean of a text's token vectors."""

import re
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from darc.errors import MissingExtra

PACKAGE = "wordllama"
WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")

# What the tokenizer writes for a space; what it reads as one token wherever it stands.
SPACE, SPECIAL = "\u2581", re.compile("<unk>|</?s>")
WORD = re.compile(f"{SPACE}+[^{SPACE}]*")
MOST_WORDS = 10_000

Vectors = NDArray[np.float32]


class Embeddings:
    """Embeddings of texts by WordLlama's 256-dimensional token vectors; loaded at the first use.

    Its files are read directly: importing the package would configure the root logger and needs
    libraries for downloads. About 8 000 short texts a second on one core; safe to use from
    several threads.
    """

    name = "wordllama-256"
    dimensions = 256

    # One for the process: the table has 31 MB.
    _lock = threading.Lock()
    _loaded: tuple[Any, Vectors] | None = None
    _words: ClassVar[dict[str, list[int]]] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, (n, 256), of unit length; zeros for a text without any token."""
        tokenizer, table = self._load()
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
        ids: list[int] = []
        for word in WORD.findall(SPACE + text.replace(" ", SPACE)):
            known = self._words.get(word)
            if known is None:
                known = [token.id for token in tokenizer.model.tokenize(word)]
                if len(self._words) >= MOST_WORDS:
                    self._words.clear()
                self._words[word] = known
            ids += known
        return ids

    def _load(self) -> tuple[Any, Vectors]:
        with self._lock:
            if Embeddings._loaded is None:
                Embeddings._loaded = load()
            return Embeddings._loaded


def installed() -> bool:
    """Whether there is what embeddings need, without loading it."""
    return all(find_spec(name) is not None for name in (PACKAGE, "safetensors", "tokenizers"))


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
