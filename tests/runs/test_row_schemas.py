from dataclasses import fields
from typing import Any

import pytest
from pydantic import BaseModel

from darc.runs import row_schemas
from darc.runs.row_schemas import RowError, check_row
from darc.types import Candidate, Message, Rejection, Variant


@pytest.mark.parametrize(
    ("record", "schema"),
    [
        (Message, row_schemas._MessageRow),
        (Candidate, row_schemas._CandidateRow),
        (Variant, row_schemas._VariantRow),
        (Rejection, row_schemas._RejectionRow),
    ],
)
def test_records_and_rows_have_the_same_fields(record: Any, schema: type[BaseModel]) -> None:
    names = [field.name for field in fields(record) if field.name != "prompt_id"]
    assert list(schema.model_fields) == names


@pytest.mark.parametrize(
    ("file_name", "row", "words"),
    [
        ("prompts.jsonl", 3, "not a JSON object"),
        ("prompts.jsonl", {"prompt_id": "p", "category": ""}, "messages is missing"),
        ("prompts.jsonl", {"prompt_id": "p", "category": "", "messages": []}, "messages is empty"),
        (
            "candidates.jsonl",
            {"prompt_id": "p", "candidates": [{"index": 1, "text": "a"}]},
            "not numbered",
        ),
        (
            "candidates.jsonl",
            {"prompt_id": "p", "candidates": [{"index": 0, "text": "a", "name": None}]},
            r"candidates\[0\].name cannot be None",
        ),
        (
            "scores.jsonl",
            {"prompt_id": "p", "scorers": ["a", "b"], "scores": [[[1.0]]]},
            "scores is of 1 scorers",
        ),
        (
            "scores.jsonl",
            {"prompt_id": "p", "scorers": ["a"], "scores": [[1.0]]},
            "scores is not a table of numbers",
        ),
        ("side.jsonl", {"prompt_id": "p", "tokens": ["a"]}, "tokens"),
    ],
)
def test_a_row_of_another_form_is_refused_by_its_field(
    file_name: str, row: Any, words: str
) -> None:
    with pytest.raises(RowError, match=words):
        check_row(file_name, row)
