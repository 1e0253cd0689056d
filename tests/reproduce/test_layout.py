import csv
import io

import pytest

from darc.reproduce.layout import (
    Block,
    Column,
    PaperTable,
    Row,
    cell_text,
    csv_text,
    document,
    group_spans,
    latex_text,
    markdown_text,
    marks_of,
)


@pytest.fixture
def table() -> PaperTable:
    columns = (
        Column("Reward", ("Llama", "MT-Bench")),
        Column("Risk", ("Llama", "MT-Bench"), "low"),
        Column("Tradeoff", ("Qwen", "MT-Bench"), "high"),
    )
    rows = (
        Row(("Inference", "Base"), (1.0, 3.0, -5.004), (4.53, 6.5, None)),
        Row(("Inference", "DARC-epsilon"), (1.5, 2.0, -5.0), (4.46, 5.29, None)),
        Row(("Inference", "Caution_1"), (None, 2.5, -7.0), (4.09, 5.43, None)),
        Row(("Training", "cDPO"), (9.0, 0.1, 1.0), ranked=False),
    )
    return PaperTable(
        "main",
        "A title with 20%",
        ("Type", "Method"),
        columns,
        (Block("Overall", rows),),
        "A note.",
    )


def test_best_and_second_are_marked_among_ranked_rows(table: PaperTable) -> None:
    marks = marks_of(table, table.blocks[0])
    assert [row[1] for row in marks] == ["", "best", "second", ""]
    # Equal as they are printed, so both are the best.
    assert [row[2] for row in marks] == ["best", "best", "second", ""]
    assert {row[0] for row in marks} == {""}


def test_a_single_row_is_not_the_best(table: PaperTable) -> None:
    block = Block("", (Row(("a", "b"), (1.0, 2.0, 3.0)),))
    assert marks_of(table, block) == [["", "", ""]]


def test_headings_span_their_columns(table: PaperTable) -> None:
    assert group_spans(table, 0) == [(0, 2, "Llama"), (2, 1, "Qwen")]
    assert group_spans(table, 1) == [(0, 2, "MT-Bench"), (2, 1, "MT-Bench")]


def test_csv_has_the_papers_numbers_beside_ours(table: PaperTable) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(table))))
    assert rows[0]["Llama / MT-Bench / Risk"] == "3"
    assert rows[0]["Llama / MT-Bench / Risk (paper)"] == "6.5"
    assert rows[2]["Llama / MT-Bench / Reward"] == ""
    assert rows[3]["Llama / MT-Bench / Risk (paper)"] == ""


def test_markdown_marks_and_blocks(table: PaperTable) -> None:
    text = markdown_text(table)
    assert "| _Overall_ |" in text
    assert "**2.00**" in text
    assert "_2.50_" in text
    assert "-5.00" in text


def test_latex_escapes_and_groups(table: PaperTable) -> None:
    text = latex_text(table)
    assert r"\multicolumn{2}{c}{Llama}" in text
    assert r"\cmidrule(lr){3-4}" in text
    assert r"DARC-$\epsilon$" in text
    assert r"Caution\_1" in text
    assert r"20\%" in text
    assert text.count("Inference") == 1
    assert text.count(r"\begin{") == text.count(r"\end{")


def test_document_includes_tables_and_pictures() -> None:
    text = document(["main.tex"], ["ridge.png"])
    assert r"\input{main.tex}" in text
    assert "ridge.png" in text


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, "-"), (float("nan"), "-"), (-0.0, "0.00"), (1.005, "1.00"), (3, "3.00"), ("a", "a")],
)
def test_cells_as_text(cell: float | str | None, text: str) -> None:
    assert cell_text(cell) == text
