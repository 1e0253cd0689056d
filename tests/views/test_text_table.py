import math

from darc.views.text_table import display_width, text_table


def test_columns_are_aligned() -> None:
    table = text_table(
        ["name", "n", "x"], [["a", 1, 0.5], ["longer", 12, math.nan], ["c", 3, None]]
    )
    assert table.splitlines() == [
        "name     n      x",
        "------  --  -----",
        "a        1  0.500",
        "longer  12      -",
        "c        3      -",
    ]


def test_long_and_wide_and_strange_text() -> None:
    assert text_table(["t"], [["x" * 60]]).splitlines()[2] == "x" * 39 + "…"
    assert display_width("日本") == 4
    assert text_table(["t", "u"], [["日本", "a"], ["abcd", "b"]]).splitlines()[2] == "日本  a"
    assert "\x1b" not in text_table(["t"], [["red \x1b[31m"]])


def test_no_rows() -> None:
    assert text_table(["a", "b"], []).splitlines() == ["a  b", "-  -"]
