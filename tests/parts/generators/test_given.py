import gzip
import json
from pathlib import Path

import pytest

from darc.errors import InputError, TableError
from darc.parts.generators import Generator, GivenGenerator, SamplingParameters
from darc.registry import generators
from darc.runs.questions import Questions
from darc.types import Message, Prompt

ROWS = [
    {"prompt_id": "a", "candidate_id": "M1", "prompt": "Why?", "response": "So it is."},
    {"prompt_id": "b", "candidate_id": "M1", "prompt": None, "response": "No."},
    {"prompt_id": "a", "candidate_id": "M2", "prompt": "Why?", "response": "Who knows."},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    given_generator = tmp_path / "texts.jsonl.gz"
    given_generator.write_bytes(
        gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode())
    )
    return given_generator


def prompt(name: str) -> Prompt:
    return Prompt(name, (Message("user", "Why?"),))


def test_answers_keep_their_names_and_order(path: Path) -> None:
    given_generator = generators.make(f"given:{path}")
    assert isinstance(given_generator, Generator)
    first, second = given_generator.generate([prompt("a"), prompt("b")], SamplingParameters(k=16))
    assert [(one.index, one.name, one.text) for one in first] == [
        (0, "M1", "So it is."),
        (1, "M2", "Who knows."),
    ]
    assert [one.tokens for one in second] == [1]
    (few,) = given_generator.generate([prompt("a")], SamplingParameters(k=1))
    assert len(few) == 1
    with pytest.raises(InputError, match="no answer to prompt 'c'"):
        given_generator.generate([prompt("c")], SamplingParameters())


def test_an_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*ROWS, ROWS[0]]))
    with pytest.raises(TableError, match="candidate 'M1' comes twice") as caught:
        GivenGenerator(str(path))
    assert caught.value.line == 4


def test_questions_of_a_file_of_answers(path: Path) -> None:
    assert [(q.id, q.turns) for q in Questions(path)] == [("a", ("Why?",)), ("b", ("",))]


def test_sample_is_the_same_for_the_same_seed(path: Path) -> None:
    turned = path.with_name("turned.jsonl")
    turned.write_text("".join(json.dumps(row) + "\n" for row in ROWS[::-1]))
    for seed in range(20):
        assert list(Questions(path, 1, seed)) == list(Questions(turned, 1, seed))
    assert list(Questions(path, 5)) == list(Questions(path))
    assert {next(iter(Questions(path, 1, seed))).id for seed in range(20)} == {"a", "b"}
    with pytest.raises(InputError, match="a sample of 0"):
        Questions(path, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"prompt_id": "a", "response": "x"}', "lacks prompt_id, candidate_id or response"),
        ("plain text", "lacks prompt_id"),
    ],
)
def test_bad_files(text: str, words: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(text, encoding="utf-8")
    with pytest.raises(TableError, match=words):
        GivenGenerator(str(bad))
    with pytest.raises(TableError, match="cannot be read"):
        GivenGenerator(str(tmp_path / "none.jsonl"))
    (tmp_path / "bad.gz").write_bytes(b"no gzip")
    with pytest.raises(TableError, match="not a gzip file"):
        GivenGenerator(str(tmp_path / "bad.gz"))
