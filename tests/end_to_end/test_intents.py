"""What people try without having read anything: it works, or a sentence leads on.

A LangChain chain needs LangChain: tests/clients/test_langchain.py (make test-clients).
"""

import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.fakes import FakeServer

import darc
from darc.cli import main

ANSWERS = {
    "gpt": "Sunlight is scattered by air, and blue light more than red.",
    "llama": "Because the ocean is blue and the sky mirrors it.",
    "ours": "Air scatters blue light most, so that is what we see from all sides.",
    "other": "Nobody knows.",
}
SKY = "Why is the sky blue?"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DARC_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def outputs(folder: Path) -> Path:
    """A folder of four models' outputs."""
    made = folder / "outputs"
    made.mkdir()
    for name, text in ANSWERS.items():
        rows = [{"prompt": SKY, "response": text}, {"prompt": "Egg?", "response": "Seven minutes."}]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (made / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return made


def sheet(path: Path, header: list[str], raters: tuple[str, ...], words: bool = False) -> Path:
    """An Excel sheet of eight questions, three models and some raters."""
    book = openpyxl.Workbook()
    page = book.active
    page.append(header)
    for question in range(1, 9):
        for place, model in enumerate(("gpt", "llama", "ours")):
            for turn, rater in enumerate(raters):
                mark = (question + 2 * place + turn * question) % 5
                given = ("awful", "poor", "fine", "good", "great")[mark] if words else mark + 1
                page.append([f"question {question}", model, rater, given])
    book.save(path)
    return path


def said(capsys: pytest.CaptureFixture[str], *command: object, code: int = 0) -> str:
    """What a command prints on both streams."""
    assert main([str(part) for part in command]) == code
    printed = capsys.readouterr()
    return printed.out + printed.err


def test_my_own_answers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inline = [part for text in ANSWERS.values() for part in ("--answer", text)]
    assert "Best-of-K" in said(capsys, "ask", SKY, *inline, "--n-aug", "1")


def test_my_server(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def reply(body: dict[str, Any], index: int) -> str:
        grading = "grade answers" in body["messages"][0]["content"]
        return '{"grades": [7, 8]}' if grading else f"Answer {index} is about the sky."

    with FakeServer() as fake:
        fake.reply = reply
        model = f"openai:fake@{fake.url}"
        told = said(capsys, "ask", SKY, "--generator", model, "-k", "2", "--panel", "2")
    assert "calls" in told


def test_an_excel_sheet_with_odd_names(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sheet(folder / "umfrage.xlsx", ["Frage", "Modell", "Wer", "Urteil"], ("Ann", "Ben"))
    assert "written to" in said(capsys, "import", path)
    names = ("prompt_id=Frage", "candidate_id=Modell", "rater_id=Wer", "rating=Urteil")
    columns = [part for name in names for part in ("--column", name)]
    assert "written to" in said(capsys, "import", path, *columns, "--out", "ratings.csv")
    assert "question 1" in said(capsys, "select", "ratings.csv", "--csv")


def test_two_raters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = sheet(folder / "two.xlsx", ["prompt", "model", "rater", "rating"], ("Ann", "Ben"))
    said(capsys, "import", path, "--out", "ratings.csv")
    assert "Recommended" in said(capsys, "diagnose", "ratings.csv")


def test_words_for_grades(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = ["question", "model", "annotator", "score"]
    raters = ("Ann", "Ben", "Cem")
    path = sheet(folder / "words.xlsx", header, raters, words=True)
    assert "1 to 5" in said(capsys, "import", path)
    scale = "awful=1,poor=2,fine=3,good=4,great=5"
    assert "1 to 5" in said(capsys, "import", path, "--scale", scale, "--out", "ratings.csv")


def test_a_folder_of_four_models_outputs(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "ask", SKY, "--answers", outputs, "--n-aug", "1")
    assert all(name in told for name in ANSWERS)
    assert "Egg?" in said(capsys, "ask", "Why?", "--answers", outputs, code=2)
    run = ("run", "--prompts", outputs, "--out", "run", "--n-aug", "1", "--json", "--workers", "0")
    assert json.loads(said(capsys, *run).splitlines()[0])["prompts"] == 2
    assert "8 items" in said(capsys, "study", "init", "--items", outputs)


def test_the_shipped_prompts_beside_a_folder_of_their_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "examples").mkdir()
    (folder / "examples" / "note.txt").write_text("Not a prompt.", encoding="utf-8")
    # The prompts that ship with DARC, for the embedded model, which is not installed here.
    told = said(capsys, "run", "--prompts", "examples", "--out", "run", code=2)
    assert "darc models install" in told


def test_which_model_is_safest_for_all_users(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raters = ("Ann", "Ben", "Cem", "Dora")
    path = sheet(folder / "all.xlsx", ["prompt", "model", "rater", "rating"], raters)
    said(capsys, "import", path, "--out", "ratings.csv")
    told = said(capsys, "compare", "ratings.csv")
    assert "unhappy" in told
    assert "worst tenth" in told


def test_a_study_of_twenty_items_with_three_friends(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"prompt": f"Question {n}?", "responses": {"a": f"Yes, {n}.", "b": f"No, {n}."}}
        for n in range(10)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "items.jsonl").write_text(lines, encoding="utf-8")
    command = ("study", "init", "--items", "items.jsonl", "--annotators", "3", "--ratings", "3")
    assert "20 items, 3 ratings each, 3 annotators" in said(capsys, *command)
    assert said(capsys, "study", "links").count("/join/") == 3


def test_a_pandas_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        [[9, 9, 9, 1], [7, 7, 8, 7]], index=["roast", "story"], columns=list("abcd")
    )
    decision = darc.select(frame, rule="entropic")
    assert decision.index == 1
