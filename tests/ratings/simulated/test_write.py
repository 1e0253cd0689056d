import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from darc.ratings import read_ratings
from darc.ratings.simulated import preset, proxy_scores, simulate
from darc.ratings.simulated.write import candidate_id, write_proxy, write_ratings, write_truth

PANEL = preset("panel")


def test_names_of_candidates() -> None:
    assert [candidate_id(k) for k in (0, 25, 26, 255)] == [
        "answer A",
        "answer Z",
        "answer AA",
        "answer IV",
    ]


def test_ratings_come_back_as_written(tmp_path: Path) -> None:
    people = simulate(replace(PANEL.people, prompts=6, missing=0.2), 1)
    path = tmp_path / "ratings.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_ratings(file, people)
    with read_ratings(path) as table:
        (batch,) = table.batches()
    assert np.array_equal(
        np.sort(batch.samples[:, 0], axis=-1)[..., :1], np.sort(people.ratings, axis=-1)[..., :1]
    )
    assert np.array_equal(
        (~np.isnan(batch.samples[:, 0])).sum(axis=-1), (~np.isnan(people.ratings)).sum(axis=-1)
    )
    with path.open(encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert list(first) == ["prompt_id", "candidate_id", "rater_id", "rating", "rater_group"]
    assert first["rater_group"] in ("group 1", "group 2")


def test_truth_has_a_line_a_candidate() -> None:
    people = simulate(replace(PANEL.people, prompts=3), 1)
    file = io.StringIO()
    write_truth(file, people)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert len(rows) == 3 * 16
    assert float(rows[17]["mean"]) == float(f"{people.truth.mean[1, 1]:.6g}")
    assert float(rows[17]["value"]) == float(f"{people.truth.value()[1, 1]:.6g}")


def test_proxy_is_a_ratings_file_with_scorers(tmp_path: Path) -> None:
    people = simulate(replace(PANEL.people, prompts=3), 1)
    proxy = proxy_scores(people, replace(PANEL.proxy, scorers=2, rewrites=3))
    path = tmp_path / "proxy.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_proxy(file, proxy)
    with read_ratings(path) as table:
        (batch,) = table.batches()
    assert list(batch.scorers) == ["scorer 1", "scorer 2"]
    assert np.allclose(batch.samples, proxy.samples, rtol=1e-5)
