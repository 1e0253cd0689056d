from pathlib import Path

import pytest

from darc.errors import TableError
from darc.runs.answers import read_answers


def write(folder: Path, text: str) -> Path:
    path = folder / "answers"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "one\n\ntwo\n",
        '["one", "two"]',
        '[{"output": "one"}, {"response": "two"}]',
        '{"text": "one"}\n{"answer": "two"}\n',
        '"one"\n"two"\n',
    ],
)
def test_answers_in_every_form(tmp_path: Path, text: str) -> None:
    found = read_answers(write(tmp_path, text), "p")
    assert [(c.prompt_id, c.index, c.text) for c in found] == [("p", 0, "one"), ("p", 1, "two")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no answers"),
        ("[]", "no answers"),
        ('{"text": "one"}\n{"txt": "two"}\n', "line 2: an answer has no text"),
        ('{"text": "one"\n', "line 1: it is not valid JSON"),
        ('[" "]', "an answer has no text"),
    ],
)
def test_bad_answers(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TableError) as caught:
        read_answers(write(tmp_path, text), "p")
    assert words in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="cannot be read"):
        read_answers(tmp_path / "none", "p")
