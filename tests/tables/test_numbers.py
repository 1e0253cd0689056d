import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from darc.tables.numbers import NotANumberError, Numbers, mostly_numbers, parse_numbers


@given(st.lists(st.floats(allow_nan=False)))
def test_numbers_are_read_exactly(values: list[float]) -> None:
    texts = [repr(value) for value in values]
    assert parse_numbers(texts).tolist() == values
    reader = Numbers(limit=3)
    for _ in range(3):
        assert reader.parse(texts).tolist() == values


def test_missing_numbers_are_nan() -> None:
    values = parse_numbers(["1", "", "NA", " Null ", "none", "NaN", "-2"])
    assert np.array_equal(values, [1, *[np.nan] * 5, -2], equal_nan=True)


@pytest.mark.parametrize("text", ["x", "1,5", "1_0", "0x1", "--1", "n/a", "true"])
def test_anything_else_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(NotANumberError) as caught:
        Numbers().parse(["1", "", text, "y"])
    assert (caught.value.position, caught.value.text) == (2, text)


def test_most_numbers_make_a_column_of_numbers() -> None:
    assert mostly_numbers(["1", "2", "oops", ""])
    assert mostly_numbers(["", "NA"])
    assert not mostly_numbers(["7b", "7", "13b"])
