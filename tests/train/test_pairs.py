import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from darc.cli import main
from darc.errors import InputError
from darc.settings.pairs import PairSettings
from darc.train.pairs import make_pairs

# Calm 6, divided 6.5, poor 3, and one without ratings.
SAMPLES = np.array([[[[6, 6, 6.2, 5.8], [10, 10, 5, 1], [3, 3, 3, 3.2], [np.nan] * 4]]])


def made(
    texts: str = "abcd", ratings: int = 4, **settings: Any
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The pairs of candidates a, b, c and d, and their counts."""
    tally = Counter[str]()
    given = SAMPLES[..., :ratings], ["Why?"], [list(texts)]
    return list(make_pairs(*given, PairSettings(**settings), tally)), tally


def couples(**settings: Any) -> list[tuple[int, int]]:
    return [couple(row) for row in made(**settings)[0]]


def couple(row: dict[str, Any]) -> tuple[int, int]:
    chosen, rejected = ("abcd".index(row[name][0]["content"]) for name in ("chosen", "rejected"))
    return chosen, rejected


def test_mean_and_value_choose_differently() -> None:
    assert couples() == [(1, 2)]
    assert couples(order_by="value") == [(0, 1)]
    assert couples(which="all") == [(1, 0), (1, 2), (0, 2)]


def test_margin_leaves_close_ones_out() -> None:
    assert couples(which="all", margin=1.0) == [(1, 2), (0, 2)]
    assert couples(margin=9.0) == []
    assert made(margin=9.0)[1] == {"without": 1}


def test_contentious_pairs_are_dropped_or_softened() -> None:
    assert couples(which="all", contentious="drop") == [(1, 2), (0, 2)]
    assert couples(which="all", contentious="drop", agreement=0.9) == [(0, 2)]
    rows, tally = made(which="all", contentious="soft")
    shares = {couple(row): row.get("probability", 1.0) for row in rows}
    assert tally == {"pairs": 3, "prompts": 1, "contentious": 1}
    assert 0.5 < shares[1, 0] < 0.6 < shares[1, 2] < shares[0, 2] <= 1.0
    sigma = np.std([10, 10, 5, 1], ddof=1)
    assert shares[1, 0] == pytest.approx(0.5 + 0.5 / np.sqrt(2 * np.pi) / sigma, rel=0.02)


def test_one_rating_each_tells_no_contention() -> None:
    with pytest.raises(InputError, match="contentious"):
        made(ratings=1, contentious="soft")
    assert len(made(ratings=1)[0]) == 1


def test_equal_and_empty_texts_make_no_pair() -> None:
    assert made("aa d", which="all")[0] == []


def test_rows_are_conversations() -> None:
    ((row,), _) = made(contentious="soft")
    assert row["prompt"] == [{"role": "user", "content": "Why?"}]
    assert row["chosen"] == [{"role": "assistant", "content": "b"}]
    assert row["rejected"] == [{"role": "assistant", "content": "c"}]
    assert 0.5 < row["probability"] < 1.0


def ratings(folder: Path) -> Path:
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    texts = []
    for prompt in range(3):
        for candidate, mean in enumerate((2, 5, 8)):
            texts.append(
                {
                    "prompt_id": f"p{prompt}",
                    "candidate_id": f"c{candidate}",
                    "prompt": f"Question {prompt}?",
                    "response": f"Answer {candidate}.",
                }
            )
            lines += [f"p{prompt},c{candidate},r{r},{mean + r % 2}" for r in range(4)]
    path = folder / "ratings.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside = folder / "ratings.texts.jsonl"
    beside.write_text("".join(json.dumps(row) + "\n" for row in texts), encoding="utf-8")
    return path


def test_command_writes_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "pairs.jsonl"
    assert main(["pairs", str(ratings(tmp_path)), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 3
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["chosen"][0]["content"] for row in rows] == ["Answer 2."] * 3
    assert "probability" not in rows[0]


def test_ratings_without_texts_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ratings(tmp_path)
    (tmp_path / "ratings.texts.jsonl").unlink()
    assert main(["pairs", str(path), "--out", str(tmp_path / "x.jsonl")]) == 2
    assert "--texts" in capsys.readouterr().err
    assert not (tmp_path / "x.jsonl").exists()
