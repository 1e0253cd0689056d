import importlib.util
from typing import Any

import pytest

from benchmarks import reward


def test_without_torch_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    find: Any = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "torch" else find(name)
    )
    (table,) = reward.run()
    assert "not run: torch is not installed" in table.text()


@pytest.mark.hf
def test_the_same_scores_from_fewer_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reward, "K", 3)
    monkeypatch.setattr(reward, "ROUNDS", 1)
    monkeypatch.setattr(reward, "SHAPE", {**reward.SHAPE, "hidden_size": 32})
    (table,) = reward.run()
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert [(row["model"], row["way"]) for row in rows] == [
        (model, way) for model in ("encoder", "decoder") for way in ("pipeline", "darc")
    ]
    assert all(float(str(row["largest difference"])) < 1e-4 for row in rows[1::2])
    tokens = [int(str(row["tokens read"])) for row in rows]
    assert tokens[1] < tokens[0]
    assert tokens[3] < tokens[2] / 2
