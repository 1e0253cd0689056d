import re

from darc.views.strip import RADIUS, StripRow, strip


def test_every_sample_is_a_mark_of_its_own() -> None:
    rows = [StripRow("selects", [1.0, 5.0, 5.0]), StripRow("judges", [2.0, 2.0], hollow=True)]
    svg = strip(rows, 1.0, 5.0, "samples")
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)
    squares = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', svg)
    assert len(set(dots)) == 3
    assert len(set(squares)) == 2
    assert dots[1][0] == dots[2][0]
    assert abs(float(dots[1][1]) - float(dots[2][1])) >= 2 * RADIUS - 1


def test_text_is_escaped_and_equal_samples_have_a_place() -> None:
    svg = strip([StripRow("<b>", [3.0, 3.0])], 3.0, 3.0, '"x"')
    assert "<b>" not in svg
    assert "&quot;x&quot;" in svg
    assert svg.count("<circle") == 2


def test_many_equal_samples_stay_low() -> None:
    svg = strip([StripRow("", [1.0] * 40)], 0.0, 2.0, "")
    found = re.search(r'height="(\d+)"', svg)
    assert found is not None
    assert int(found.group(1)) < 80
