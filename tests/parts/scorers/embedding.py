"""An embedder for the tests: wordllama's static vectors, read without wordllama's own code."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer


class StaticEmbedder:
    """Means of token vectors, of unit length."""

    def __init__(self) -> None:
        spec = find_spec("wordllama")
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        (table,) = load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
        self._table = table.astype(np.float32)
        self._tokenizer = Tokenizer.from_file(
            str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of unit length a text, (n, d)."""
        rows = np.zeros((len(texts), self._table.shape[1]), dtype=np.float32)
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for row, tokens in enumerate(encoded):
            if tokens.ids:
                rows[row] = self._table[tokens.ids].mean(axis=0)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@cache
def embedder() -> StaticEmbedder:
    """The one embedder that all tests share."""
    return StaticEmbedder()
