"""Sheets as people keep them, imported without options or with the one that the error names."""

import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from darc.errors import InputError
from darc.ratings.importing import parse_scale, read_judgements
from darc.ratings.judgements import Judgements


def imported(folder: Path, content: str | bytes, **keywords: Any) -> Judgements:
    path = folder / "sheet.csv"
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content)
    return read_judgements(path, **keywords)


def cells(judgements: Judgements) -> set[tuple[str, str, str, float]]:
    return {(row.prompt, row.candidate, row.rater, row.rating) for row in judgements.ratings}


WIDE = {("q1", "a", "Ann", 4.0), ("q1", "a", "Ben", 5.0), ("q1", "b", "Ann", 2.0)}


@pytest.mark.parametrize(
    "content",
    [
        "Question,Model,Ann,Ben\nq1,a,Agree,Strongly agree\nq1,b,Disagree,\n",
        "Topic,Bot,Ann,Ben\nq1,a,Agree,Strongly agree\nq1,b,Disagree,N/A\n",
        "Thema;Wer antwortet;Ann;Ben\nq1;a;Stimme zu;Stimme voll zu\nq1;b;Stimme nicht zu;k.A.\n",
        "question,model,Ann,Ben\nq1,a,d\u2019accord,Tout à fait d'accord\nq1,b,Pas d'accord,-\n",
        "pregunta,modelo,Ann,Ben\nq1,a,De acuerdo,Muy de acuerdo\nq1,b,en desacuerdo,\n",
        "Question,Model,Ann,Ben\nq1,a, agree ,STRONGLY  AGREE\nq1,b,Disagree.,n/a\n",
        "Question,Model,Ann,Ben\nq1,a,4 - Agree,5 - Strongly agree\nq1,b,2 - Disagree,NA\n",
        "Question,Model,Ann,Ben\nq1,a,Agree (4),Strongly agree (5)\nq1,b,Disagree (2),?\n",
        "Question,Model,Ann,Ben\nq1,a,4/5,5/5\nq1,b,2/5,\n",
        "Question,Model,Ann,Ben\nq1,a,4 stars,5 stars\nq1,b,2 stars,\n",
        (
            "Question,Model,Ann,Ben\nq1,a,\u2605\u2605\u2605\u2605\u2606,\u2605\u2605\u2605\u2605\u2605\n"
            "q1,b,\u2605\u2605,\n"
        ),
        "sep=;\r\nQuestion;Model;Ann;Ben\r\nq1;a;4,0;5,0\r\nq1;b;2;\r\n",
        "\ufeffQuestion\tModel\tAnn\tBen\nq1\ta\t4\t5\nq1\tb\t2\t\n",
        "Question|Model|Ann|Ben\nq1|a|4|5\nq1|b|2|\n",
        "My survey of May\n\nQuestion,Model,Ann,Ben,Average\nq1,a,4,5,4.5\nq1,b,2,,2\n",
        "Question,Model,Ratings,\n,,Ann,Ben\nq1,a,4,5\nq1,b,2,\n",
        "Question,a,,b,\n,Ann,Ben,Ann,Ben\nq1,4,5,2,\n",
        "Question,Model,Ann,Ben,\nq1,a,4,5,,,\nq1,b,2\n",
        "Question,Model,Ann,Ben,remark\nq1,a,4,5,good\nq1,b,2,,\n",
        "Question,Model,Rater,Rating\nq1,a,Ann,4\nq1,a,Ben,5\nq1,b,Ann,2\nq1,b,Ben,\n",
        "Frage,Modell,Bewerter,Note\nq1,a,Ann,4\nq1,a,Ben,5\nq1,b,Ann,2\n",
        'Timestamp,Email address,"q1 [a]","q1 [b]"\n5/1/2024 10:00:00,Ann,4,2\n5/1/2024,Ben,5,\n',
        "Question,Rater,a,b\nq1,Ann,4,2\nq1,Ben,5,\n",
        "Question,Model,Ann,Ben\nq1,a,4,5\n,b,2,\nMean,,3,5\n",
        (
            "user\tinstance_id\tmodel\tgrade:::2\tgrade:::4\tgrade:::5\nAnn\tq1\ta\t\ttrue\t\n"
            "Ben\tq1\ta\t\t\ttrue\nAnn\tq1\tb\ttrue\t\t\n"
        ),
        (
            "StartDate,ResponseId,Progress,Q1_1,Q1_2\n"
            "Start Date,Response ID,Progress,q1 - a,q1 - b\n"
            '"{""ImportId"":""startDate""}","{""ImportId"":""_recordId""}",'
            '"{""ImportId"":""progress""}","{""ImportId"":""QID1_1""}",'
            '"{""ImportId"":""QID1_2""}"\n'
            "2024-05-01,Ann,100,Agree,Disagree\n2024-05-01,Ben,100,Strongly agree,\n"
        ),
    ],
)
def test_sheets_that_need_no_options(content: str, tmp_path: Path) -> None:
    assert cells(imported(tmp_path, content)) == WIDE


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    text = "Question;Model;Zoë;Jürgen\nWarum heiß?;a;4,5;3\nWarum heiß?;b;1;2\n"
    judgements = imported(tmp_path, text.encode(encoding))
    assert {row.rater for row in judgements.ratings} == {"Zoë", "Jürgen"}
    assert {row.prompt for row in judgements.ratings} == {"Warum heiß?"}
    assert max(row.rating for row in judgements.ratings) == 4.5


