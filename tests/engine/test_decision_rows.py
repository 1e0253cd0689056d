import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from darc.engine.deciding import parse_rules
from darc.engine.decision_rows import CsvRows, Detail, JsonRows, PicturedPrompt, Summary
from darc.engine.ratings import DecidedBatch, decide_table
from darc.errors import InputError
from darc.tables import read_ratings

# On p the rules differ, on q they do not.
RATINGS = {"p": {"a": (9, 9, 1), "b": (6, 6, 6)}, "q": {"a": (3, 4, 5), "b": (7, 8, 9)}}


@pytest.fixture
def decided(tmp_path: Path) -> Iterator[DecidedBatch]:
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating", "note"])
        for prompt, own in RATINGS.items():
            for name, ratings in own.items():
                writer.writerows([prompt, name, i, x, name * 2] for i, x in enumerate(ratings))
    with read_ratings(path) as table:
        (batch,) = decide_table(table, parse_rules(["mean", "entropic"], {}))
        yield batch


@pytest.mark.parametrize("detail", [Detail(), Detail(explain=True, bounds=(0, 10), flip=True)])
def test_rows_of_both_forms_say_the_same(decided: DecidedBatch, detail: Detail) -> None:
    as_csv, as_json = io.StringIO(), io.StringIO()
    CsvRows(as_csv, ["note"], detail).add(decided)
    JsonRows(as_json, ["note"], detail).add(decided)
    told = list(csv.DictReader(io.StringIO(as_csv.getvalue())))
    plain: list[dict[str, Any]] = [json.loads(line) for line in as_json.getvalue().splitlines()]
    assert [row["candidate_id"] for row in told] == ["a", "b", "b", "b"]
    for row, data in zip(told, plain, strict=True):
        chosen = next(each for each in data["candidates"] if each["index"] == data["index"])
        assert (row["prompt_id"], row["rule"]) == (data["prompt_id"], data["label"])
        assert float(row["mean"]) == pytest.approx(chosen["mean"])
        assert row["note"] == data["extra"]["note"] == row["candidate_id"] * 2
        assert row["samples"] == "3"
        assert all((name in row) and (name in data) for name in detail.columns)


def test_the_prompt_on_which_the_rules_differ_is_pictured(decided: DecidedBatch) -> None:
    pictured, wanted, absent = PicturedPrompt(), PicturedPrompt("q"), PicturedPrompt("x")
    for each in (pictured, wanted, absent):
        each.add(decided)
    assert (pictured.prompt_id, wanted.prompt_id) == ("p", "q")
    assert [each.index for each in pictured.decisions or ()] == [0, 1]
    wanted.check()
    with pytest.raises(InputError, match="no prompt 'x'"):
        absent.check()


def test_summary_averages_the_choices(decided: DecidedBatch) -> None:
    summary = Summary(decided.specs)
    summary.add(decided)
    assert summary.prompts == 2
    assert summary.changed == [0, 1]
    assert summary.averages(0)[1] == pytest.approx((19 / 3 + 8) / 2)
    assert summary.averages(1)[1] == pytest.approx(7)
