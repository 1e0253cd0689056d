import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from tests.ratings.helpers import TIDY, Cell, cells_of, refusal, table_of

from darc.errors import DarcError, InputError, TableError, UnknownName
from darc.ratings import read_ratings

ROWS = [
    ("q1", "a", "ann", "4"),
    ("q1", "a", "bob", "2.5"),
    ("q1", "b", "ann", "3"),
    ("q2", "c", "bob", "-1e-3"),
]
CELLS = [
    Cell("q1", "", "a", (("ann", 4.0), ("bob", 2.5))),
    Cell("q1", "", "b", (("ann", 3.0),)),
    Cell("q2", "", "c", (("bob", -0.001),)),
]
NAMES = ("prompt_id", "candidate_id", "rater_id", "rating")


def delimited(mark: str, newline: str = "\n") -> bytes:
    return "".join(mark.join(row) + newline for row in (NAMES, *ROWS)).encode()


def json_lines() -> bytes:
    return "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS).encode()


def parquet(rows: dict[str, Any]) -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pa.table(rows), stream)
    return stream.getvalue()


def tidy_parquet() -> bytes:
    columns = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
    return parquet({**columns, "rating": [float(rating) for rating in columns["rating"]]})


FORMATS: dict[str, Callable[[], bytes]] = {
    "csv": lambda: delimited(","),
    "tsv": lambda: delimited("\t"),
    "jsonl": json_lines,
    "parquet": tidy_parquet,
}


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_by_its_ending(tmp_path: Path, name: str, zipped: bool) -> None:
    data = FORMATS[name]()
    path = tmp_path / (f"x.{name}.gz" if zipped else f"x.{name}")
    path.write_bytes(gzip.compress(data) if zipped else data)
    seen: list[tuple[int, int | None]] = []
    with read_ratings(path, progress=lambda done, total: seen.append((done, total))) as table:
        assert (table.layout, table.rows, table.prompts) == ("tidy", 4, 2)
        assert table.extra_columns == ()
        assert [batch.prompt_ids for batch in table.batches()] == [["q1", "q2"]]
    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert cells_of(path.read_bytes(), f"x.{name}") == CELLS


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_by_its_first_bytes(name: str, zipped: bool) -> None:
    data = FORMATS[name]()
    assert cells_of(gzip.compress(data) if zipped else data, "-") == CELLS


@pytest.mark.parametrize("name", FORMATS)
def test_a_given_format_overrides_the_ending(name: str) -> None:
    assert cells_of(FORMATS[name](), "x.jsonl" if name == "csv" else "x.csv", format=name) == CELLS


def test_semicolons_carriage_returns_and_a_byte_order_mark() -> None:
    assert cells_of(delimited(";")) == CELLS
    assert cells_of(delimited(",", "\r\n")) == CELLS
    assert cells_of(b"\xef\xbb\xbf" + delimited("\t", "\r\n"), "x.txt") == CELLS
    assert cells_of(b"\xef\xbb\xbf" + json_lines(), "x.unknown") == CELLS
    assert cells_of(delimited(",").rstrip(b"\n")) == CELLS


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(delimited(","))))
    seen: list[tuple[int, int | None]] = []
    with read_ratings("-", progress=lambda *step: seen.append(step)) as table:
        assert table.rows == 4
    assert seen[-1] == (len(delimited(",")), None)


def test_missing_samples_are_skipped() -> None:
    words = ("", "NaN", "nan", "NA", "na", "null", "None", " none ", "NULL")
    rows = "".join(f"q,a,r{i},{word}\n" for i, word in enumerate(words))
    assert cells_of(TIDY + rows + "q,a,ann,5\n") == [Cell("q", "", "a", (("ann", 5.0),))]


def test_candidates_come_in_order_of_first_appearance_even_if_first_unrated() -> None:
    found = cells_of(TIDY + "q,b,r1,\nq,a,r1,1\nq,b,r2,2\n")
    assert [cell.candidate for cell in found] == ["b", "a"]


def test_scorers_have_an_axis() -> None:
    text = (
        "prompt_id,candidate_id,scorer_id,rater_id,rating\n"
        "q1,a,s,r1,1\nq1,a,t,r1,2\nq1,b,t,r1,3\nq1,b,s,r2,4\nq1,b,s,r1,5\nq2,a,t,r1,6\n"
    )
    with table_of(text) as table:
        (batch,) = table.batches()
        assert batch.scorers == table.scorers == ["s", "t"]
        assert batch.samples.shape == (2, 2, 2, 2)
    assert cells_of(text)[2] == Cell("q1", "s", "b", (("r2", 4.0), ("r1", 5.0)))
    assert cells_of(text)[4] == Cell("q2", "s", "a", ())


