import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.decide.model.test_calibration_file import older

from darc.cli import main
from darc.decide.method import parse_methods
from darc.decide.model.calibration_file import Calibrations
from darc.ratings import read_ratings
from darc.ratings.decisions import decide_table

SEVERITY = {str(rater): offset for rater, offset in enumerate(np.linspace(-2, 2, 9).tolist(), 1)}
SYSTEMS = {"big": 1.0, "middle": 0.0, "small": -1.0, "tiny": -0.5}
Row = tuple[str, str, str, float, str]


def rows(prompts: int = 60, seed: int = 1) -> list[Row]:
    """Ratings by raters and of systems that are known: level + severity + noise."""
    generator = np.random.default_rng(seed)
    made = []
    for p in range(prompts):
        for k, (system, worth) in enumerate(SYSTEMS.items()):
            level = 5 + worth + generator.normal(0, 0.7)
            for rater in generator.choice(list(SEVERITY), 4, replace=False).tolist():
                rating = level + SEVERITY[rater] + generator.normal(0, 0.8)
                made.append((f"p{p}", f"p{p}-{k}", rater, round(rating, 3), system))
    return made


def written(path: Path, made: list[Row], header: str = "rater_id,rating,system") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["prompt_id", "candidate_id", *header.split(",")])
        writer.writerows(row[: 2 + len(header.split(","))] for row in made)
    return path


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    return written(tmp_path / "ratings.csv", rows())


