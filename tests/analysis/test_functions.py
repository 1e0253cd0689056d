from pathlib import Path
from typing import Any

import pytest

import darc
from darc.cli import main
from darc.errors import InputError, UnknownName


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ratings") / "people.csv"
    people = ["--n-prompts", "20", "--n-candidates", "4", "--n-raters", "8", "--crowd", "8"]
    assert main(["simulate", *people, "--out", str(path)]) == 0
    return path


def shows_itself(found: Any) -> None:
    html = found._repr_html_()
    assert "<table" in html
    assert found.sentences[0].split("'")[0][:20] in html
    assert found.plot()._repr_svg_().rstrip().endswith("</svg>")
    assert str(found) == "\n".join(found.sentences)


def test_evaluate(ratings: Path, tmp_path: Path) -> None:
    found = darc.evaluate(ratings, rules=["lcb"], splits=2, draws=50)
    shows_itself(found)
    assert found.result.frame("human") is found.tables["human"]
    found.plot("gains").save(tmp_path / "gains.png")
    assert (tmp_path / "gains.png").stat().st_size > 1000
    with pytest.raises(UnknownName, match="picture"):
        found.plot("nothing")


def test_diagnose_tune_and_compare(ratings: Path) -> None:
    shows_itself(darc.diagnose(ratings, splits=20, draws=20))
    tuned = darc.tune(ratings, "cvar", rules=["lcb"], splits=2)
    shows_itself(tuned)
    assert tuned.result.tuned.objective.name == "cvar"
    assert tuned.tables["rules"].column("rule") == ["lcb"]
    compared = darc.compare(str(ratings), draws=100)
    shows_itself(compared)
    assert len(compared.tables["standings"]) == 4


def test_ratings_in_memory_are_read_as_a_file_would_be(ratings: Path) -> None:
    header, *lines = ratings.read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(header.split(","), line.split(","), strict=True)) for line in lines]
    same = [str(darc.compare(given, draws=100)) for given in (ratings, rows)]
    assert same[0] == same[1]
    with pytest.raises(InputError, match="give a path"):
        darc.compare(42)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library: str, ratings: Path) -> None:
    frame = pytest.importorskip(library).read_csv(ratings)
    found = darc.compare(frame, draws=100)
    assert str(found) == str(darc.compare(ratings, draws=100))
    ours, other = (
        str(darc.evaluate(each, rules=["lcb"], splits=2, draws=50)) for each in (frame, ratings)
    )
    assert ours == other.replace("people", "ratings")
    with darc.read_ratings(frame) as table, darc.read_ratings(ratings) as same:
        assert (table.prompts, table.rater_names) == (same.prompts, same.rater_names)
    pytest.importorskip("pandas")
    shown = found.to_pandas()
    assert list(shown["system"]) == found.tables["standings"].column("system")
