from pathlib import Path

import pytest

from darc.entries import output_files, read_entries
from darc.errors import TableError


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ('["a", {"b": 1}]', [(None, "a"), (None, {"b": 1})]),
        ('{"a": 1}\n\n{"b": 2}\n', [(1, {"a": 1}), (3, {"b": 2})]),
        ("one\n\n two \n", [(1, "one"), (3, "two")]),
        ("", []),
    ],
)
def test_the_form_is_seen_from_the_first_character(
    tmp_path: Path, text: str, entries: list[object]
) -> None:
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert list(read_entries(path)) == entries
    path.write_text("\ufeff" + text, encoding="utf-8")
    assert list(read_entries(path)) == entries


def test_a_folder_has_the_answers_of_a_system_in_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"instruction": "Why?", "output": "So."}\n')
    (tmp_path / "b.csv").write_text("id,answer\n7,Thus.\n")
    (tmp_path / "c.txt").write_text("Hence.\n")
    (tmp_path / ".hidden").write_text("no")
    answers = [answer for _, answer in read_entries(tmp_path)]
    assert [answer["candidate_id"] for answer in answers] == ["a", "b", "c"]
    assert [answer["response"] for answer in answers] == ["So.", "Thus.", "Hence."]
    assert answers[0]["prompt"] == "Why?"
    assert answers[1]["prompt_id"] == "7"
    assert answers[2]["prompt_id"] == "1"


def test_an_answer_without_a_text_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"output": "So."}\n{"id": 3}\n')
    with pytest.raises(TableError, match=r"a\.jsonl, line 2"):
        list(read_entries(tmp_path))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no files"):
        output_files(tmp_path)
