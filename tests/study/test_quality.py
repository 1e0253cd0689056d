import pytest

from darc.study.config import Quality
from darc.study.quality import Record, care


def record(kind: str = "item", answer: float = 5.0, **given: object) -> Record:
    base = {"reference": None, "tolerance": 1.0, "milliseconds": 9000, "side": None}
    return Record(kind, answer, **{**base, **given})  # type: ignore[arg-type]


def test_more_than_two_attention_failures_exclude() -> None:
    failed = record("attention", 4, reference=7.0, tolerance=0.0)
    assert care([failed] * 2, Quality()).exclude == ""
    assert care([failed] * 3, Quality()).exclude == "attention"


def test_gold_off_by_more_than_one_in_more_than_a_fifth_excludes() -> None:
    good, bad = record("gold", 6, reference=7.0), record("gold", 5, reference=7.0)
    assert good.passed
    assert not bad.passed
    assert care([good] * 4 + [bad], Quality()).exclude == ""
    assert care([good] * 3 + [bad], Quality()).exclude == "gold"
    assert care([bad] * 3, Quality()).exclude == ""


def test_without_automatic_exclusion_it_is_a_flag() -> None:
    failed = [record("attention", 4, reference=7.0, tolerance=0.0)] * 3
    assert "attention" in care(failed, Quality(automatic=False)).flags


@pytest.mark.parametrize(
    ("records", "flags"),
    [
        ([record(answer=i % 11, milliseconds=900) for i in range(12)], ("too fast",)),
        ([record(answer=7) for _ in range(12)], ("near-constant",)),
        ([record(answer=i % 11) for i in range(12)], ()),
        ([record(answer=7, milliseconds=500) for _ in range(9)], ()),
        ([record(answer=i % 2, side=-1) for i in range(12)], ("near-constant",)),
        ([record(answer=i % 2, side=(-1, 1)[i % 2]) for i in range(12)], ()),
    ],
)
def test_flags_for_review(records: list[Record], flags: tuple[str, ...]) -> None:
    assert care(records, Quality()).flags == flags


def test_calibration_far_off_is_flagged() -> None:
    bad = [record("calibration", 0, reference=9.0)] * 3
    assert care(bad, Quality()).flags == ("calibration",)
