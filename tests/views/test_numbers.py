import pytest

from darc.views.numbers import number_text


@pytest.mark.parametrize(
    ("number", "span", "text"),
    [
        (6.375, 10.0, "6.4"),
        (0.5, 1.0, "0.50"),
        (0.012, 10.0, "0.01"),
        (0.012, 0.1, "0.012"),
        (-3.25, 10.0, "-3.2"),
        (2_500_000.0, 1e7, "2.5e+06"),
    ],
)
def test_a_number_has_the_digits_that_a_reader_needs(number: float, span: float, text: str) -> None:
    assert number_text(number, span) == text
