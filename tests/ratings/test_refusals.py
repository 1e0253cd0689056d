"""Every kind of bad input: one sentence, with the file and the line where there is one."""

import gzip
import json
import math
from pathlib import Path

import pytest
from tests.ratings.helpers import TIDY, refusal, table_of

from darc.errors import InputError, TableError
from darc.ratings import read_ratings

WIDE = "prompt_id,candidate_id,ann,bob\n"
PAIRS = "prompt_id,left_id,right_id,rater_id,winner\n"


FAULTS: list[tuple[str, int | None, list[str]]] = [
    ("", None, ["the file is empty"]),
    ("\n\n", None, ["the file is empty"]),
    (TIDY, None, ["no rows"]),
    ("prompt_id,candidate_id,rater,rating\nq,a,r,1\n", None, ["'rater_id'", "mean 'rater'?"]),
    ("prompt,candidate_id,rater_id,ratings\nq,a,r,1\n", None, ["'prompt_id', 'rating'"]),
    ("prompt,candidate_id,rater_id,ratings\nq,a,r,1\n", None, ["did you mean 'prompt'?"]),
    ("a,b\n1,2\n", None, ["'prompt_id'", "there are: a, b"]),
    ("prompt_id,prompt_id,rater_id,rating\nq,a,r,1\n", 1, ["'prompt_id' twice"]),
    (TIDY + "q,a,r,1\nq,a,s,good\n", 3, ["'good'", "'rating'", "not a number"]),
    (TIDY + "q,a,r,1_000\n", 2, ["'1_000'", "not a number"]),
    ("prompt_id;candidate_id;rater_id;rating\nq;a;r;3,5\n", 2, ["'3,5'", "point"]),
    (TIDY + "q,a,r,1\nq,a,s,inf\n", 3, ["infinity", "'rating'"]),
    (TIDY + "q,a,r,-Infinity\n", 2, ["infinity"]),
    (TIDY + "q,a,r,1e999\n", 2, ["infinity"]),
    (TIDY + "q,a,r,1\nq,b,r,\nq,b,s,NA\n", 3, ["candidate 'b'", "prompt 'q'", "missing"]),
    (TIDY + "q,a,r,1\nq,a,r\n", 3, ["too few fields", "3", "4"]),
    (TIDY + "q,a,r,1,9\nq,a,s\n", 2, ["too many fields", "5", "4"]),
    (TIDY + "q\nq,a\nq\n", 2, ["too few fields", "1", "4"]),
    (TIDY + 'q,a,"r",1\nq,"a,b",s\n', 3, ["too few fields", "3"]),
    (TIDY + "q,a,r,1\n,a,s,1\n", 3, ["no prompt_id"]),
    (TIDY + "q,a,r,1\nq,,s,1\n", 3, ["no candidate_id"]),
    (TIDY + "q,a,r,1\nq,a,,1\n", 3, ["no rater_id"]),
    (TIDY + 'q,a,r,1\nq,a,"s,1\n', 3, ["never closed"]),
    (TIDY + 'q,a,r,1\nq,"a"b,s,1\n', 3, ["badly quoted"]),
    (TIDY + "q,a,r,1\rq,a,s,1\n", 2, ["carriage return"]),
    (WIDE + "q,a,1,2\nq,b,3,x\nq,c,1,2\n", 3, ["'x'", "'bob'", "not a number"]),
    (WIDE + "q,a,1,2\nq,b,,NA\n", 3, ["candidate 'b'", "missing"]),
    (WIDE + "q,a,x,y\n", None, ["no column of numbers"]),
    ("prompt_id;candidate_id;ann\nq;a;3,5\n", None, ["darc import reads decimal commas"]),
    ("prompt_id,candidate_id\nq,a\n", None, ["no column of numbers"]),
    (PAIRS + "q,a,b,r,left\nq,a,b,s,both\n", 3, ["'both'", "left, right, tie, 'a' or 'b'"]),
    (PAIRS + "q,a,b,r,left\nq,c,c,s,tie\n", 3, ["'c'", "itself"]),
    (PAIRS + "q,a,b,r,left\nq,c,a,s,\n", 3, ["candidate 'c'", "prompt 'q'", "missing"]),
    ("prompt_id,left_id,right_id,rater_id,won\nq,a,b,r,left\n", None, ["'winner'"]),
]


def tidy(**changes: object) -> str:
    row = {"prompt_id": "q", "candidate_id": "a", "rater_id": "r", "rating": 1, **changes}
    return json.dumps({name: cell for name, cell in row.items() if cell != "absent"}) + "\n"


