"""One small file of each format, as its makers write it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from darc.errors import InputError, MissingExtra, TableError, UnknownName
from darc.ratings import read_ratings
from darc.ratings.foreign_formats import FORMATS
from darc.ratings.importing import parse_scale, read_judgements

ANSWERS: dict[str, list[Any]] = {
    "UltraFeedback": [
        {
            "instruction": "Why?",
            "completions": [
                {
                    "model": name,
                    "response": f"{name} says",
                    "annotations": {"helpfulness": {"Rating": "4"}, "honesty": {"Rating": "N/A"}},
                }
                for name in ("one", "two")
            ],
        }
    ],
    "HelpSteer2": [
        {"prompt": "Why?", "response": r, "helpfulness": 3, "correctness": 4, "coherence": 4,
         "complexity": 1, "verbosity": 2}
        for r in ("So.", "Because.")
    ],
    "MultiPref": [
        {"comparison_id": "c1", "text": "Why?", "completion_a": "So.", "completion_b": "No.",
         "model_a": "one", "model_b": "two",
         "normal_worker_annotations": [{"evaluator": "n1", "overall_pref": "A-is-clearly-better"}],
         "expert_worker_annotations": [{"evaluator": "e1", "overall_pref": "Tie"}]}
    ],
    "Chatbot Arena": [
        {"question_id": "q", "model_a": "one", "model_b": "two", "winner": winner, "judge": f"j{n}",
         "conversation_a": [{"content": "Why?"}, {"role": "assistant", "content": "So."}]}
        for n, winner in enumerate(("model_a", "model_b", "tie (bothbad)"))
    ],
    "MT-Bench": [
        {"question_id": 81, "model": m, "judge": ["gpt-4", "single-v1"], "score": 9, "turn": t}
        for m in ("one", "two")
        for t in (1, 2)
    ],
    "AlpacaEval": [
        {"instruction": "Why?", "output_1": "So.", "output_2": "No.", "generator_1": "one",
         "generator_2": "two", "annotator": "a", "preference": preference}
        for preference in (1.0, 1.9, 1.5, None)
    ],
    "Argilla": [
        {"id": "r1", "fields": {"prompt": "Why?", "response": "So."}, "metadata": {"model": "one"},
         "responses": [{"user_id": "u1", "values": {"quality": {"value": 4}}},
                       {"user_id": "u2", "values": {"quality": {"value": 2}}}]},
        {"id": "r2", "fields": {"prompt": "Why?", "response": "No."}, "metadata": {"model": "two"},
         "responses": {"quality": [{"user_id": "u1", "value": 1}]}},
    ],
    "Label Studio": [
        {"id": 1, "data": {"prompt": "Why?", "response": "So.", "model": "one"},
         "annotations": [{"completed_by": {"email": "a@b.c"}, "result": [
             {"type": "rating", "value": {"rating": 5}}]}]}
    ],
    "inspect_ai": [
        {"eval": {"model": "one"}, "samples": [
            {"id": 1, "epoch": 1, "input": "Why?", "output": {"completion": "So."},
             "scores": {"match": {"value": "C"}, "grade": {"value": 0.5}}}]}
    ],
    "chosen and rejected": [
        {"prompt": "Why?", "chosen": [{"role": "assistant", "content": "So."}], "rejected": "No."}
    ],
}  # fmt: skip
NAMES = [each.name for each in FORMATS]
COUNTS = {
    "UltraFeedback": 2, "HelpSteer2": 6, "MultiPref": 2, "Chatbot Arena": 3, "MT-Bench": 4,
    "AlpacaEval": 3, "Argilla": 3, "Label Studio": 1, "inspect_ai": 2, "chosen and rejected": 1,
}  # fmt: skip


def written(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_every_format_has_an_example() -> None:
    assert ANSWERS.keys() == COUNTS.keys() == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_format_is_understood(name: str, tmp_path: Path) -> None:
    made = read_judgements(written(tmp_path / "a.jsonl", ANSWERS[name]))
    assert made.format == name
    assert len(made.ratings or made.pairs) == COUNTS[name]
    if name != "MT-Bench":
        assert "So." in {answer for _, answer in made.texts.values()} or name == "UltraFeedback"
    path = tmp_path / "b.json"
    for whole in (ANSWERS[name], ANSWERS[name][0]):
        path.write_text(json.dumps(whole, indent=1))
        assert read_judgements(path).format == name
    path.write_text(json.dumps(ANSWERS[name]))
    assert read_judgements(path) == made


@pytest.mark.parametrize("name", ["UltraFeedback", "MultiPref", "Argilla"])
def test_parquet_holds_what_json_does(name: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    records = ANSWERS[name][:1]
    path = tmp_path / "a[1].parquet"
    parquet.write_table(pa.Table.from_pylist(records), path)
    assert read_judgements(path) == read_judgements(written(tmp_path / "a.jsonl", records))
    path.write_bytes(b"no table")
    with pytest.raises(InputError, match="not a Parquet file that can be read"):
        read_judgements(path)


def test_winners_are_on_their_sides(tmp_path: Path) -> None:
    votes = read_judgements(written(tmp_path / "a.jsonl", ANSWERS["Chatbot Arena"])).pairs
    assert [winner for *_, winner in votes] == ["left", "right", "tie"]
    likings = read_judgements(written(tmp_path / "b.jsonl", ANSWERS["AlpacaEval"]))
    assert [winner for *_, winner in likings.pairs] == ["left", "right", "tie"]
    assert likings.skipped == {"no preference": 1}


def test_a_broken_record_is_named(tmp_path: Path) -> None:
    broken = [*ANSWERS["HelpSteer2"], {"prompt": "Why?"}]
    with pytest.raises(InputError, match=r"record 3 .*correctness.*response"):
        read_judgements(written(tmp_path / "a.jsonl", broken))
    with pytest.raises(InputError, match="not as UltraFeedback writes it"):
        read_judgements(written(tmp_path / "b.jsonl", [{"instruction": "", "completions": [3]}]))


def test_odd_names_words_and_commas(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Frage;Model;Annotator;Score\nWhy?;one;ann;gut\nWhy?;two;ann;3,5\n")
    with pytest.raises(InputError, match=r'--scale "gut=4"'):
        read_judgements(path)
    made = read_judgements(path, {"prompt_id": "Frage"}, parse_scale("gut=5, schlecht=1"))
    assert made.ratings == [("Why?", "one", "ann", 5.0, "one"), ("Why?", "two", "ann", 3.5, "two")]


def test_columns_of_raters(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("prompt,answer,Ann,Bob,remark\nWhy?,one,4,2,fine\nWhy?,two,,1,\n")
    assert [row[2:4] for row in read_judgements(path).ratings] == [
        ("Ann", 4.0),
        ("Bob", 2.0),
        ("Bob", 1.0),
    ]


def test_spreadsheet(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Question", "Model", "Rater", "Stars"], ["Why?", "one", "ann", 4]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_judgements(tmp_path / "a.xlsx").ratings == [("Why?", "one", "ann", 4.0, "one")]
    (tmp_path / "b.xlsx").write_bytes(b"no book")
    with pytest.raises(InputError, match="spreadsheet"):
        read_judgements(tmp_path / "b.xlsx")


@pytest.mark.parametrize("text", ["bad", "bad=", "=1", "a=1,b"])
def test_scale_must_be_pairs(text: str) -> None:
    with pytest.raises(InputError, match="is not a word and a number"):
        parse_scale(text)


def test_a_column_of_any_name_is_the_rating_where_candidates_come_again(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    rows = "q1;a;ann;4\nq1;a;ben;2\nq1;b;ann;5\nq1;b;ben;1\n"
    path.write_text("Question;Model;Who;Verdict\n" + rows, encoding="utf-8")
    found = read_judgements(path)
    assert found.format == "a table"
    assert [each[2:4] for each in found.ratings] == [
        ("ann", 4.0), ("ben", 2.0), ("ann", 5.0), ("ben", 1.0),
    ]  # fmt: skip
    path.write_text("Question;Model;Verdict\nq1;a;4\nq1;a;2\n", encoding="utf-8")
    with pytest.raises(InputError, match="several rows, and no column looks like a rater"):
        read_judgements(path)
    path.write_text("Question;Model;One;Two\nq1;a;4;1\nq1;a;2;1\n", encoding="utf-8")
    with pytest.raises(InputError, match="--column rating=One"):
        read_judgements(path)


def test_datasets_of_hugging_face(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    made = datasets.Dataset.from_list(ANSWERS["UltraFeedback"])
    made.save_to_disk(tmp_path / "one")
    assert read_judgements(tmp_path / "one").format == "UltraFeedback"
    with pytest.raises(TableError, match=r"a dataset of Hugging Face; .* darc import"):
        read_ratings(tmp_path / "one")
    table = datasets.Dataset.from_list([{"prompt": "Why?", "model": "one", "rater": 1, "score": 3}])
    datasets.DatasetDict({"train": table, "test": table}).save_to_disk(tmp_path / "two")
    assert [row[:4] for row in read_judgements(tmp_path / "two").ratings] == [
        ("Why?", "one", "1", 3.0)
    ] * 2
    assert len(read_judgements(tmp_path / "two", split="test").ratings) == 1
    with pytest.raises(UnknownName, match="did you mean 'test'"):
        read_judgements(tmp_path / "two", split="tests")
    (tmp_path / "three" / "data").mkdir(parents=True)
    made.to_parquet(str(tmp_path / "three" / "data" / "train-00000-of-00001.parquet"))
    assert read_judgements(tmp_path / "three").texts["1", "one"] == ("Why?", "one says")
    (tmp_path / "four").mkdir()
    with pytest.raises(InputError, match="dataset that can be read"):
        read_judgements(tmp_path / "four")
    hub = {"owner/name": made}
    monkeypatch.setattr(datasets, "load_dataset", lambda name, **_: hub[name])
    assert read_judgements(Path("hf:owner/name")).format == "UltraFeedback"
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"needs the 'datasets' extra; .*\[datasets\]"):
        read_judgements(tmp_path / "one")
