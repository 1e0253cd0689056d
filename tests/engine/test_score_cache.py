from pathlib import Path

import numpy as np
import pytest

from darc.engine.score_cache import ScoreCache, score_keys
from darc.types import Message, Prompt

PROMPT = Prompt("tides", (Message("user", "Why are there two high tides a day?"),))


def test_keys_depend_on_everything_that_a_score_depends_on() -> None:
    other = Prompt("tides", (*PROMPT.messages, Message("assistant", "Hm.")))
    renamed = Prompt("another id", PROMPT.messages)
    (key,) = score_keys("a", "1", PROMPT, ["text"])
    assert score_keys("a", "1", renamed, ["text"]) == [key]
    others = [
        *score_keys("b", "1", PROMPT, ["text"]),
        *score_keys("a", "2", PROMPT, ["text"]),
        *score_keys("a", "1", other, ["text"]),
        *score_keys("a", "1", PROMPT, ["text ", "", "\ud800"]),
    ]
    assert len({key, *others}) == 7


def test_cache_keeps_whole_numbers_and_forgets_when_told(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "scores.sqlite"
    keys = score_keys("a", "1", PROMPT, [str(i) for i in range(1200)])
    numbers = dict(zip(keys, np.random.default_rng(0).normal(size=1200).tolist(), strict=True))
    with ScoreCache(path) as cache, ScoreCache(path) as other:
        cache.write(numbers)
        assert other.read(keys) == numbers
        assert len(other) == 1200
        other.clear()
        assert cache.read(keys[:3]) == {}


def test_cache_that_cannot_be_used_keeps_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "scores.sqlite"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with ScoreCache(path) as cache:
        cache.write({b"x": 1.0})
        assert cache.read([b"x"]) == {}
        assert len(cache) == 0
    assert "scores are not kept" in caplog.text
