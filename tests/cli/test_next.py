import csv
import json
from pathlib import Path

import pytest
from tests.cli.conftest import TIDY

from darc.cli import main


def test_the_next_ratings_are_a_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    out = tmp_path / "next.csv"
    command = ["next", str(source), "--budget", "2", "--price", "0", "--out", str(out)]
    assert main(command) == 0
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    # On p1 everybody has rated everything; on p2 only r3 is left.
    assert {row["prompt_id"] for row in rows} == {"p2"}
    assert {row["rater_id"] for row in rows} == {"r3"}
    assert capsys.readouterr().out == ""


def test_certainty_by_prompt_is_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    assert main(["next", str(source), "--budget", "5", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [prompt["prompt_id"] for prompt in data["prompts"]] == ["p1", "p2"]
    assert all(0 <= prompt["certainty"] <= 1 for prompt in data["prompts"])


def test_a_budget_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    assert main(["next", str(source)]) == 2
    assert "--budget" in capsys.readouterr().err


def write_rows(path: Path, rows: list[tuple[str, str, str, float]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        writer.writerows(rows)
    return path


def close_ratings(raters: list[str]) -> list[tuple[str, str, str, float]]:
    """Two ratings of each of three answers, which differ by less than their raters do."""
    rows = []
    for prompt in range(6):
        for candidate in range(3):
            for place, rater in enumerate(raters):
                rating = 5.0 + 0.3 * candidate + (prompt + candidate + place) % 2
                rows.append((f"p{prompt}", f"c{candidate}", rater, rating))
    return rows


def test_one_rating_per_answer_needs_other_raters_and_a_second_look(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(write_rows(tmp_path / "once.csv", close_ratings(["ann"])))
    assert main(["next", source, "--budget", "4"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "prompt_id,candidate_id,rater_id,value\n"
    assert "0 of 6 prompts need no more" in printed.err
    assert "6 prompts need ratings by other people" in printed.err
    assert "--new-raters" in printed.err
    assert "rated twice" in printed.err
    assert main(["next", source, "--budget", "4", "--new-raters", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [request["rater_id"] for request in data["requests"]] == [""] * 4
    assert not any(prompt["lacks_raters"] for prompt in data["prompts"])
    assert len(data["notes"]) == 1


def test_files_without_rater_ids_are_imported_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "nameless.csv"
    lines = [f"{row[0]},{row[1]},{row[3]}" for row in close_ratings(["", ""])]
    source.write_text("\n".join(["prompt_id,candidate_id,rating", *lines]), encoding="utf-8")
    assert main(["next", str(source), "--budget", "4"]) == 2
    error = capsys.readouterr().err
    assert "rater_id" in error
    assert "darc import" in error
    imported = tmp_path / "imported.csv"
    assert main(["import", str(source), "--out", str(imported)]) == 0
    capsys.readouterr()
    assert main(["next", str(imported), "--budget", "4", "--price", "0"]) == 0
    printed = capsys.readouterr()
    rows = list(csv.DictReader(printed.out.splitlines()))
    assert len({(row["prompt_id"], row["candidate_id"]) for row in rows}) == 4
    assert {row["rater_id"] for row in rows} == {""}


def test_a_terminal_shows_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        row for row in close_ratings(["ann", "bob", "cid"]) if row[2] != "cid" or row[0] == "p0"
    ]
    source = str(write_rows(tmp_path / "named.csv", rows))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["next", source, "--budget", "2", "--price", "0"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for title in ("prompt", "answer", "rater", "value"):
        assert title in lines[0]
    assert all(line.split()[2] == "cid" for line in lines[2:4])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "0"], "budget"),
        (["--budget", "3", "--price", "-1"], "price"),
        (["--budget", "3", "--price", "nan"], "price"),
        (["--budget", "3", "--out", "nowhere/next.csv"], "nowhere"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "ratings.csv"
    source.write_text(TIDY, encoding="utf-8")
    assert main(["next", str(source), *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
