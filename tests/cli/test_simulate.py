import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from darc.cli import main


def test_ratings_go_to_darc_select(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ratings.csv"
    truth = tmp_path / "truth.csv"
    arguments = ["--people", "polarised", "--n-prompts", "5", "--out", str(path)]
    assert main(["simulate", *arguments, "--truth", str(truth)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["select", str(path), "--csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    with truth.open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 5 * 8


def test_a_folder_gets_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made" / "up"
    arguments = ["--people", "hacking", "--n-prompts", "2", "--n-candidates", "3", "--seed", "4"]
    assert main(["simulate", *arguments, "--out", str(folder)]) == 0
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["proxy.csv", "ratings.csv", "truth.csv"]
    assert capsys.readouterr().err.count("wrote ") == 3
    assert main(["select", str(folder / "proxy.csv"), "--rule", "rbon", "--rule", "worst"]) == 0
    before = (folder / "ratings.csv").read_bytes()
    assert main(["simulate", *arguments, "--out", str(folder)]) == 0
    assert (folder / "ratings.csv").read_bytes() == before


def test_standard_output_is_a_ratings_file(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--n-prompts", "2", "--n-raters", "3", "--groups", "0.5", "0.25", "0.25"]
    assert main(["simulate", *options, "--scale", "1-5", "--round-to", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "prompt_id,candidate_id,rater_id,rating,rater_group"
    assert len(lines) == 1 + 2 * 5 * 3
    assert {line.split(",")[3] for line in lines[1:]} <= {"1", "2", "3", "4", "5"}


def test_experiment_as_table_and_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["simulate", "--experiment", "raters", "--n-prompts", "20"]
    assert main(arguments) == 0
    table = capsys.readouterr().out
    for rule in ("auto", "entropic", "epsilon", "tau", "penalty"):
        assert f"{rule} against Best-of-K (mean) beyond noise" in table
    picture = tmp_path / "raters.svg"
    assert main([*arguments, "--json", "--plot", str(picture)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 54
    assert rows[-1]["n"] is None
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_real_ratings_are_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    assert main(["simulate", "--people", "panel", "--n-prompts", "12", "--out", str(path)]) == 0
    picture = tmp_path / "asking.svg"
    command = ["simulate", "--experiment", "asking", "--replay", str(path)]
    assert main([*command, "--json", "--plot", str(picture)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["asking"] for row in rows].count("same number of each") == 5
    assert {row["budget"] for row in rows if row["asking"] == "in waves"} == {1.5, 2, 3}
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_rules_of_an_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--n-prompts", "10", "--json"]
    rules = ["--rule", "mean", "--rule", "tau:quantile=0.5"]
    assert main(["simulate", "--experiment", "hacking", *rules, *few]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {row["rule"] for row in rows if row["world"] == "sturdy"}
    assert found == {"mean", "tau:quantile=0.5"}
    assert main(["simulate", "--experiment", "buckets", "--rule", "entropic:beta=2", *few]) == 0


def test_list_names_every_preset_and_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--list"]) == 0
    shown = capsys.readouterr().out
    for word in ("paper:", "noise:", "polarised:", "hacking:", "panel:", "proxy.tracking="):
        assert word in shown


def test_settings_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[simulate]\nn_prompts = 1\nn_raters = 2\nset = ["gap=3"]\n', encoding="utf-8")
    assert main(["simulate", "--config", str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 5 * 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--people", "papers"], "did you mean 'paper'?"),
        (["--n-prompts", "0"], "at least 1"),
        (["--set", "prompts=1.5"], "prompts cannot be 1.5"),
        (["--set", "gap"], "not KEY=VALUE"),
        (["--set", "tracking=1"], "did you mean 'proxy.tracking'?"),
        (["--scale", "5-1"], "does not rise"),
        (["--seed", "-1"], "seed is -1"),
        (["--json"], "--json needs an experiment"),
        (["--experiment", "coverage", "--rule", "mean"], "does not take 1 --rule"),
        (["--experiment", "buckets", "--rule", "tau:x=1"], "unknown parameter 'x'"),
        (["--experiment", "hacking", "--plot", "x.txt"], "does not end in"),
        (["--experiment", "buckets", "--replay", "x.csv"], "does not take --replay"),
        (["--replay", "x.csv"], "--replay needs an experiment"),
        (["--experiment", "asking", "--replay", "x.csv", "--n-raters", "3"], "no people are"),
        (["--experiment", "coverage", "--n-prompts", "100000"], "too many"),
        (["--out", "no/such/file.csv"], "there is no folder"),
    ],
)
def test_bad_values_are_told_in_one_sentence(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert words in shown.err
    assert shown.err.count("\n") == 1


def test_the_command_starts() -> None:
    command = [sys.executable, "-m", "darc", "simulate", "--experiment", "nope"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "invalid choice" in done.stderr
