import json
from pathlib import Path

import pytest

from darc.cli import main
from darc.ratings.simulated import simulate, two_minds


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    population = simulate(two_minds(12, 4, 6), seed=3)
    path = tmp_path / "made.csv"
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    for p, pool in enumerate(population.ratings):
        for k, row in enumerate(pool):
            lines += [f"p{p},c{k},r{i},{rating:g}" for i, rating in enumerate(row)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_tables_and_warnings_are_printed(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["eval", str(ratings), "--rule", "epsilon", "--rule", "rbon", "--splits", "3"])
    printed = capsys.readouterr().out
    assert code == 0
    assert "made, overall, 12 prompts" in printed
    assert "made, high-variance, 3 prompts" in printed
    assert "warning: made: not run: rbon (there is no log_likelihood" in printed
    assert printed.startswith("Recommended for made: ")
    assert "made, overall (12 prompts): " in printed


def test_files_and_json(ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    command = ["eval", str(ratings), "--rule", "epsilon", "--splits", "2", "--draws", "50"]
    assert main([*command, "--out", str(folder), "--json", "--lambda-by-median"]) == 0
    data = json.loads(capsys.readouterr().out)
    rows = data["frames"]["main"]["rows"]
    assert {row["method"] for row in rows} == {"mean", "epsilon"}
    assert (folder / "human.tex").exists()
    assert (folder / "report.html").exists()
    assert (folder / "figures" / "gains.svg").exists()
    assert data["summary"]
    assert (folder / "main.csv").read_text(encoding="utf-8").count("\n") == len(rows) + 1


def test_figures_can_be_left_out(ratings: Path, tmp_path: Path) -> None:
    command = ["eval", str(ratings), "--rule", "lcb", "--splits", "2", "--draws", "50"]
    assert main([*command, "--out", str(tmp_path / "out"), "--no-figures"]) == 0
    assert (tmp_path / "out" / "report.html").exists()
    assert not (tmp_path / "out" / "figures").exists()


def test_settings_come_from_a_file(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "eval.toml"
    settings.write_text('[eval]\nrule = ["lcb"]\nsplits = 2\nlam = "1"\n', encoding="utf-8")
    assert main(["eval", str(ratings), "--config", str(settings)]) == 0
    printed = capsys.readouterr().out
    assert "over 2 splits" in printed
    assert "Tradeoff is reward - 1 sigma" in printed


def test_check_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--check-paper"]) == 0
    assert capsys.readouterr().out.endswith("28 do not follow, 165 do\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "there is nothing to evaluate"),
        (["missing.csv"], "there is no such file"),
        (["missing.csv", "--lambda", "-1"], "lam is -1"),
        (["missing.csv", "--splits", "0"], "splits is 0; should be greater than or equal to 1"),
    ],
)
def test_bad_input(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_two_raters_are_told_in_few_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two.csv"
    sizes = ["--n-raters", "2", "--crowd", "2", "--n-prompts", "20"]
    assert main(["simulate", *sizes, "--out", str(path)]) == 0
    assert main(["eval", str(path)]) == 0
    printed = capsys.readouterr().out
    warnings = [line for line in printed.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 3
    assert sum("sigma" in line for line in warnings) == 1
    assert "the same choices as Best-of-K: auto, cvar, entropic, epsilon" in printed


def test_caution_is_that_of_auto(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", str(ratings), "--splits", "2", "--draws", "50", "--json"]
    rewards = {}
    for caution in ("none", "9"):
        assert main([*command, "--rule", "auto", "--caution", caution]) == 0
        rows = json.loads(capsys.readouterr().out)["frames"]["main"]["rows"]
        (rewards[caution],) = (
            row["reward"] for row in rows if (row["method"], row["subset"]) == ("auto", "overall")
        )
    assert rewards["none"] != rewards["9"]
    assert main([*command, "--rule", "lcb", "--caution", "high"]) == 2
    assert "it belongs to auto" in capsys.readouterr().err
