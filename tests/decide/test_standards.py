import numpy as np
import pytest

from darc.decide.standards import Standards, likely_scale, parse_scale, scale_of
from darc.errors import InputError


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("1-5", (1.0, 5.0)),
        ("0,10", (0.0, 10.0)),
        ("-1 to 1", (-1.0, 1.0)),
        ("-72:0", (-72.0, 0.0)),
        ("-5--1", (-5.0, -1.0)),
        ("0..100", (0.0, 100.0)),
        ((0, 1), (0.0, 1.0)),
    ],
)
def test_scales_are_read(text: str, scale: tuple[float, float]) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize("text", ["5", "5-1", "1-1", "low-high", "", (1, 2, 3)])
def test_what_is_not_a_scale_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="scale"):
        parse_scale(text)


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (0.0, 1.0, (0, 1)),
        (-1.0, 1.0, (-1, 1)),
        (2.0, 5.0, (1, 5)),
        (1.0, 6.0, (1, 6)),
        (5.0, 9.0, (0, 10)),
        (12.0, 88.0, (0, 100)),
        (-72.0, 0.0, (-72, 0)),
        (500.0, 500.0, None),
    ],
)
def test_the_likely_scale_is_the_narrowest_common_one(
    low: float, high: float, scale: tuple[float, float] | None
) -> None:
    assert likely_scale(low, high) == scale


def test_the_scale_of_ratings() -> None:
    assert scale_of(np.array([[1.0, np.nan], [4.0, 2.0]])) == (1.0, 5.0)
    assert scale_of(np.full((2, 2), np.nan)) is None


def test_limits_are_the_middle_of_the_scale_unless_given() -> None:
    assert Standards().unhappy_below is None
    assert Standards((1, 5)).unhappy_below == Standards((1, 5)).poor_limit == 3.0
    assert Standards((1, 5), threshold=2.0).unhappy_below == 2.0
    assert Standards(poor_below=4.0).poor_limit == 4.0
    with pytest.raises(InputError, match="lower end first"):
        Standards((5, 1))
    with pytest.raises(InputError, match="threshold"):
        Standards(threshold=float("nan"))