def test_renamed_columns() -> None:
    text = "question,answer,judge,score\nq,a,r,1\n"
    names = dict(zip(NAMES, ("question", "answer", "judge", "score"), strict=True))
    assert cells_of(text, columns=names) == [Cell("q", "", "a", (("r", 1.0),))]
    assert "'judges'" in str(refusal(text, columns={**names, "rater_id": "judges"}))


def test_extra_columns_belong_to_candidates() -> None:
    text = (
        "prompt_id,candidate_id,rater_id,rating,model,rater_group,seconds,note\n"
        'q1,a,r1,1,big,x,10,"one, two\nthree"\n'
        'q1,a,r2,2,big,y,20,"one, two\nthree"\n'
        "q1,b,r1,3,small,x,10,\n"
    )
    with table_of(text) as table:
        assert table.extra_columns == ("model", "note")
        (batch,) = table.batches()
        assert batch.extras(0, 0) == {"model": "big", "note": "one, two\nthree"}
        assert batch.extras(0, 1) == {"model": "small", "note": ""}
        with pytest.raises(IndexError):
            batch.extras(0, 2)


def test_an_extra_column_that_varies_only_among_scattered_rows_is_given_up() -> None:
    text = "prompt_id,candidate_id,rater_id,rating,seconds\nq,a,r1,1,5\nq,b,r1,2,7\nq,a,r2,3,6\n"
    with table_of(text) as table:
        assert table.extra_columns == ()
        assert next(table.batches()).extras(0, 0) == {}


def test_json_ids_and_cells_become_text() -> None:
    rows = [
        '{"prompt_id": 7, "candidate_id": 1.50, "rater_id": "x", "rating": 3, "tags": ["é"]}',
        "",
        '{"prompt_id": "7", "candidate_id": 1.50, "rater_id": 12, "rating": null, "tags": ["é"]}',
        '{"prompt_id": 7, "candidate_id": "z", "rater_id": "x", "rating": "4.5", "ok": true}',
    ]
    with table_of("\n".join(rows), "x.ndjson") as table:
        assert (table.rows, table.extra_columns) == (3, ("tags", "ok"))
        (batch,) = table.batches()
        assert batch.prompt_ids == ["7"]
        assert batch.candidate_ids == [["1.50", "z"]]
        assert batch.extras(0, 0) == {"tags": '["é"]', "ok": ""}
        assert batch.extras(0, 1) == {"tags": "", "ok": "true"}
        assert np.array_equal(batch.samples[0, 0], [[3.0], [4.5]])


def test_parquet_of_numbers() -> None:
    data = parquet(
        {
            "prompt_id": [1, 1, 2],
            "candidate_id": ["a", "a", "b"],
            "rater_id": [10, 11, 10],
            "rating": [1, None, 3],
            "tags": [["x"], ["x"], None],
        }
    )
    with table_of(data, "x.parquet") as table:
        (batch,) = table.batches()
        assert batch.extras(0, 0) == {"tags": '["x"]'}
        assert batch.extras(1, 0) == {"tags": ""}
    assert cells_of(data, "x.parquet") == [
        Cell("1", "", "a", (("10", 1.0),)),
        Cell("2", "", "b", (("10", 3.0),)),
    ]


@pytest.mark.parametrize(
    ("option", "near"),
    [
        ({"layout": "tidi"}, "tidy"),
        ({"format": "cvs"}, "csv"),
        ({"scalarize": "win-rates"}, "win-rate"),
        ({"columns": {"prompt": "x"}}, "prompt_id"),
        ({"columns": {"scorer": "x"}}, "scorer_id"),
    ],
)
def test_unknown_options_name_the_nearest(option: dict[str, Any], near: str) -> None:
    with pytest.raises(UnknownName, match=near):
        table_of(TIDY, **option)


@pytest.mark.parametrize("name", ["batch_rows", "memory_mb"])
def test_impossible_limits(name: str) -> None:
    options: dict[str, Any] = {name: 0}
    with pytest.raises(InputError, match=name):
        table_of(TIDY, **options)


