import pytest

from darc.views.dots import Dot, make_strip


def test_equal_values_and_values_off_the_scale_have_a_place() -> None:
    strip = make_strip([Dot(3.0), Dot(3.0)])
    assert strip.position(3.0) == pytest.approx(0.5)
    wide = make_strip([Dot(7.0)], (1.0, 5.0), limit=9.0, limit_label="unhappy below 9")
    assert (wide.low, wide.high) == (1.0, 7.0)
    assert wide.limit is None
    assert wide.limit_label == ""
