import csv
import json
from pathlib import Path

import pytest
from tests.analysis.diagnose.panels import Array, noise_only, uneven

from darc.cli import main


def write(path: Path, ratings: Array, groups: bool = False) -> Path:
    prompts, candidates, raters = ratings.shape
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        head = ["prompt_id", "candidate_id", "rater_id", "rating"]
        writer.writerow(head + ["rater_group"] * groups)
        for p in range(prompts):
            for k in range(candidates):
                for j in range(raters):
                    row = [f"p{p}", f"c{k}", f"r{j}", f"{ratings[p, k, j]:.4f}"]
                    writer.writerow(row + ["even" if j % 2 == 0 else "odd"] * groups)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["diagnose", *map(str, arguments), "--halves", "40", "--permutations", "60"])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_words_come_first_and_then_the_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "ratings.csv", noise_only(5, prompts=40, raters=6), groups=True)
    code, out, err = run(capsys, path, "--top", 3)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("Recommended for ratings: ")
    assert lines[1].startswith("By ")
    place = lines.index("ratings: 40 prompts, 320 candidates, 6 raters, 1920 ratings")
    assert lines[place + 2].startswith("With 6 raters your disagreement estimate is mostly noise")
    assert {"mean (Best-of-K)", "epsilon", "entropic", "lcb"} <= {
        line.split("  ")[0].strip() for line in lines[:place]
    }
    for part in ("variance of ratings", "raters for 0.5", "given groups: even 3, odd 3", "alpha"):
        assert part in out
    assert "and 3 more raters" in out
    assert err == ""


def test_json_is_whole_and_repeatable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "ratings.csv", uneven(1, prompts=12))
    _, first, _ = run(capsys, path, "--json", "--seed", 3)
    _, second, _ = run(capsys, path, "--json", "--seed", 3)
    _, third, _ = run(capsys, path, "--json", "--seed", 4)
    assert first == second != third
    found = json.loads(first)
    assert found["verdict"] == "signal"
    assert found["ratings"] == 12 * 8 * 10
    assert sum(row["percent"] for row in found["tables"]["components"]) == pytest.approx(100)
    assert len(found["tables"]["prompts"]) == 12


def test_tables_and_picture_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "ratings.csv", uneven(1, prompts=9))
    code, _, err = run(capsys, path, "--out", tmp_path / "out", "--plot", tmp_path / "picture.png")
    assert code == 0
    assert "wrote" in err
    with (tmp_path / "out" / "candidates.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9 * 8
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_several_scorers_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ratings.csv"
    noise = noise_only(5, 30, 6, 8)
    signal = uneven(1, 30, 6, 8)
    with path.open("w", encoding="utf-8") as file:
        file.write("prompt_id,candidate_id,rater_id,scorer_id,rating\n")
        for name, ratings in (("dull", noise), ("keen", signal)):
            for (p, k, j), value in ((i, ratings[i]) for i in _places(ratings)):
                file.write(f"p{p},c{k},r{j},{name},{value:.4f}\n")
    _, out, _ = run(capsys, path, "--json")
    found = {row["scorer"]: row["verdict"] for row in map(json.loads, out.splitlines())}
    assert found == {"dull": "noise", "keen": "signal"}


def _places(ratings: Array) -> list[tuple[int, int, int]]:
    prompts, candidates, raters = ratings.shape
    return [(p, k, j) for p in range(prompts) for k in range(candidates) for j in range(raters)]


@pytest.mark.parametrize("size", [(1, 1, 1), (1, 4, 3), (4, 1, 3), (4, 3, 1)])
def test_thin_files_get_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: tuple[int, int, int]
) -> None:
    path = write(tmp_path / "ratings.csv", noise_only(0, *size))
    code, out, err = run(capsys, path)
    assert code == 0
    assert out.startswith("Recommended for ratings: auto (untested: ")
    assert "nan" not in out
    assert err == ""


def test_bad_input_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "ratings.csv", noise_only(0, 2, 2, 2))
    for arguments, words in (
        ((path, "--top", 0), "top is 0"),
        ((path, "--plot", "picture.doc"), "does not end in"),
        ((tmp_path / "absent.csv",), "absent.csv"),
    ):
        code, out, err = run(capsys, *arguments)
        assert code in (1, 2)
        assert out == ""
        assert words in err
        assert len(err.splitlines()) == 1


def test_raters_who_mark_a_system_down_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ratings = noise_only(3, 25, 3, 5)
    ratings[:, 2, 3:] -= 3
    path = write(tmp_path / "ratings.csv", ratings)
    _, out, _ = run(capsys, path)
    assert "2 of 5 raters mark c2 down" in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("r3 ", "r4 "))]
    assert sum("*" in row for row in rows) == 2
    _, out, _ = run(capsys, path, "--json")
    likings = json.loads(out)["tables"]["likings"]
    assert {row["rater"] for row in likings if row["notable"]} == {"r3", "r4"}
