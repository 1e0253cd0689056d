import csv
import io
import json
import os
from pathlib import Path

import pytest

TIDY = """prompt_id,candidate_id,rater_id,rating,answer
p1,a,r1,9,bold
p1,a,r2,1,bold
p1,a,r3,9,bold
p1,b,r1,6,calm
p1,b,r2,6,calm
p1,b,r3,6,calm
p2,c,r1,3,one
p2,c,r2,4,one
p2,d,r1,8,two
p2,d,r2,8,two
"""


def rows(text: str) -> list[dict[str, str]]:
    """The rows of CSV."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "DARC_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text(TIDY, encoding="utf-8")
    return path


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    rows = [
        {"question_id": 81, "category": "writing", "turns": ["Why is it?", "And then?"]},
        {"question_id": 82, "category": "reasoning", "turns": ["How is it?"]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
