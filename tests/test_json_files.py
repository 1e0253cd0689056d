"""JSON by the line, and files that are not JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.helpers import run_command

from darc.analysis.reading import load_ratings
from darc.errors import InputError, TableError
from darc.json_files import json_lines, parse_json, read_json
from darc.parts.scorers.caution_models import read_model
from darc.ratings.texts import read_texts
from darc.runs.questions import Questions
from darc.web.keys import read_keys

DEEP = "[" * 100_000
AUDITED: dict[str, Any] = {
    "prompt_id": "p",
    "candidates": [],
    "answer": "a",
    "request_id": "r",
    "scores": None,
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DEEP, "it is nested too deeply"),
        ('{"a": ' * 100_000, "it is nested too deeply"),
        ("9" * 5000, "a number in it has too many digits"),
        ('"\\ud800"', "half of a surrogate pair is not text"),
        (b"\xff", "it is not UTF-8"),
        ("{", "it is not valid JSON"),
        ("\x00", "it is not valid JSON"),
        ("", "it is not valid JSON"),
    ],
)
def test_json_that_cannot_be_used(text: str | bytes, said: str) -> None:
    with pytest.raises(TableError, match=rf"^file, line 7: {said}.*; repair it$"):
        parse_json(text, "file", 7)
    assert parse_json('"\\ud83d\\ude00"', "file") == "😀"


def test_lines_end_at_newlines_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"prompt": "a\u2028b"}\r\n\n{"prompt": "c"}\n{"prompt"'.encode())
    assert list(json_lines(path, ended=True)) == [(1, {"prompt": "a\u2028b"}), (3, {"prompt": "c"})]
    with pytest.raises(TableError, match=r"a\.jsonl, line 4: it is not valid JSON"):
        list(json_lines(path))
    path.write_text('{"prompt": "a\u2028b"}\n{"prompt": "c"}\n', encoding="utf-8")
    assert [each.turns for each in Questions(path)] == [("a\u2028b",), ("c",)]
    with pytest.raises(TableError, match=r"it cannot be read \(Is a directory\)"):
        read_json(tmp_path)


@pytest.mark.parametrize("read", [Questions, read_texts, load_ratings, read_keys, read_model])
def test_deeply_nested_file_is_one_sentence(read: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text('{"a": ' + DEEP + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"deep\.jsonl.*nested too deeply"):
        read(path)


def test_later_line_of_an_audit_log(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for line, said in [
        (DEEP, "nested too deeply"),
        ("3", "not a JSON object"),
        (json.dumps({**AUDITED, "scores": [[1]], "scorers": ["a"]}), "not a table of numbers"),
        (json.dumps({**AUDITED, "scores": [[[1]]]}), "scorers is missing"),
    ]:
        path.write_text(f"{json.dumps(AUDITED)}\n{line}\n", encoding="utf-8")
        with pytest.raises(InputError, match=rf"audit\.jsonl, line 2: .*{said}"):
            load_ratings(path)


@pytest.mark.parametrize("nested", [DEEP, '{"a": ' * 100_000])
def test_eval_of_a_nested_file(nested: str, tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    path.write_text(nested + "\n", encoding="utf-8")
    done = run_command("eval", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"darc: {path}, line 1: ")
    assert done.stderr.count("\n") == 1
