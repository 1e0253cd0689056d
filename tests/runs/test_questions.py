import io
import json
from pathlib import Path

import pytest

from darc.entries import read_entries
from darc.errors import TableError
from darc.runs.answers import read_answers
from darc.runs.questions import Questions


def write(folder: Path, text: str) -> Path:
    path = folder / "prompts"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_format(tmp_path: Path) -> None:
    plain = list(Questions(write(tmp_path, "Why?\n\nHow?\n")))
    assert [(q.id, q.turns) for q in plain] == [("1", ("Why?",)), ("2", ("How?",))]
    bench = '{"question_id": 81, "category": "writing", "turns": ["Write.", "Rewrite."]}\n'
    (question,) = Questions(write(tmp_path, bench))
    assert (question.id, question.category, len(question.turns)) == ("81", "writing", 2)
    assert question.prompt(["Done."]).id == "81#2"
    alpaca = '[{"instruction": "Name it.", "dataset": "helpful"}]'
    (question,) = Questions(write(tmp_path, alpaca))
    assert (question.turns, question.category) == (("Name it.",), "helpful")
    system = '{"role": "system", "content": "Be brief."}'
    user = '{"role": "user", "content": "?"}'
    chat = f'{{"id": "c", "messages": [{system}, {user}]}}\n'
    (question,) = Questions(write(tmp_path, chat))
    assert [m.role for m in question.prompt().messages] == ["system", "user"]


def test_alpaca_eval_as_it_is_published(tmp_path: Path) -> None:
    rows = [
        {
            "instruction": "What are the names of some famous actors?",
            "output": "Some of them are on Broadway.\n1. Hugh Jackman",
            "generator": "text_davinci_003",
            "dataset": "helpful_base",
        },
        {
            "instruction": "Sort these:\n\nb, a",
            "output": "",
            "generator": "text_davinci_003",
            "dataset": "koala",
        },
    ]
    questions = list(Questions(write(tmp_path, json.dumps(rows, indent=4))))
    assert [question.turns for question in questions] == [(row["instruction"],) for row in rows]
    assert [question.id for question in questions] == ["1", "2"]
    assert [question.category for question in questions] == ["helpful_base", "koala"]


def test_an_instruction_comes_with_its_input(tmp_path: Path) -> None:
    rows = [{"instruction": "Sort these.", "input": "b, a"}, {"instruction": "Why?", "input": ""}]
    questions = Questions(write(tmp_path, json.dumps(rows)))
    assert [question.turns for question in questions] == [("Sort these.\n\nb, a",), ("Why?",)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no prompts"),
        ('{"id": 1}\n', "line 1: entry 1 has no prompt"),
        (
            '{"id": 1, "prompt": "a"}\n{"id": 1, "prompt": "b"}\n',
            "line 2: the id '1' is used twice",
        ),
        ('{"prompt": "a"}\n{"prompt"\n', "line 2: it is not valid JSON"),
        ("[3]", "entry 1 is not an object"),
        ('{"messages": [{"role": "assistant", "content": "x"}]}\n', "not the user's"),
        ('{"messages": []}\n', "line 1: entry 1 has no prompt"),
        ('{"messages": [{"role": "user"}]}\n', "line 1: a message has no content"),
    ],
)
def test_bad_prompts(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(TableError) as caught:
        Questions(write(tmp_path, text))
    assert words in str(caught.value)


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
    found = read_answers([write(tmp_path, text)], "p")
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
        read_answers([write(tmp_path, text)], "p")
    assert words in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="cannot be read"):
        read_answers([tmp_path / "none"], "p")


def test_answers_of_tables_folders_and_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "answers.csv"
    table.write_text('model,answer\none,"So, it is."\ntwo,No.\n', encoding="utf-8")
    found = read_answers([table], "p", ["Perhaps."])
    names = [("", "Perhaps."), ("one", "So, it is."), ("two", "No.")]
    assert [(each.name, each.text) for each in found] == names
    folder = tmp_path / "systems"
    folder.mkdir()
    (folder / "b.txt").write_text("Two\nlines.\n", encoding="utf-8")
    (folder / "a.md").write_text("One.", encoding="utf-8")
    found = read_answers([folder], "p")
    assert [(each.id, each.text) for each in found] == [("a", "One."), ("b", "Two\nlines.")]
    monkeypatch.setattr("sys.stdin", io.StringIO("Yes.\nNo.\n"))
    assert [each.text for each in read_answers([Path("-")], "p")] == ["Yes.", "No."]
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match="no files"):
        read_answers([tmp_path / "empty"], "p")


def test_a_folder_has_a_system_in_each_file(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    (folder / "one.jsonl").write_text(
        '{"prompt": "Why?", "response": "So."}\n{"prompt": "How?", "response": "Thus."}\n'
    )
    (folder / "two.csv").write_text('instruction,output\nHow?,"Like, this."\nWhy?,That.\n')
    rows = [row for _, row in read_entries(folder)]
    assert [(row["candidate_id"], row["response"]) for row in rows] == [
        ("one", "So."), ("one", "Thus."), ("two", "Like, this."), ("two", "That."),
    ]  # fmt: skip
    assert rows[0]["prompt_id"] == rows[3]["prompt_id"] != rows[1]["prompt_id"]
    found = read_answers([folder], "p", question="How?")
    assert [(each.name, each.text) for each in found] == [("one", "Thus."), ("two", "Like, this.")]
    with pytest.raises(TableError, match="no file has an answer to 'Who"):
        read_answers([folder], "p", question="Who?")
    (folder / "three.json").write_text('[{"prompt": "Why?"}]')
    with pytest.raises(TableError, match=r"three\.json: .*text.*response"):
        read_answers([folder], "p", question="Why?")
