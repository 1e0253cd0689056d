from typing import Any

import pytest

from darc.cli.run_summary import print_summary

TOTALS: dict[str, Any] = {
    "prompts": 3,
    "rule": "epsilon",
    "choices": {"value": 0.4, "mean": 0.5, "sigma": 0.1},
    "unhappy": None,
    "flags": {},
    "answers": 9,
    "saved": 0,
    "calls_saved": 0,
    "accepted": 0,
    "refused": {},
    "rewrites": [],
    "clipped": 0.0,
    "complete": True,
    "cost": {"generate": {"seconds": 3.0, "answers": 9}, "decide": {"seconds": 1.0}},
}


def printed(capsys: pytest.CaptureFixture[str], **changes: Any) -> str:
    print_summary({**TOTALS, **changes})
    return capsys.readouterr().out


def test_choices_and_the_cost_of_each_stage_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys).splitlines()
    assert "3 prompts by epsilon" in lines[0]
    assert "0.500" in lines[0]
    cells = {line.split()[0]: line.split() for line in lines if line}
    assert cells["generate"] == ["generate", "3.00", "75%", "9", "answers"]
    assert cells["decide"] == ["decide", "1.00", "25%"]


def test_rewrites_are_counted_with_the_reasons_of_refusals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "rewrites" not in printed(capsys)
    text = printed(capsys, accepted=3, refused={"meaning": 1})
    assert "3 accepted (75%), 1 refused (meaning 1)" in text


def test_rewrites_are_counted_by_family_and_rewriter(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"family": "style", "rewriter": "llm", "accepted": 3, "refused": {"length": 1}},
        {"family": "targeted", "rewriter": "llm", "accepted": 0, "refused": {"name": 2}},
    ]
    lines = printed(capsys, rewrites=rows).splitlines()
    assert "style rewrites by llm: 3 accepted (75%), 1 refused (length 1)" in lines
    assert "targeted rewrites by llm: 0 accepted (0%), 2 refused (name 2)" in lines


def test_flags_unhappy_raters_and_what_was_left_out_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, unhappy=0.25, flags={"held": 2}, saved=1, clipped=0.1, complete=False)
    assert "25.0%" in text
    assert "held: 2" in text
    assert "wrote 9 of 10 answers" in text
    assert "clipped: 10.0%" in text
    assert "left out" in text


def test_calls_to_raters_that_were_saved_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, flags={"likely": 3}, calls_saved=1234, complete=False)
    assert "saved: 1,234" in text
    assert "grades that would hardly matter" in text
