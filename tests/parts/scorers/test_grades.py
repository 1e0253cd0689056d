import math

import pytest

from darc.parts.scorers.grades import (
    expected_grade,
    first_is_better,
    grade_in_text,
    grades_in_text,
)


def logs(**odds: float) -> dict[str, float]:
    return {token.strip("_"): math.log(p) for token, p in odds.items()}


@pytest.mark.parametrize(
    ("places", "grade"),
    [
        ([logs(_7=1.0)], 7.0),
        ([logs(_10=0.5, _9=0.5)], 9.5),
        ([logs(_10=0.5, _1=0.5)], 5.5),
        ([logs(_1=0.75, _9=0.25), logs(_0=0.5, end=0.5)], 0.375 * 10 + 0.375 + 0.25 * 9),
        ([logs(_1=1.0)], 1.0),
        ([logs(_9=0.75, _1=0.25)], 9.25),
        ([logs(_2=0.75, _1=0.25)], 1.75),
        ([logs(Grade=0.9, _3=0.1), logs(_4=0.9, x=0.1)], 4.0),
        ([logs(The=1.0)], None),
        ([logs(_42=1.0)], None),
        ([{"▁6": 0.0}], 6.0),
        ([], None),
    ],
)
def test_expected_grade(places: list[dict[str, float]], grade: float | None) -> None:
    found = expected_grade(places)
    assert found == (None if grade is None else pytest.approx(grade))


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("7", 7.0),
        ("10", 10.0),
        ("**8**/10", 8.0),
        ("I give it 7.5 of 10.", 7.5),
        ("9.", 9.0),
        ("10.0", 10.0),
        ("<think>maybe 3 or 4</think>\n5", 5.0),
        ("<think>maybe 3", None),
        ("85", None),
        ("-3", None),
        ("11", None),
        ("good", None),
    ],
)
def test_grade_in_a_text(text: str, grade: float | None) -> None:
    assert grade_in_text(text) == grade


def test_letters() -> None:
    assert first_is_better([], "Answer: B.") == 0.0
    assert first_is_better([], "An apple") is None
    assert first_is_better([logs(A=0.2, _B=0.6)], "B") == pytest.approx(0.25)
    assert first_is_better([logs(x=1.0)], "A") == 1.0


@pytest.mark.parametrize(
    ("text", "grades"),
    [
        ("a: 7\nb c: 10", (7.0, 10.0)),
        (" a : 7.5 \n\nb c:0\n", (7.5, 0.0)),
        ('{"b c": 1, "a": 2}', (2.0, 1.0)),
        ("<think>a: 1\nb c: 1</think>a: 2\nb c: 3", (2.0, 3.0)),
        ("a: 7\nb c: 11", None),
        ("a: -1\nb c: 1", None),
        ("a: 7/10\nb c: 1", None),
        ('```json\n{"a": 2, "b c": 1}\n```', None),
        ('{"a": NaN, "b c": 1}', None),
        ("[7, 8]", None),
        ("7 8", None),
        ("", None),
    ],
)
def test_grades_by_criteria(text: str, grades: tuple[float, ...] | None) -> None:
    assert grades_in_text(text, ("a", "b c")) == grades
