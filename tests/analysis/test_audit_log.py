import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from darc.analysis.audit_log import is_audit_log
from darc.analysis.reading import load_ratings
from darc.errors import InputError


def row(number: int, **more: Any) -> dict[str, Any]:
    samples = [[[0.1 * number, 0.2], [0.3, None]]]
    decision = {"prompt_id": "p", "candidates": [], "answer": "yes", "request_id": f"r{number}"}
    return {**decision, "scorers": ["form"], "scores": samples, **more}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return path


def test_complete_decisions_of_an_audit_log(tmp_path: Path) -> None:
    path = written(
        tmp_path / "audit.jsonl", row(1), row(2, lazy=True), row(3), row(4, scorers=["other"])
    )
    assert is_audit_log(path)
    source = load_ratings(path)
    assert source.prompt_ids == ["p r1", "p r3"]
    assert source.shape == (2, 1, 2, 2)
    assert source.samples[1, 0, 0, 0] == pytest.approx(0.3)
    assert np.isnan(source.samples[0, 0, 1, 1])


def test_lazy_log_says_how_to_get_all_scores(tmp_path: Path) -> None:
    path = written(tmp_path / "audit.jsonl", row(1, lazy=True))
    with pytest.raises(InputError, match="full"):
        load_ratings(path)
    torn = tmp_path / "torn.jsonl"
    torn.write_text(json.dumps(row(1)) + "\n{", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        load_ratings(torn)


def test_models_are_systems_and_choices_among_them_are_counted(tmp_path: Path) -> None:
    candidates = [{"index": 0, "model": "large"}, {"index": 1, "model": "small"}]
    models: dict[str, Any] = {"large": {}, "small": {}}
    rows = [
        row(number, candidates=candidates, models=models, model=model)
        for number, model in enumerate(["small", "large", "small"])
    ]
    source = load_ratings(written(tmp_path / "audit.jsonl", *rows))
    assert source.systems == [["large", "small"]] * 3
    (note,) = source.notes
    assert "small 2, large 1" in note
    one_model = [{"index": 0, "model": "large"}, {"index": 1, "model": "large"}]
    path = written(tmp_path / "one.jsonl", row(1, candidates=one_model, models={"large": {}}))
    source = load_ratings(path)
    assert not source.systems
    assert not source.notes