PAIR = '{"prompt_id": "q", "left_id": "a", "right_id": "b", "rater_id": "r"%s}\n'
JSON_FAULTS: list[tuple[str, int | None, list[str]]] = [
    ("\n \n", None, ["no rows"]),
    ('{"prompt_id": "q"\n', 1, ["not valid JSON", "column"]),
    ("\n[1, 2]\n", 2, ["not a JSON object", "[1, 2]"]),
    ('{"prompt_id": "q"}, {"prompt_id": "q"}\n', 1, ["not valid JSON"]),
    ("[" * 100_000 + "\n", 1, ["nested too deeply"]),
    (tidy() + tidy(candidate_id=None), 2, ["no candidate_id"]),
    (tidy() + tidy(rating="absent"), 2, ["no rating"]),
    (tidy(rating=math.inf), 1, ["infinity"]),
    (tidy(rating=True), 1, ["'true'"]),
    (tidy(candidate_id="\ud800"), 1, ["surrogate"]),
    (PAIR % ', "winner": "tie"' + PAIR % "", 2, ["no winner"]),
]


@pytest.mark.parametrize(("text", "line", "words"), FAULTS)
@pytest.mark.parametrize("block", [1, 30, 100_000])
def test_delimited(text: str, line: int | None, words: list[str], block: int) -> None:
    error = refusal(text, block_bytes=block)
    assert error.line == line
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize(("text", "line", "words"), JSON_FAULTS)
def test_json(text: str, line: int | None, words: list[str]) -> None:
    error = refusal(text, "x.jsonl", block_bytes=50)
    assert error.line == line
    for word in words:
        assert word in str(error)


def test_a_json_array_is_not_json_lines() -> None:
    assert "JSON array" in str(refusal('[\n{"prompt_id": 1}]', "x.json"))


def test_not_utf8() -> None:
    error = refusal(TIDY.encode() + b"q,a,r,1\nq,\xe9,r,1\n", block_bytes=20)
    assert (error.line, "UTF-8" in str(error)) == (3, True)
    assert refusal((TIDY + "q,a,r,1\n").encode("utf-16")).line == 1


def test_damaged_gzip() -> None:
    data = gzip.compress((TIDY + "".join(f"q{i},a,r,{i}\n" for i in range(2000))).encode())
    assert "ends too early" in str(refusal(data[:-20], "x.csv.gz"))
    assert "damaged" in str(refusal(data[:100] + b"\0" * 100 + data[200:], "x.csv.gz"))


def test_unreadable_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for data in (b"", b"PAR1 and then nothing", TIDY.encode()):
        assert "Parquet" in str(refusal(data, "x.parquet"))
        (tmp_path / "x.parquet").write_bytes(data)
        with pytest.raises(TableError, match="Parquet"):
            read_ratings(tmp_path / "x.parquet")


def test_no_such_file(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").touch()
    with pytest.raises(TableError, match=r"no such file; did you mean 'ratings.csv'\?"):
        read_ratings(tmp_path / "rating.csv")
    with pytest.raises(TableError, match="no such file"):
        read_ratings(tmp_path / "nowhere" / "rating.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="folder"):
        read_ratings(tmp_path / "empty")
    with pytest.raises(TableError, match="the file is empty"):
        read_ratings(tmp_path / "ratings.csv")


def test_a_line_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("darc.ratings.plain_files.LONGEST_LINE", 1000)
    assert "longer than" in str(refusal("x" * 3000, block_bytes=100))


def test_rater_columns_of_a_table_that_is_not_wide() -> None:
    with pytest.raises(InputError, match="wide"):
        table_of(TIDY + "q,a,r,1\n", raters=["ann"])
    assert "'carl'" in str(refusal(WIDE + "q,a,1,2\n", layout="wide", raters=["ann", "carl"]))


def test_the_same_rater_under_two_scorers_is_no_duplicate() -> None:
    header = "prompt_id,candidate_id,rater_id,rating,scorer_id\n"
    with table_of(header + "q,a,r,1,s\nq,a,r,1,t\n") as table:
        assert table.scorers == ["s", "t"]
        assert table.repeats is None
    assert refusal(header + "q,a,r,1,s\nq,a,x,1,\n").line == 3


def test_a_missing_rating_is_no_duplicate() -> None:
    with table_of(TIDY + "q,a,r,\nq,a,r,1\n") as table:
        assert table.rows == 2
