import json
import os
from pathlib import Path

import pytest


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "DARC_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    rows = [
        {"question_id": 81, "category": "writing", "turns": ["Why is it?", "And then?"]},
        {"question_id": 82, "category": "reasoning", "turns": ["How is it?"]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
