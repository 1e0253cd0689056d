import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.study.making import config_for, running
from tests.study.robots import Robot, obedient

from darc.cli import main
from darc.ratings.simulated import simulate, two_minds
from darc.study.export import export
from darc.study.status import close


@pytest.mark.slow
def test_a_population_comes_back_from_the_pages(tmp_path: Path) -> None:
    people = simulate(two_minds(prompts=6, candidates=4, raters=7, polarising=0.4), seed=2)
    config = config_for(
        tmp_path,
        6,
        systems=("c0", "c1", "c2", "c3"),
        study={"ratings": 7, "annotators": 7},
    )

    def rater(number: int) -> Callable[[str], str]:
        def answer(text: str) -> str:
            words = text.split()
            prompt, candidate = (int(word.strip("pc.")) for word in (words[-3], words[-1]))
            return f"{people.ratings[prompt, candidate, number]:g}"

        return obedient(answer)

    with running(str(tmp_path / "s.db"), config) as one:
        for number, (_, token) in enumerate(one.links):
            with Robot(one.url, token, rater(number)) as robot:
                robot.work()
        assert close(one.store) == 0
        export(one.store, tmp_path / "out")
    out = tmp_path / "decisions.csv"
    assert (
        main(
            [
                "select",
                str(tmp_path / "out" / "ratings.csv"),
                "--rule",
                "epsilon",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    with (tmp_path / "out" / "ratings.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = np.full(people.ratings.shape, np.nan)
    for row in rows:
        place = (
            int(row["prompt_id"][1:]),
            int(row["candidate_id"][1:]),
            int(row["rater_id"][1:]) - 1,
        )
        found[place] = float(row["rating"])
    np.testing.assert_array_equal(found, people.ratings)
    sigma = found.std(axis=2, ddof=1).ravel()
    truth = people.truth.sigma.ravel()
    assert np.corrcoef(sigma, truth)[0, 1] > 0.8
    with out.open() as file:
        chosen = {row["prompt_id"]: row["candidate_id"] for row in csv.DictReader(file)}
    assert set(chosen) == {f"p{p}" for p in range(6)}
    divided = people.polarising
    picked = [divided[int(p[1:]), int(c[1:])] for p, c in chosen.items()]
    assert np.mean(picked) < divided.mean()


def test_pairs_are_balanced_and_read_back(tmp_path: Path) -> None:
    config = config_for(
        tmp_path,
        4,
        systems=("a", "b", "c"),
        study={"mode": "pairwise", "ratings": 4, "annotators": 4},
        quality={"share": 0.0},
    )

    def prefer(text: str) -> str:
        words = [
            word.strip(".") for word in text.split() if word.startswith("c") and word[1:2].isdigit()
        ]
        return "left" if words[0] < words[1] else "right"

    with running(str(tmp_path / "s.db"), config) as one:
        for _, token in one.links:
            with Robot(one.url, token, prefer) as robot:
                robot.work()
        close(one.store)
        export(one.store, tmp_path / "out")
    with (tmp_path / "out" / "comparisons.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 3 * 4
    better = {"left": "left_id", "right": "right_id"}
    assert all(row[better[row["winner"]]] < max(row["left_id"], row["right_id"]) for row in rows)
    assert Counter(row["winner"] for row in rows) == {"left": 24, "right": 24}
    assert all(row["shown_left"] == row["left_id"] for row in rows)
    path = tmp_path / "out" / "comparisons.csv"
    assert main(["select", str(path), "--rule", "mean", "--out", str(tmp_path / "d.csv")]) == 0
    with (tmp_path / "d.csv").open() as file:
        assert {row["candidate_id"] for row in csv.DictReader(file)} == {"a"}
    assert main(["eval", str(path), "--rule", "mean"]) == 0
