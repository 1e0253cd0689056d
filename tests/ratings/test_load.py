import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from darc.errors import TableError
from darc.ratings.load import load_table
from darc.ratings.splitting import NOBODY
from darc.ratings.texts import stem

RATINGS = """prompt_id,candidate_id,rater_id,rater_group,rating
p,a,ann,cook,1
p,a,bob,,2
p,b,bob,,4
q,a,ann,cook,5
q,a,cid,baker,6
"""


def write(folder: Path, zipped: bool = False) -> Path:
    path = folder / ("set.csv.gz" if zipped else "set.csv")
    data = RATINGS.encode()
    path.write_bytes(gzip.compress(data) if zipped else data)
    return path


@pytest.mark.parametrize("zipped", [False, True])
def test_ratings_raters_and_groups(tmp_path: Path, zipped: bool) -> None:
    source = load_table(write(tmp_path, zipped))
    assert (source.name, source.kind, source.shape) == ("set", "rater", (2, 1, 2, 2))
    assert source.samples[0, 0, 0].tolist() == [1.0, 2.0]
    assert np.isnan(source.samples[1, 0, 1]).all()
    names = [source.rater_names[g] for g in source.raters[1, 0, 0]]
    assert names == ["ann", "cid"]
    assert source.raters[0, 0, 1].tolist()[1] == NOBODY
    assert source.groups == {"ann": "cook", "cid": "baker"}
    assert np.isnan(source.lengths).all()
    assert not source.texts


def test_systems_are_those_of_the_column_or_the_candidates(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert load_table(path).systems == [["a", "b"], ["a"]]
    assert load_table(path, system="none").systems == ()
    path.write_text("prompt_id,candidate_id,rater_id,rating,model\np,a,1,2,x\np,b,1,3,y\n")
    source = load_table(path, columns={"system": "model"})
    assert source.systems == [["x", "y"]]
    assert source.shuffled(3).systems[0] == [
        {"a": "x", "b": "y"}[name] for name in source.shuffled(3).candidate_ids[0]
    ]


def test_groups_of_raters_under_another_name(tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_text(RATINGS.replace("rater_id,rater_group", "judge,trade"))
    source = load_table(path, columns={"rater_id": "judge", "rater_group": "trade"})
    assert source.groups == {"ann": "cook", "cid": "baker"}


def test_texts_beside_the_ratings(tmp_path: Path) -> None:
    rows = [
        {"prompt_id": "p", "candidate_id": "a", "prompt": "why?", "response": "one two three"},
        {"prompt_id": "q", "candidate_id": "a", "prompt": None, "response": "one"},
    ]
    text = "\n".join(map(json.dumps, rows)).encode()
    (tmp_path / "set.texts.jsonl.gz").write_bytes(gzip.compress(text))
    source = load_table(write(tmp_path, zipped=True), name="other")
    assert source.name == "other"
    assert source.length_unit == "words"
    assert source.lengths[0, 0] == 3
    assert np.isnan(source.lengths[0, 1])
    assert source.texts[0] == ["one two three", ""]
    assert list(source.questions) == ["why?", ""]


@pytest.mark.parametrize("line", ["[1]", "{", '{"prompt_id": "p"}'])
def test_bad_texts_are_told_by_line(tmp_path: Path, line: str) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text(f'\n{{"prompt_id": "p", "candidate_id": "a"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(TableError, match="line 3"):
        load_table(write(tmp_path), texts)


def test_stem() -> None:
    assert stem(Path("a/b.c.csv.gz")) == "b.c"
    assert stem(Path("set.jsonl")) == "set"