def test_batches_can_be_read_again() -> None:
    with table_of(delimited(","), batch_rows=1) as table:
        assert [b.prompt_ids for b in table.batches()] == [["q1"], ["q2"]]
        assert [b.prompt_ids for b in table.batches()] == [["q1"], ["q2"]]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_reader_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text = TIDY + "".join(f"q{i % 7},a{i % 3},r{i},1\n" for i in range(210))

    def consume() -> None:
        with table_of(text, batch_rows=5, block_bytes=64) as table:
            for _ in table.batches():
                raise stop

    with pytest.raises(stop):
        consume()
    assert list(tmp_path.iterdir()) == []

    def interrupt(done: int, total: int | None) -> None:
        if done > 1000:
            raise stop

    with pytest.raises(stop):
        table_of(text, block_bytes=64, progress=interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    (tmp_path / "x.csv").write_bytes(delimited(","))
    with read_ratings(tmp_path / "x.csv") as table:
        assert table.rows == 4
    with pytest.raises(DarcError, match="TMPDIR"):
        table_of(delimited(","))


def test_a_table_with_too_many_columns_for_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = "Out of Memory Error: failed to allocate data of size 32.0 KiB"

    def fail(*_: Any, **__: Any) -> None:
        raise duckdb.Error(message)

    path = tmp_path / "wide.csv"
    path.write_bytes(delimited(","))
    monkeypatch.setattr("darc.ratings.database.wait", fail)
    with pytest.raises(DarcError, match="columns") as caught:
        read_ratings(path)
    assert "TMPDIR" not in str(caught.value)


def test_nothing_is_yielded_before_everything_is_checked() -> None:
    text = TIDY + "".join(f"q{i},a,r,1\n" for i in range(50)) + "q50,a,r,\n"
    error = refusal(text, batch_rows=1)
    assert "'a'" in str(error)
    assert "'q50'" in str(error)
    with pytest.raises(TableError):
        table_of(text, batch_rows=1)


SYSTEMS = """\
prompt_id,candidate_id,rater_id,rating,system
q1,a,7,3,big
q1,b,7,4,small
q2,c,8,5,big
q1,a,8,6,big
q2,d,7,2,
"""


def test_who_gave_each_sample_and_which_system_wrote_each_candidate() -> None:
    with table_of(SYSTEMS, batch_rows=3) as table:
        assert table.system == "system"
        assert "system" in table.extra_columns
        batches = list(table.batches())
        assert [list(batch.systems) for batch in batches] == [[["big", "small"]], [["big", ""]]]
    assert [batch.rater_names for batch in batches] == [["7", "8"]] * 2
    assert batches[0].raters.tolist() == [[[[0, 1], [0, -1]]]]
    assert batches[1].raters.tolist() == [[[[1], [0]]]]


def test_raters_of_several_scorers_stay_with_their_samples() -> None:
    rows = "q,a,ann,1,s1\nq,a,bob,2,s2\nq,b,bob,3,s1\nq,a,cem,4,s1\nq,b,ann,5,s2\n"
    with table_of(TIDY.replace("\n", ",scorer_id\n") + rows) as table:
        batch = next(table.batches())
    names = [*batch.rater_names, ""]
    found = [[[names[i] for i in own] for own in each] for each in batch.raters[0]]
    assert found == [[["ann", "cem"], ["bob", ""]], [["bob", ""], ["ann", ""]]]


def test_without_a_system_column_a_candidate_is_its_own_system() -> None:
    with table_of(TIDY + "q,a,1,3\nq,b,1,4\n") as table:
        assert list(next(table.batches()).systems) == [["a", "b"]]


def test_another_column_can_name_the_system() -> None:
    data = SYSTEMS.replace("system\n", "model\n")
    with table_of(data, columns={"system": "model"}) as table:
        assert next(table.batches()).systems[0] == ["big", "small"]
    with pytest.raises(TableError, match="missing column 'modle'"):
        table_of(data, columns={"system": "modle"})


def test_a_numeric_system_of_a_wide_table_is_no_rater() -> None:
    with table_of("prompt_id,candidate_id,system,ann,bob\nq,a,1,5,6\nq,b,2,7,8\n") as table:
        batch = next(table.batches())
        assert batch.rater_names == ["ann", "bob"]
        assert list(batch.systems) == [["1", "2"]]


def test_a_system_that_varies_within_a_candidate_is_refused_where_it_is_wanted() -> None:
    with table_of(SYSTEMS.replace("q1,a,8,6,big", "q1,a,8,6,huge")) as table:
        batch = next(table.batches())
        with pytest.raises(TableError, match="line 5: the system of this candidate is not"):
            list(batch.systems)


@pytest.mark.parametrize("folder", ["dir[1]", "st*r", "w?y"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_folders_named_like_patterns_hold_their_own_files(
    folder: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = pytest.importorskip("pandas")
    for name in (folder, "dir1", "star", "way"):
        (tmp_path / name).mkdir()
        frame = pandas.DataFrame(
            {"prompt_id": [name], "candidate_id": ["a"], "rater_id": ["r"], "rating": [1.0]}
        )
        if suffix == "csv":
            frame.to_csv(tmp_path / name / "a.csv", index=False)
        else:
            frame.to_parquet(tmp_path / name / "a.parquet")
    monkeypatch.chdir(tmp_path / folder)
    link = tmp_path / f"link.{suffix}"
    link.symlink_to(tmp_path / folder / f"a.{suffix}")
    for path in (Path(f"a.{suffix}"), tmp_path / folder / f"a.{suffix}", link):
        with read_ratings(path) as table:
            assert table.all_prompts().prompt_ids == [folder]