@pytest.fixture
def calibration(ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "calibration.json"
    assert main(["calibrate", str(ratings), "--out", str(path)]) == 0
    capsys.readouterr()
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """What `darc calibrate --json` says of the only scorer."""
    assert main(["calibrate", *map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)["scorers"][""]
    return found


def chosen(
    capsys: pytest.CaptureFixture[str], path: Path, *options: object, rule: str = "auto"
) -> dict[str, str]:
    """The candidate that `darc select` chooses for each prompt."""
    assert main(["select", str(path), "--rule", rule, "--csv", *map(str, options)]) == 0
    found = csv.DictReader(capsys.readouterr().out.splitlines())
    return {row["prompt_id"]: row["candidate_id"] for row in found}


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main([str(each) for each in arguments]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_known_severity_and_systems_are_found_again(
    calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = told(capsys, "--show", calibration)
    for row in found["raters"]:
        assert row["offset"] == pytest.approx(SEVERITY[row["rater"]], abs=0.3)
        assert row["low"] < row["offset"] < row["high"]
    assert [row["rater"] for row in found["raters"]] == list(SEVERITY)
    assert [row["system"] for row in found["systems"]] == ["small", "tiny", "middle", "big"]
    assert list(found["weight"]) == ["4"]
    assert list(found["intervals"]) == ["reliability"]
    low, high = found["intervals"]["reliability"]
    assert low <= found["reliability"] <= high
    assert high > 0.0005


def test_long_lists_are_cut_with_the_ends_in_view(
    calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--show", str(calibration), "--top", "2"]) == 0
    printed = capsys.readouterr().out
    severe, lenient = printed.split("most lenient first")
    assert [line.split()[0] for line in severe.splitlines()[-2:]] == ["1", "2"]
    assert [line.split()[0] for line in lenient.splitlines()[2:4]] == ["9", "8"]
    assert "and 5 between them" in printed
    assert "Weight of disagreement" in printed


@pytest.mark.parametrize("part", [rows(), rows()[:400][::-1]])
def test_judging_a_calibration_by_what_it_learnt_from_is_warned_of(
    part: list[Row], calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = written(tmp_path / "seen.csv", part)
    quickly = ["--calibration", str(calibration), "--splits", "2", "--rule", "auto"]
    leaks = "seen: the calibration was learnt from ratings that judge it here"
    assert main(["eval", str(seen), *quickly, "--draws", "20"]) == 0
    assert f"warning: {leaks}" in capsys.readouterr().out
    assert main(["tune", str(seen), *quickly]) == 0
    assert leaks in capsys.readouterr().err


def test_judging_a_calibration_by_other_prompts_is_not(
    calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = written(tmp_path / "other.csv", rows(seed=2))
    quickly = ["--calibration", str(calibration), "--splits", "2", "--rule", "auto"]
    assert main(["eval", str(other), *quickly, "--draws", "20"]) == 0
    assert "learnt from" not in capsys.readouterr().out


def test_what_darc_begins_with_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--show"]) == 0
    assert "No rater is known." in capsys.readouterr().out


def test_one_prompt_at_a_time_is_decided_as_the_batch_is(
    ratings: Path, calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = chosen(capsys, ratings)
    assert chosen(capsys, ratings, "--calibration", calibration) == batch
    assert chosen(capsys, ratings, rule="mean") != batch
    for prompt in list(batch)[:12]:
        own = [row for row in rows() if row[0] == prompt]
        one = written(tmp_path / "one.csv", own)
        assert chosen(capsys, one, "--calibration", calibration) == {prompt: batch[prompt]}


def test_how_prompts_are_batched_changes_nothing(ratings: Path) -> None:
    found = []
    for size in (10, 300, 100_000):
        with read_ratings(ratings, batch_rows=size) as table:
            decided = list(decide_table(table, parse_methods(["auto", "hedgetune"])))
            first = table.head(600)
            systems = list(first.systems)
        rules = zip(*(each.decisions for each in decided), strict=True)
        found.append([np.concatenate([part.index for part in rule]).tolist() for rule in rules])
        # 600 cells are 37 prompts of 4 candidates with 4 ratings.
        assert (first.samples.shape, len(systems)) == ((37, 1, 4, 4), 37)
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) == 60


def test_raters_and_systems_that_are_new_have_no_effect(
    calibration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = [(p, c, f"new {r}", x, f"new {s}") for p, c, r, x, s in rows(seed=2)]
    path = written(tmp_path / "new.csv", new)
    known = written(tmp_path / "known.csv", rows(seed=2))
    plain = chosen(capsys, path, "--calibration", calibration, "--system", "none")
    assert chosen(capsys, path, "--calibration", calibration) == plain
    assert chosen(capsys, known, "--calibration", calibration) != plain


def test_systems_are_ids_that_come_back_unless_they_are_left_out(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_id = [(p, s, r, x, "") for p, _, r, x, s in rows()]
    path = written(tmp_path / "by_id.csv", by_id, "rater_id,rating")
    assert {row["system"] for row in told(capsys, path)["systems"]} == set(SYSTEMS)
    assert told(capsys, path, "--system", "none")["systems"] == []
    unique = written(tmp_path / "unique.csv", rows(), "rater_id,rating")
    assert told(capsys, unique)["systems"] == []
    renamed = written(tmp_path / "renamed.csv", rows(), "rater_id,rating,model")
    wanted = told(capsys, ratings)["systems"]
    assert told(capsys, renamed, "--column", "system=model")["systems"] == wanted
    assert chosen(capsys, renamed, "--column", "system=model") == chosen(capsys, ratings)


def test_numbers_are_the_same_raters_in_any_format(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ratings.jsonl"
    names = ("prompt_id", "candidate_id", "rater_id", "rating", "system")
    lines = [dict(zip(names, row, strict=True)) for row in rows()]
    path.write_text(
        "".join(json.dumps({**x, "rater_id": int(str(x["rater_id"]))}) + "\n" for x in lines)
    )
    assert told(capsys, path) == told(capsys, ratings)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("noise", [1, "x", 2], "noise"),
        ("raters", {"1": None}, "raters"),
        ("within", -1, "within"),
        ("version", 99, "version 99"),
        ("form", "other", "is not a calibration"),
    ],
)
def test_a_file_that_is_damaged_is_refused_by_its_field(
    ratings: Path,
    calibration: Path,
    capsys: pytest.CaptureFixture[str],
    field: str,
    value: object,
    said: str,
) -> None:
    data = json.loads(calibration.read_text())
    calibration.write_text(json.dumps({**data, field: value}))
    assert said in refused(capsys, "calibrate", "--show", calibration)
    command = ("select", ratings, "--rule", "auto", "--calibration", calibration)
    assert said in refused(capsys, *command)


def test_calibrations_of_several_scorers_are_found_by_name(
    calibration: Path, tmp_path: Path
) -> None:
    one = Calibrations.load(calibration).by_scorer[""]
    several = Calibrations({"form": one, "tone": one})
    several.save(tmp_path / "several.json")
    again = Calibrations.load(tmp_path / "several.json")
    assert again.digest == several.digest
    assert list(again.by_scorer) == ["form", "tone"]
    data = json.loads((tmp_path / "several.json").read_text())
    data["scorers"]["tone"]["check"] = "lost"
    (tmp_path / "several.json").write_text(json.dumps(data))
    with pytest.raises(Exception, match="scorer 'tone' has check"):
        Calibrations.load(tmp_path / "several.json")
    with pytest.raises(Exception, match="knows nothing of scorer 'length'"):
        several.of(["form", "length"])


@pytest.mark.parametrize(
    "command",
    [
        ("select", "RATINGS", "--rule", "epsilon"),
        ("eval", "RATINGS", "--rule", "epsilon"),
        ("tune", "RATINGS", "--rule", "epsilon"),
        ("ask", "why?", "--rule", "epsilon", "--generator", "echo"),
        ("run", "--prompts", "examples", "--out", "FOLDER", "--rule", "epsilon"),
        ("serve", "--backend", "http://127.0.0.1:9", "--rule", "epsilon"),
    ],
)
def test_other_rules_refuse_a_calibration(
    command: tuple[str, ...],
    ratings: Path,
    calibration: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {"RATINGS": str(ratings), "FOLDER": str(tmp_path / "run")}
    given = [places.get(each, each) for each in command]
    assert "takes no calibration" in refused(capsys, *given, "--calibration", calibration)


def test_mistakes_are_told_in_a_sentence(
    ratings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "or --show" in refused(capsys, "calibrate")
    assert "or --show" in refused(capsys, "calibrate", ratings, "--show")
    assert "lam is -1" in refused(capsys, "calibrate", ratings, "--lambda", "-1")
    assert "not a run and ratings" in refused(capsys, "calibrate", ratings, ratings)
    assert "cannot be read" in refused(capsys, "calibrate", "--show", tmp_path / "none.json")
    one = written(tmp_path / "one.csv", rows(1))
    assert "one prompt" in refused(capsys, "calibrate", one)
    rule = "auto:calibration=x"
    assert "use --calibration FILE" in refused(capsys, "select", ratings, "--rule", rule)


def test_eval_and_tune_take_it(
    ratings: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = ("--splits", "2", "--json", "--calibration", str(calibration))
    assert main(["eval", str(ratings), "--rule", "auto", "--draws", "50", *shared]) == 0
    rows_of_main = json.loads(capsys.readouterr().out)["frames"]["main"]["rows"]
    assert {row["method"] for row in rows_of_main} == {"mean", "auto"}
    assert main(["tune", str(ratings), "--rule", "auto", *shared]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rules"]
    assert row["setting"] == "auto"


def test_a_file_of_an_older_version_is_noted_once(
    ratings: Path, calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calibration.write_text(older(Calibrations.load(calibration).by_scorer[""]))
    use = ("--calibration", str(calibration))
    for command in (
        ("calibrate", "--show", str(calibration)),
        ("select", str(ratings), "--json", *use),
        ("ask", "why?", "--answer", "Yes.", "--answer", "No.", "--panel", "--json", *use),
    ):
        main(list(command))
        printed = capsys.readouterr().err
        assert printed.count("calibration.json was written by an older version") == 1


def test_how_answers_divide_people_is_told(
    calibration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", "--show"]) == 0
    printed = capsys.readouterr().out
    assert "divide people differently: about 14%" in printed
    known = told(capsys, "--show", calibration)
    assert 0 < known["share_different"] < 1
    assert {"spread_alike", "sigma_df_factor", "earned"} <= known.keys()


def judged_files(folder: Path, prompts: int = 80, per_answer: int = 2) -> tuple[Path, Path]:
    """Ratings by people, and a judge's grades of the same answers."""
    generator = np.random.default_rng(3)
    ratings = ["prompt_id,candidate_id,rater_id,rating"]
    grades = ["prompt_id,candidate_id,rater_id,rating"]
    for prompt in range(prompts):
        for answer in range(5):
            quality = generator.normal()
            grades.append(f"p{prompt},a{answer},judge,{quality + generator.normal(0, 0.4):.2f}")
            for rater in generator.choice(9, per_answer, replace=False):
                rating = 3 + quality + generator.normal(0, 1.2)
                ratings.append(f"p{prompt},a{answer},r{rater},{rating:.2f}")
    people = folder / "people.csv"
    people.write_text("\n".join(ratings) + "\n")
    judge = folder / "judge.csv"
    judge.write_text("\n".join(grades) + "\n")
    return people, judge


def test_a_judge_is_worth_raters_and_helps_to_choose(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people, judge = judged_files(tmp_path)
    out = tmp_path / "calibration.json"
    command = ["calibrate", str(people), "--judge", str(judge), "--out", str(out)]
    assert main([*command, "--json"]) == 0
    (scorer,) = json.loads(capsys.readouterr().out)["scorers"].values()
    estimate, low, high = scorer["judges"]["worth"]
    assert 1 < low < estimate < high
    assert main(command) == 0
    assert f"worth {estimate:.1f} raters" in capsys.readouterr().out
    select = ["select", str(people), "--calibration", str(out)]
    assert main([*select, "--judge", str(judge), "--csv"]) == 0
    with_judge = capsys.readouterr().out
    assert main([*select, "--csv"]) == 0
    assert with_judge != capsys.readouterr().out


def test_the_worth_of_a_judge_is_not_said_where_nothing_was_rated_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people, judge = judged_files(tmp_path, per_answer=1)
    assert main(["calibrate", str(people), "--judge", str(judge)]) == 0
    output = capsys.readouterr().out
    assert "cannot be known" in output
    assert "is worth" not in output.replace("the judge is worth in raters cannot", "")


def test_below_thirty_prompts_a_judge_is_not_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people, judge = judged_files(tmp_path, prompts=20)
    out = tmp_path / "calibration.json"
    assert main(["calibrate", str(people), "--judge", str(judge), "--out", str(out)]) == 0
    assert "nothing is learnt about judges" in capsys.readouterr().out
    select = ["select", str(people), "--calibration", str(out), "--judge", str(judge)]
    assert main(select) == 2
    assert "knows nothing about judgements" in capsys.readouterr().err


def test_a_judge_of_other_answers_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people, judge = judged_files(tmp_path)
    judge.write_text(judge.read_text().replace("p1", "q1").replace("\np", "\nx"))
    assert main(["calibrate", str(people), "--judge", str(judge)]) == 2
    assert "judges no candidate" in capsys.readouterr().err
