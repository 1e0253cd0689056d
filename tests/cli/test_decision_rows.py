import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from darc.cli.decision_rows import CsvRows, Detail, JsonRows
from darc.decide.method import parse_methods
from darc.decide.standards import Standards
from darc.ratings import read_ratings
from darc.ratings.decisions import DecidedBatch, decide_table


@pytest.mark.parametrize("detail", [Detail(), Detail(explain=True, bounds=(0, 10), flip=True)])
def test_rows_of_both_forms_say_the_same(decided: DecidedBatch, detail: Detail) -> None:
    as_csv = io.StringIO()
    as_json = io.StringIO()
    CsvRows(as_csv, ["note"], detail).add(decided)
    JsonRows(as_json, ["note"], detail).add(decided)
    csv_rows = list(csv.DictReader(io.StringIO(as_csv.getvalue())))
    json_rows: list[dict[str, Any]] = [json.loads(line) for line in as_json.getvalue().splitlines()]
    assert [row["candidate_id"] for row in csv_rows] == ["a", "b", "b", "b"]
    for row, data in zip(csv_rows, json_rows, strict=True):
        chosen = next(row for row in data["candidates"] if row["index"] == data["index"])
        assert (row["prompt_id"], row["rule"]) == (data["prompt_id"], data["label"])
        assert float(row["mean"]) == pytest.approx(chosen["mean"])
        assert row["note"] == data["extra"]["note"] == row["candidate_id"] * 2
        assert row["samples"] == "3"
        assert all((name in row) and (name in data) for name in detail.columns)
        assert row["held"] == str(data["held"]).lower() == "false"
        assert row["caution"] == ""
        assert data["caution"] is None


def test_unhappy_caution_and_held_are_columns(ratings_path: Path) -> None:
    standards = Standards(scale=(0, 10), threshold=7, poor_below=9.5)
    with read_ratings(ratings_path) as table:
        methods = parse_methods(["mean", "auto"], {"caution": "none"}, standards=standards)
        (batch,) = decide_table(table, methods)
        as_csv = io.StringIO()
        as_json = io.StringIO()
        CsvRows(as_csv, [], Detail()).add(batch)
        JsonRows(as_json, [], Detail()).add(batch)
    csv_rows = list(csv.DictReader(io.StringIO(as_csv.getvalue())))
    json_rows = [json.loads(line) for line in as_json.getvalue().splitlines()]
    assert [row["unhappy"] for row in csv_rows] == ["1", "1", "0", "0"]
    assert [row["caution"] for row in csv_rows] == ["", "0", "", "0"]
    assert "true" in {row["held"] for row in csv_rows}
    for row, data in zip(csv_rows, json_rows, strict=True):
        assert int(row["unhappy"]) == data["unhappy"]
        assert (row["held"] == "true") == data["held"] == ("held" in data["flags"])
        assert data["people"]["unhappy_below"] == 7
