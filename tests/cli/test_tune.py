import csv
import json
from pathlib import Path

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
