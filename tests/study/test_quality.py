import itertools
import math

import krippendorff
import numpy as np
import pytest

from darc.study.quality import Row, agreement, care, disagreement, tail
from darc.study.schema import outcome_of, passed
from darc.study.settings import QualitySettings


def record(kind: str = "item", answer: float | None = 5.0, **given: object) -> Row:
    base = {"reference": None, "tolerance": 1.0, "milliseconds": 9000, "second_id": ""}
    return {"kind": kind, "answer": answer, **base, **given}


def chosen(side: str, flipped: bool) -> Row:
    return record(answer=outcome_of(side, flipped), second_id="b", flipped=flipped)


def test_more_than_two_attention_failures_exclude() -> None:
    failed = record("attention", 4, reference=7.0, tolerance=0.0)
    assert care([failed] * 2, QualitySettings()).exclude == ""
    assert care([failed] * 3, QualitySettings()).exclude == "attention"


def test_gold_off_by_more_than_one_in_more_than_a_fifth_excludes() -> None:
    good = record("gold", 6, reference=7.0)
    bad = record("gold", 5, reference=7.0)
    assert passed(6, 7.0, 1.0)
    assert not passed(5, 7.0, 1.0)
    assert care([good] * 4 + [bad], QualitySettings()).exclude == ""
    assert care([good] * 3 + [bad], QualitySettings()).exclude == "gold"
    assert care([bad] * 3, QualitySettings()).exclude == ""


def test_without_automatic_exclusion_it_is_a_flag() -> None:
    failed = [record("attention", 4, reference=7.0, tolerance=0.0)] * 3
    assert care(failed, QualitySettings(automatic=False)).flags == ("attention checks",)
    gold = [record("gold", 6, reference=7.0)] * 3 + [record("gold", 1, reference=7.0)]
    assert care(gold, QualitySettings(automatic=False)).flags == ("gold checks",)


@pytest.mark.parametrize(
    ("records", "flags"),
    [
        ([record(answer=i % 11, milliseconds=900) for i in range(12)], ("too fast",)),
        ([record(answer=7) for _ in range(12)], ("near-constant",)),
        ([record(answer=i % 11) for i in range(12)], ()),
        ([record(answer=i % 11, milliseconds=500) for i in range(3)], ("too fast",)),
        ([record(answer=i % 11, milliseconds=500) for i in range(2)], ()),
        ([record(answer=i, milliseconds=(500, 9000)[i > 0]) for i in range(3)], ()),
        ([record(answer=7) for _ in range(6)], ("near-constant",)),
        ([record(answer=7) for _ in range(5)], ()),
        ([record(answer=(7, 8)[i > 3]) for i in range(6)], ()),
        ([chosen("right", i % 2 == 1) for i in range(6)], ("near-constant",)),
        ([record(answer=None)] * 3 + [record(answer=i) for i in range(2)], ("skips most",)),
        ([record(answer=None)] * 3 + [record(answer=i) for i in range(3)], ()),
        ([chosen("left", i % 2 == 1) for i in range(12)], ("near-constant",)),
        ([chosen(("left", "right")[i % 2], False) for i in range(12)], ()),
    ],
)
def test_flags_for_review(records: list[Row], flags: tuple[str, ...]) -> None:
    assert care(records, QualitySettings()).flags == flags


def test_careless_people_are_flagged_in_a_small_study() -> None:
    """Two raters who failed every check and gave the same answer at 1.6 s an item had no flag."""
    careless = [record(answer=8, milliseconds=1600)] * 6
    failed = record("attention", 8, reference=3.0, tolerance=0.0, milliseconds=1600)
    for checks in (1, 2):
        found = care([*careless, *[failed] * checks], QualitySettings())
        assert found.flags == ("too fast", "near-constant", "attention checks")
        assert found.exclude == ""


def test_one_failure_among_many_checks_is_no_flag() -> None:
    failed = record("attention", 8, reference=3.0, tolerance=0.0)
    passed = record("attention", 3, reference=3.0, tolerance=0.0)
    assert care([failed, passed], QualitySettings()).flags == ()
    assert care([failed, failed, passed], QualitySettings()).flags == ("attention checks",)
    assert care([failed, *[passed] * 20], QualitySettings()).flags == ()


def test_the_tail_is_the_binomials() -> None:
    from scipy.stats import binom

    for of, rate in ((1, 0.05), (7, 0.2), (40, 0.5), (2000, 0.05)):
        for count in (0, 1, of // 3, of):
            assert tail(count, of, rate) == pytest.approx(binom.sf(count - 1, of, rate), abs=1e-12)
    assert (tail(1, 3, 0.0), tail(1, 3, 1.0)) == (0.0, 1.0)


def test_calibration_far_off_is_flagged() -> None:
    bad = [record("calibration", 0, reference=9.0)] * 3
    assert care(bad, QualitySettings()).flags == ("calibration",)


def ratings(table: list[list[float]], bad: set[int] = frozenset()) -> list[Row]:  # type: ignore[assignment]
    places = itertools.product(range(len(table)), range(len(table[0])))
    return [
        {"annotator_id": r, "unit_id": u, "answer": table[u][r], "valid": r not in bad}
        for u, r in places
    ]


def test_alpha_is_that_of_all_and_of_valid_ratings() -> None:
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 11, 30)
    good = [np.clip(truth + draw.integers(-1, 2, 30), 0, 10) for _ in range(3)]
    table = np.array([*good, draw.integers(0, 11, 30)], dtype=float)
    before, after = agreement(ratings(table.T.tolist(), {3}), pairwise=False)
    measured = {"level_of_measurement": "interval"}
    assert before.alpha == pytest.approx(krippendorff.alpha(table, **measured))
    assert after.alpha == pytest.approx(krippendorff.alpha(table[:3], **measured))
    assert before.alpha < after.alpha
    assert before.low < before.alpha < before.high
    assert (before.ratings, after.ratings) == (120, 90)


def test_pairs_are_nominal() -> None:
    rows: list[list[float]] = [[0, 0, 1], [1, 1, 1], [0.5, 0.5, 0.5]] * 2
    before, _ = agreement(ratings(rows), pairwise=True)
    table = np.array(rows, dtype=float).T
    expected = krippendorff.alpha(table, level_of_measurement="nominal")
    assert before.alpha == pytest.approx(expected)


def test_nothing_to_compare_is_nan() -> None:
    before, after = agreement([], pairwise=False)
    assert math.isnan(before.alpha)
    assert math.isnan(after.high)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[9, 1], [2, 8]], "not yet (2 of 5 items rated twice)"),
        ([[5, 5]] * 6, "undefined: all ratings are the same"),
        ([[i, i] for i in range(6)], "1.00"),
    ],
)
def test_alpha_is_told_without_nonsense(table: list[list[float]], words: str) -> None:
    before, _ = agreement(ratings(table), pairwise=False)
    assert before.words == words


def test_disagreement_by_item() -> None:
    found = disagreement(ratings([[9, 1, 6, 5, 4], [7, 7, 8, 8, 7]]), pairwise=False)
    assert found == {0: pytest.approx(2.915, abs=1e-3), 1: pytest.approx(0.548, abs=1e-3)}
    assert disagreement(ratings([[0, 0, 1, 0]]), pairwise=True) == {0: 0.25}
