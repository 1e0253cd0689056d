from pathlib import Path

import numpy as np
import pytest
from tests.runs.makers import IDS, start

from darc.errors import InputError
from darc.evaluation.from_run import read_run
from darc.evaluation.source import NOBODY
from darc.evaluation.tables.cost import latency_table


def test_run_folder_as_a_source(tmp_path: Path) -> None:
    folder = start(tmp_path / "run")
    source = read_run(tmp_path / "run")
    assert source.prompt_ids == IDS
    assert source.shape == (5, 2, 4, 4)
    assert source.name == "run"
    assert (source.generator, source.family, source.kind) == ("words", "style", "rewrite")
    assert source.scorers == ["length", "vowels"]
    missing = np.isnan(source.samples)
    assert np.array_equal(source.givers == NOBODY, missing)
    assert (source.givers[..., 0] == 0).all()
    lengths = [[len(text) for text in own] for own in source.texts]
    assert np.array_equal(source.samples[:, 0, :, 0], lengths)
    assert np.array_equal(source.side["log_likelihood"], np.tile([-1.0, -2.0, -3.0, -4.0], (5, 1)))
    assert source.categories[1] == "cooking"
    assert source.costs["generate answers"] == 20
    accepted, refused = (source.costs[f"rewrites {what}"] for what in ("accepted", "refused"))
    assert accepted == (~np.isnan(source.samples[:, 0, :, 1:])).sum()
    assert refused == sum(len(row["rejected"]) for row in folder.rows("rejected.jsonl").values())
    frame = latency_table(source)
    spent = {str(row[1]): (float(str(row[2])), float(str(row[3]))) for row in frame.rows}
    assert spent["rewrite"][1] == 0
    assert spent["score"][1] < spent["score"][0]
    assert spent["generate"][0] == spent["generate"][1]
    assert source.bounds == [(0.0, 1000.0), (0.0, 1.0)]
    assert folder.manifest()["complete"]


def test_lazy_run_is_refused(tmp_path: Path) -> None:
    start(tmp_path / "lazy", lazy=True)
    with pytest.raises(InputError, match="--complete"):
        read_run(tmp_path / "lazy")
