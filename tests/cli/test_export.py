import json
from pathlib import Path

import pytest
from tests.cli.runs import darc

from darc.analysis.reading import load_ratings
from darc.ratings.joining import join


@pytest.mark.slow
@pytest.mark.parametrize("form", ["tidy", "parquet"])
def test_an_export_joins_by_the_ids_that_were_given(
    form: str, tmp_path: Path, prompts: Path, environment: dict[str, str]
) -> None:
    ratings = tmp_path / "ratings.csv"
    given = tmp_path / "given.jsonl"
    lines = ["prompt_id,candidate_id,rater_id,rating"]
    answers = []
    for prompt in ("81", "81#2", "82"):
        for place, name in enumerate(("M11", "M2", "base")):
            text = f"It's often said that the {name} answer can't be wrong, however you look at it"
            answers.append(
                {"prompt_id": prompt, "candidate_id": name, "response": text + "." * place}
            )
            lines += [f"{prompt},{name},r{rater},{place + rater}" for rater in range(4)]
    given.write_text("".join(json.dumps(row) + "\n" for row in answers), encoding="utf-8")
    ratings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    folder = tmp_path / "run"
    parts = ("--generator", f"given:{given}", "--scorer", "brevity", "--n-aug", "3")
    done = darc(environment, "run", "--prompts", prompts, "--out", folder, *parts)
    assert done.returncode == 0, done.stderr
    exported = darc(environment, "export", folder, "--format", form).stdout.strip()
    chosen = darc(environment, "select", exported, "--rule", "auto:calibration=default", "--json")
    rows = [json.loads(line) for line in chosen.stdout.splitlines()]
    lines = (folder / "shards" / "00000" / "decisions.jsonl").read_text().splitlines()
    names = {
        row["prompt_id"]: ("M11", "M2", "base")[row["index"]] for row in map(json.loads, lines)
    }
    assert {row["prompt_id"]: row["candidate"] for row in rows} == names
    evaluated = darc(environment, "eval", folder, ratings, "--json", "--no-figures")
    assert evaluated.returncode == 0, evaluated.stderr
    rows = json.loads(evaluated.stdout)["frames"]["main"]["rows"]
    assert "run judged by ratings" in {row["source"] for row in rows}
    joined = join(load_ratings(Path(exported)), load_ratings(ratings))
    assert joined.unmatched == (0, 0)
