import logging
import random
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from darc.errors import MissingExtra
from darc.models.embeddings import Embeddings, installed, load

TEXTS = [
    "How do I boil an egg?",
    "Put the eggs in boiling water for eight minutes.",
    "The parliament voted on the new tax law.",
    "",
]


@pytest.fixture(scope="module")
def embeddings() -> Embeddings:
    pytest.importorskip("tokenizers")
    return Embeddings()


def test_unit_length_and_similarity(embeddings: Embeddings) -> None:
    vectors = embeddings.embed(TEXTS)
    assert vectors.shape == (4, embeddings.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0], abs=1e-6)
    similar = vectors @ vectors.T
    assert similar[0, 1] > 0.4 > 0.2 > similar[0, 2]
    assert embeddings.embed([]).shape == (0, embeddings.dimensions)


def test_a_text_does_not_depend_on_its_neighbours(embeddings: Embeddings) -> None:
    together = embeddings.embed(["", *TEXTS, ""])[1:-1]
    alone = np.concatenate([embeddings.embed([text]) for text in TEXTS])
    assert np.array_equal(together, alone)


def test_threads_share_one_table() -> None:
    pytest.importorskip("tokenizers")
    fresh = Embeddings()
    with ThreadPoolExecutor(4) as workers:
        results = list(workers.map(lambda _: fresh.embed(TEXTS), range(8)))
    assert all(np.array_equal(results[0], each) for each in results)


def test_speed_is_printed_and_nothing_is_configured(embeddings: Embeddings) -> None:
    handlers = list(logging.getLogger().handlers)
    embeddings.embed(["warm"])
    texts = [f"{TEXTS[1]} Number {i}." for i in range(2000)]
    started = time.perf_counter()
    embeddings.embed(texts)
    rate = len(texts) / (time.perf_counter() - started)
    print(f"embeddings: {rate:.0f} texts a second")
    assert rate > 500
    assert logging.getLogger().handlers == handlers
    assert "wordllama" not in sys.modules


def test_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["darc.models.embeddings"], "find_spec", lambda name: None)
    load.cache_clear()
    assert not installed()
    with pytest.raises(MissingExtra, match="embedded"):
        Embeddings().embed(["x"])


def test_words_are_read_as_the_tokenizer_reads_the_whole_text() -> None:
    tokenizer, _ = load()
    one_word = (word.strip("\u2581") for word in tokenizer.get_vocab())
    assert not any("\u2581" in word for word in one_word)
    made = Embeddings()
    draw = random.Random(0)
    parts = [
        *"abcXY  \n\t.,'0129é漢😀\u2581\u00a0\x00</>",
        "<s>",
        "</s>",
        "<unk>",
        "  ",
        "the ",
        "ing",
    ]
    texts = ["", " ", "a ", " a"]
    texts += ["".join(draw.choices(parts, k=draw.randrange(40))) for _ in range(1000)]
    for text in [*texts, *texts[::-1]]:
        expected = tokenizer.encode(text, add_special_tokens=False).ids
        assert made._tokenize(tokenizer, text) == expected


def test_memory_does_not_grow_with_the_length_of_texts(embeddings: Embeddings) -> None:
    embeddings.embed(["The Moon"])
    tracemalloc.start()
    long_text, *_ = embeddings.embed(["The Moon pulls. " * 20_000] * 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    short_text, *_ = embeddings.embed(["The Moon pulls. " * 2])
    assert peak < 60_000_000
    assert long_text == pytest.approx(short_text, abs=2e-2)