def options_in(problem: InputError) -> dict[str, Any]:
    """The options that an error names, as `read_judgements` takes them."""
    keywords: dict[str, Any] = {}
    words = shlex.split(re.sub(r" \(or .*\)|, with a number.*", "", problem.hint.split(": ")[-1]))
    for flag, value in itertools.pairwise(words):
        if flag == "--column":
            role, _, name = value.partition("=")
            keywords["columns"] = {role: name}
        elif flag == "--scale":
            keywords["scale"] = parse_scale(value)
    return keywords


@pytest.mark.parametrize(
    "content",
    [
        "Question,Model,Score\nq1,a,good\nq1,b,3\n",
        "Question,Model,Ann,Ben\nq1,a,good,3\nq1,b,bad,5\n",
        "Question,Model,Accuracy,Tone\nq1,a,4,1\nq1,a,2,1\n",
        "Question,Model,Verdict,Where,When\nq1,a,4,x,y\nq1,a,2,x,z\n",
    ],
)
def test_an_error_names_the_option_that_helps(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        imported(tmp_path, content)
    keywords = options_in(caught.value)
    assert keywords
    assert imported(tmp_path, content, **keywords).ratings


def test_a_proposed_scale_is_in_order_and_leaves_unknown_words_open(tmp_path: Path) -> None:
    content = "Question,Model,Score\nq1,a,excellent\nq1,b,poor\nq1,c,meh\nq1,d,good\n"
    with pytest.raises(InputError, match=r'--scale "poor=2,meh=\?,good=4,excellent=5"'):
        imported(tmp_path, content)


@pytest.mark.parametrize(
    "content",
    [
        "Question,Model,Ann,Ben\nq1,a,meh,wow\nq1,b,wow,meh\n",
        "Question,Model,Ann,Ben\nq1,a,Agree,Disagree\nq1,b,Disagree,whatever\n",
        "Question,Model,Ann,Ben\nq1,a,4,5\nq1,b,2,oh well\n",
    ],
)
def test_no_rater_is_left_out_for_an_unknown_word(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'--scale ".*=\?'):
        imported(tmp_path, content)


def test_a_sheet_of_persons_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"PROMPT \[ANSWER\]"):
        imported(tmp_path, "Timestamp,Email,Answer A,Answer B\n1,Ann,4,2\n2,Ben,5,1\n")


def test_percentages(tmp_path: Path) -> None:
    rows = "Question,Model,Ann\nq1,a,80 %\nq1,b,45%\n"
    assert [row.rating for row in imported(tmp_path, rows).ratings] == [80.0, 45.0]
    with pytest.raises(InputError, match="different units"):
        imported(tmp_path, rows + "q1,c,0.3\n")


def test_several_rating_columns_are_raters_by_name(tmp_path: Path) -> None:
    content = "Question,Model,Ann,Ben,Tokens\nq1,a,4,5,100\nq1,b,2,,90\n"
    columns = {"rating": ["Ann", "Ben"]}
    assert cells(imported(tmp_path, content, columns=columns)) == WIDE


def test_groups_texts_and_other_columns_are_kept(tmp_path: Path) -> None:
    content = (
        "prompt_id;model;rater;Gruppe;answer;topic;rating\n"
        "q1;a;Ann;north;Because of A.;sky;4,5\nq1;a;Ben;south;Because of A.;sky;3\n"
        "q1;b;Ann;north;Because of B.;sky;2\nq1;b;Ben;south;Because of B.;sky;1\n"
    )
    judgements = imported(tmp_path, content)
    assert judgements.groups == {"Ann": "north", "Ben": "south"}
    assert judgements.texts["q1", "b"][1] == "Because of B."
    assert judgements.details["q1", "a"] == {"topic": "sky"}
    named = content.replace("Gruppe", "Herkunft")
    judgements = imported(tmp_path, named, columns={"rater_group": "Herkunft"})
    assert judgements.groups == {"Ann": "north", "Ben": "south"}


def test_long_answers_as_ids_become_texts(tmp_path: Path) -> None:
    long_answers = ["word " * 30, "other " * 30]
    rows = "".join(f"q1,{answer.strip()},{rating}\n" for rating, answer in enumerate(long_answers))
    judgements = imported(tmp_path, f"question,answer,Ann\n{rows}")
    assert {row.candidate for row in judgements.ratings} == {"answer 1", "answer 2"}
    assert judgements.texts["q1", "answer 1"] == ("q1", long_answers[0].strip())


def test_repeated_headers_get_numbers(tmp_path: Path) -> None:
    judgements = imported(tmp_path, "Question,Model,Rating,Rating\nq1,a,4,5\nq1,b,2,3\n")
    assert judgements.notes
    assert len(judgements.ratings) >= 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("Question,Model,Ann\n", "no rows"),
        ("Question,Model,Ann\nq1,a,4,5,6\n", "line 2: too many fields"),
        ("Question,Model,Ann\nq1,a,1e999\n", "too large"),
        (b"a\0b,c\n1,2\n", "not text"),
    ],
)
def test_what_cannot_be_read_is_said(content: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        imported(tmp_path, content)


def test_excel_with_merged_headers(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet["A1"] = "Survey of answers"
    sheet.merge_cells("A1:E1")
    sheet["A2"] = "Question"
    sheet.merge_cells("A2:A3")
    sheet["B2"] = "a"
    sheet.merge_cells("B2:C2")
    sheet["D2"] = "b"
    sheet.merge_cells("D2:E2")
    for place, name in zip("BCDE", ["Ann", "Ben", "Ann", "Ben"], strict=True):
        sheet[f"{place}3"] = name
    for place, value in zip("ABCD", ["q1", 4, 5, 2], strict=True):
        sheet[f"{place}4"] = value
    book.save(tmp_path / "merged.xlsx")
    assert cells(read_judgements(tmp_path / "merged.xlsx")) == WIDE
