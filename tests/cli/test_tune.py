import csv
import json
from pathlib import Path

import numpy as np
import pytest

from darc.cli import main
from darc.cli.commands import actions_of, command_names, read_settings
from darc.cli.tune import RULE_COMMANDS
from darc.ratings.simulated import simulate, two_minds


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    drawn = simulate(two_minds(60, 6, 10, polarising=0.5), seed=2).ratings
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", "rater_id", "rating"])
        for p, candidates in enumerate(drawn):
            for k, row in enumerate(candidates):
                writer.writerows([f"p{p}", f"c{k}", f"r{i}", x] for i, x in enumerate(row))
    return path


def test_table_settings_and_picture(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "settings.toml"
    picture = tmp_path / "surface.svg"
    command = ["tune", str(ratings), "--rule", "epsilon", "--rule", "lcb", "--splits", "2"]
    assert main([*command, "--out", str(settings), "--plot", str(picture)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Recommended for ratings: ")
    assert "settings.toml" in printed.err
    assert picture.read_text().startswith("<?xml")
    chosen = printed.out.split()[3]
    assert "beats Best-of-K beyond noise" in printed.out.splitlines()[0]
    assert main(["select", str(ratings), "--config", str(settings), "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["rule"] for row in rows} == {chosen}


def test_every_command_with_a_rule_takes_the_settings(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "settings.toml"
    main(["tune", str(ratings), "--rule", "lcb", "--out", str(settings)])
    chosen = capsys.readouterr().out.split()[3]
    needed = {
        "ask": ["q"],
        "run": ["--prompts", "p", "--out", "o"],
        "show": ["f", "p"],
        "select": ["r.csv"],
        "eval": ["r.csv"],
    }
    for name, arguments in needed.items():
        read = read_settings([name, *arguments, "--config", str(settings)])
        assert chosen in (getattr(read, "rule", None), *getattr(read, "rules", ())), name
    takers = {}
    for name in command_names():
        for command in actions_of(name).values():
            fields = command.settings.model_fields
            if name != "tune" and ("rule" in fields or "rules" in fields):
                takers[name] = "rules" in fields
    assert takers == RULE_COMMANDS


def test_json(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tune", str(ratings), "--rule", "soft", "--folds", "3", "--splits", "1", "--json"]
    assert main([*command, "--objective", "cvar", "--seed", "4"]) == 0
    data = json.loads(capsys.readouterr().out)
    (row,) = data["rules"]
    assert row["rule"] == "soft"
    assert len(row["by_fold"]) == 3
    assert row["optimism"] == pytest.approx(row["in_sample"] - row["gain"])
    assert data["recommended"] == "mean"
    assert data["seed"] == 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--rule", "rbon"], "needs the side input 'log_likelihood'"),
        (["--rule", "epsilom"], "did you mean"),
        (["--risk-cap", "1"], "it belongs to the objective 'mean'"),
        (["--folds", "31"], "not enough for 31 folds"),
        (["--plot", "surface.bmp"], "does not end in .png"),
    ],
)
def test_bad_input(
    ratings: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(ratings), *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_caution_is_that_of_auto(ratings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tune", str(ratings), "--splits", "2", "--caution", "high"]
    assert main([*command, "--rule", "auto", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["setting"] for row in told["rules"]] == ["auto:caution=high"]
    assert main([*command, "--rule", "lcb"]) == 2
    assert "it belongs to auto" in capsys.readouterr().err


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Prompts whose answers are good, and prompts whose answers are not."""
    generator = np.random.default_rng(0)
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    for prompt in range(80):
        level = generator.normal(3.4, 0.9)
        for candidate in range(3):
            mean = level + generator.normal(0, 0.4)
            for rater in range(5):
                rating = int(np.clip(np.round(mean + generator.normal(0, 0.6)), 1, 5))
                lines.append(f"p{prompt},c{candidate},r{rater},{rating}")
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(lines))
    return path


def test_a_risk_writes_a_calibration_that_holds_answers_back(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    careful = tmp_path / "careful.json"
    command = ["tune", str(mixed), "--risk", "rating < 3", "--level", "0.1", "--json"]
    assert main([*command, "--out", str(careful)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["possible"]
    assert json.loads(careful.read_text())["promise"]["kind"] == "batch"
    assert main(["calibrate", "--show", str(careful)]) == 0
    assert "rating < 3" in capsys.readouterr().out
    assert main(["select", str(mixed), "--calibration", str(careful), "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    below = [row for row in rows if "below_promise" in row["flags"]]
    assert 0 < len(below) < len(rows)
    assert {row["held"] for row in below} == {"true"}


def test_an_impossible_promise_is_not_written(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    careful = tmp_path / "careful.json"
    command = ["tune", str(mixed), "--risk", "rating < 6", "--out", str(careful)]
    assert main(command) == 2
    assert "Not possible" in capsys.readouterr().out
    assert not careful.exists()


def test_a_risk_goes_without_an_objective(
    ratings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(ratings), "--risk", "rating < 3", "--objective", "mean"]) == 2
    assert main(["tune", str(ratings), "--risk", "about 3"]) == 2
