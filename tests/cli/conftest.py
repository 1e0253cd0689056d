import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from darc.decide.method import parse_methods
from darc.ratings import read_ratings
from darc.ratings.decisions import DecidedBatch, decide_table

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
# On p the rules mean and entropic differ, on q they do not.
TWO_PROMPTS = {"p": {"a": (9, 9, 1), "b": (6, 6, 6)}, "q": {"a": (3, 4, 5), "b": (7, 8, 9)}}


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


@pytest.fixture
def ratings_path(tmp_path: Path) -> Path:
    """A file with `TWO_PROMPTS`."""
    path = tmp_path / "two_prompts.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating", "note"])
        for prompt_id, candidates in TWO_PROMPTS.items():
            for name, ratings in candidates.items():
                for rater, rating in enumerate(ratings):
                    writer.writerow([prompt_id, name, rater, rating, name * 2])
    return path


@pytest.fixture
def decided(ratings_path: Path) -> Iterator[DecidedBatch]:
    """The decisions of the rules mean and entropic on `TWO_PROMPTS`."""
    with read_ratings(ratings_path) as table:
        (batch,) = decide_table(table, parse_methods(["mean", "entropic"]))
        yield batch
