import json
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.compare.test_comparison import ratings

from darc.cli import main


@pytest.fixture
def source(tmp_path: Path) -> str:
    return str(ratings(tmp_path / "r.csv", {"good": 4.0, "poor": 1.0}, prompts=20))


def test_leaderboard_is_printed_and_drawn(
    source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "systems.png"
    assert main(["compare", source, "--by", "rater_group", "--plot", str(picture)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("good is best")
    assert "unhappy: below" in said
    assert "--scale and --threshold say otherwise" in said
    assert said.count("95 % interval") == 4
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_has_everything(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", source, "--json", "--threshold", "2"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["threshold"] == 2
    assert [each["system"] for each in made["standings"]] == ["good", "poor"]
    assert made["wins"] == {"good": {"poor": 1.0}, "poor": {"good": 0.0}}


def test_groups_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.csv"
    rows = [f"p{p},c{c},r{r},{p + c + r}" for p in range(3) for c in range(2) for r in range(2)]
    path.write_text("prompt_id,candidate_id,rater_id,rating\n" + "\n".join(rows) + "\n")
    assert main(["compare", str(path), "--by", "rater_group"]) == 2
    assert "no column rater_group" in capsys.readouterr().err


def test_many_systems_have_the_first_ones_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    means = {f"s{i}": 9.0 - i / 2 for i in range(10)}
    path = str(ratings(tmp_path / "r.csv", means, prompts=20))
    assert main(["compare", path, "--threshold=-9", "--draws", "100"]) == 0
    said = capsys.readouterr().out
    assert "higher mean, of the first 8\n" in said
    assert "hardly anyone is unhappy" in said


def test_the_scale_can_be_given(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", source, "--scale", "0-100"]) == 0
    assert "unhappy: below 50, the middle of the scale 0 to 100; " in capsys.readouterr().out
    assert main(["compare", source, "--scale", "0-100", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["scale"] == [0, 100]
    assert {each["unhappy"] for each in made["standings"]} == {1.0}
    assert main(["compare", source, "--scale", "high"]) == 2
    assert "is not two numbers" in capsys.readouterr().err


def test_several_files_are_put_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = str(ratings(tmp_path / "good.csv", {"good": 4.0}, prompts=20))
    poor = str(ratings(tmp_path / "poor.csv", {"poor": 1.0}, prompts=20))
    assert main(["compare", good, poor, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [standing["system"] for standing in result["standings"]] == ["good", "poor"]
    assert result["standings"][0]["ratings"] == 80
    assert result["method"] == "same prompts"


def test_a_pair_can_be_chosen(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", source, "--pair", "poor", "good", "--json"]) == 0
    pair = json.loads(capsys.readouterr().out)["pair"]
    assert (pair["first"], pair["second"]) == ("poor", "good")
    low, high = pair["interval"]
    assert low < pair["difference"] < high < 0
    assert main(["compare", source, "--pair", "poor", "other"]) == 2
    assert "other" in capsys.readouterr().err


def test_tradeoff_cvar_and_ties(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", source, "--lambda", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["lambda"] == 1
    assert made["ties"] == {"good": {"poor": 0.0}, "poor": {"good": 0.0}}
    good, poor = made["standings"]
    assert good["tradeoff"] > poor["tradeoff"]
    assert good["cvar"] > poor["cvar"]
    pair = made["pair_outcomes"]
    assert (pair["wins"], pair["ties"], pair["losses"]) == (1.0, 0.0, 0.0)
    assert main(["compare", source]) == 0
    text = capsys.readouterr().out
    assert "tradeoff: mean - 2 sigma" in text
    assert "win rate 100.0%" in text


def test_a_judge_of_more_prompts_makes_intervals_narrower(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(4)
    people = ["prompt_id,candidate_id,rater_id,rating"]
    grades = ["prompt_id,candidate_id,rater_id,rating"]
    for prompt in range(300):
        level = generator.normal(0, 1)
        for system, worth in (("good", 0.5), ("poor", 0.0)):
            quality = 3 + worth + level + generator.normal(0, 0.3)
            grades.append(f"p{prompt},{system},judge,{quality + generator.normal(0, 0.2):.2f}")
            if prompt < 40:
                people.append(f"p{prompt},{system},ann,{quality + generator.normal(0, 0.2):.2f}")
                people.append(f"p{prompt},{system},bob,{quality + generator.normal(0, 0.2):.2f}")
    ratings = tmp_path / "people.csv"
    ratings.write_text("\n".join(people) + "\n")
    judge = tmp_path / "judge.csv"
    judge.write_text("\n".join(grades) + "\n")
    assert main(["compare", str(ratings), "--judge", str(judge), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["with_judge"]
    assert first["system"] == "good"
    assert first["mean"]["high"] - first["mean"]["low"] < 0.6 * (
        first["mean"]["people_high"] - first["mean"]["people_low"]
    )
    assert second["behind_best"]["low"] < -0.5 < second["behind_best"]["high"]
    assert main(["compare", str(ratings), "--judge", str(judge)]) == 0
    assert "people alone" in capsys.readouterr().out
