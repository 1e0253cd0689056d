import json
from pathlib import Path

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
    assert said.count("95 % interval") == 3
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
