import pytest

from darc.errors import TableError
from darc.ratings.columns import find_schema, guess_layout
from darc.ratings.database import Database
from darc.ratings.loading import load_rows
from darc.ratings.raw_rows import RawRows


def cells(**columns: list[str]) -> RawRows:
    """Rows with these columns."""
    rows = zip(*columns.values(), strict=True)
    return load_rows(Database(), [dict(zip(columns, row, strict=True)) for row in rows])


@pytest.mark.parametrize(
    ("names", "layout"),
    [
        ("prompt_id candidate_id rater_id rating", "tidy"),
        ("prompt_id candidate_id rating", "tidy"),
        ("prompt candidate_id r1 r2", "tidy"),
        ("prompt_id candidate_id r1 r2", "wide"),
        ("prompt_id left_id right_id rater_id winner", "pairwise"),
        ("prompt_id left right rater_id winner", "pairwise"),
    ],
)
def test_the_header_decides_the_layout(names: str, layout: str) -> None:
    assert guess_layout(set(names.split())) == layout


def test_columns_of_a_wide_table() -> None:
    frame = cells(prompt_id=["q"], candidate_id=["a"], ann=["1"], model=["big"], bob=[""])
    schema = find_schema(frame, "auto", {}, None)
    assert (schema.layout, schema.raters, schema.extras) == ("wide", ("ann", "bob"), ("model",))
    assert find_schema(frame, "auto", {}, ["bob"]).extras == ("ann", "model")


def test_given_raters_make_a_table_wide_whatever_they_are_called() -> None:
    frame = cells(prompt_id=["q"], candidate_id=["a"], rating=["1"])
    assert find_schema(frame, "auto", {}, ["rating"]).layout == "wide"


def test_a_renamed_column_shadows_one_of_its_name() -> None:
    frame = cells(prompt_id=["1"], id=["q"], candidate_id=["a"], rater_id=["r"], rating=["1"])
    schema = find_schema(frame, "auto", {"prompt_id": "id"}, None)
    assert schema.columns["prompt_id"] == "id"
    assert schema.extras == ()


def test_a_renamed_optional_column_must_be_there() -> None:
    frame = cells(prompt_id=["1"], candidate_id=["a"], rater_id=["r"], rating=["1"], model=["m"])
    assert find_schema(frame, "tidy", {"scorer_id": "model"}, None).columns["scorer_id"] == "model"
    with pytest.raises(TableError, match="'models'"):
        find_schema(frame, "tidy", {"scorer_id": "models"}, None)


def test_a_long_header_is_cut_in_the_message() -> None:
    frame = cells(**{f"column_{i}": ["1"] for i in range(50)})
    with pytest.raises(TableError, match="and 30 more"):
        find_schema(frame, "tidy", {}, None)
