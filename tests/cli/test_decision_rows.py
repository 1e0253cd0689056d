import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from darc.cli.chosen_opinions import chosen_opinions, is_below_best_mean
from darc.cli.decision_rows import CsvRows, Detail, JsonRows
from darc.cli.decision_summary import Summary
from darc.cli.pictured_prompt import PicturedPrompt
from darc.decide.method import parse_methods
from darc.decide.standards import Standards
from darc.errors import InputError
from darc.ratings import read_ratings
from darc.ratings.decisions import DecidedBatch, decide_table

# On p the rules differ, on q they do not.
RATINGS = {"p": {"a": (9, 9, 1), "b": (6, 6, 6)}, "q": {"a": (3, 4, 5), "b": (7, 8, 9)}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating", "note"])
        for prompt, own in RATINGS.items():
            for name, ratings in own.items():
                writer.writerows([prompt, name, i, x, name * 2] for i, x in enumerate(ratings))
    return path


@pytest.fixture
def decided(path: Path) -> Iterator[DecidedBatch]:
    with read_ratings(path) as table:
        (batch,) = decide_table(table, parse_methods(["mean", "entropic"]))
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
        assert row["held"] == str(data["held"]).lower() == "false"
        assert row["caution"] == ""
        assert data["caution"] is None


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
    summary = Summary(decided.methods)
    summary.add(decided)
    assert summary.prompts == 2
    assert summary.changed == [0, 1]
    assert summary.averages(0)[1] == pytest.approx((19 / 3 + 8) / 2)
    assert summary.averages(1)[1] == pytest.approx(7)


@pytest.mark.parametrize("scale", [None, (0.0, 10.0)])
def test_opinions_of_a_batch_are_those_of_each_decision(
    path: Path, scale: tuple[float, float] | None
) -> None:
    with read_ratings(path) as table:
        standards = Standards(scale=scale)
        specs = parse_methods(["mean", "auto:caution=high"], standards=standards)
        (batch,) = decide_table(table, specs)
    for decisions in batch.decisions:
        opinions = chosen_opinions(decisions)
        assert opinions is not None
        assert opinions.known_scale == (scale is not None)
        for row, decision in enumerate(decisions):
            expected = decision.opinions
            assert expected is not None
            assert opinions.unhappy[row] == expected.answer(decision.index).unhappy
            assert opinions.ratings[row] == expected.answer(decision.index).count
            assert is_below_best_mean(decisions)[row] == (expected.best_mean != decision.index)


def test_unhappy_caution_and_held_are_columns(path: Path) -> None:
    standards = Standards(scale=(0, 10), threshold=7, poor_below=9.5)
    with read_ratings(path) as table:
        specs = parse_methods(["mean", "auto"], {"caution": "none"}, standards=standards)
        (batch,) = decide_table(table, specs)
        as_csv, as_json = io.StringIO(), io.StringIO()
        CsvRows(as_csv, [], Detail()).add(batch)
        JsonRows(as_json, [], Detail()).add(batch)
        summary = Summary(specs)
        summary.add(batch)
    told = list(csv.DictReader(io.StringIO(as_csv.getvalue())))
    plain = [json.loads(line) for line in as_json.getvalue().splitlines()]
    assert [row["unhappy"] for row in told] == ["1", "1", "0", "0"]
    assert [row["caution"] for row in told] == ["", "0", "", "0"]
    assert "true" in {row["held"] for row in told}
    for row, data in zip(told, plain, strict=True):
        assert int(row["unhappy"]) == data["unhappy"]
        assert (row["held"] == "true") == data["held"] == ("held" in data["flags"])
        assert data["people"]["unhappy_below"] == 7
    assert summary.unhappy_share(0) == pytest.approx(1 / 6)
    assert summary.below_best_mean == [0, 0]
    assert summary.known_scale
