"""`darc audit`."""

import json
from pathlib import Path
from typing import Any

import pytest

from darc.cli import main

COST = {"calls": 9, "tokens": 300, "seconds": 2.0}


def decision(number: int, **given: Any) -> dict[str, Any]:
    row = {"prompt_id": "p", "candidates": [], "answer": "a", "flags": []}
    return {**row, "request_id": f"r{number}", **given}


def models(chosen: str) -> dict[str, Any]:
    rows = {"large": (6, 90), "small": (2, 10)}
    return {
        name: {"candidates": count, "chosen": name == chosen, "calls": 1, "tokens": tokens}
        for name, (count, tokens) in rows.items()
    }


def shadow(ordinary: int, choice: int, fewer: int, more: int) -> dict[str, Any]:
    unhappy = {"raters": 8, "ordinary": ordinary, "choice": choice, "fewer": fewer, "more": more}
    return {
        "changed": True,
        "unhappy": unhappy,
        "cost": {"ordinary": {**COST, "calls": 1}, "choosing": COST, "comparing": COST},
    }


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def summary(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["audit", *words, "--json"]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_models_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write(tmp_path / "log.1", [decision(1, models=models("small"))])
    rows = [
        decision(2, models=models("large"), flags=["held"]),
        decision(3, models=models("small")),
        decision(4, models={"large": models("large")["large"]}),
    ]
    second = write(tmp_path / "log", rows)
    found = summary(capsys, first, second)
    assert (found["decisions"], found["held"]) == (4, 1)
    assert found["models"]["small"] == {
        "requests": 3, "candidates": 6, "chosen": 2, "calls": 3, "tokens": 30,
    }  # fmt: skip
    assert found["models"]["large"]["chosen"] == 1
    assert main(["audit", first, second]) == 0
    lines = capsys.readouterr().out.splitlines()
    (small,) = [line for line in lines if line.startswith("small")]
    assert "2 (67 %)" in small
    assert "6 (25 %)" in small


def test_shadows_are_summed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = {"changed": False, "unhappy": None, "cost": {"ordinary": COST, "choosing": COST}}
    rows = [
        decision(1, shadow=shadow(4, 1, 3, 0)),
        decision(2, shadow=shadow(2, 3, 1, 2)),
        decision(3, shadow=same),
        decision(4, shadow={**shadow(0, 0, 0, 0), "unhappy": None}),
    ]
    path = write(tmp_path / "log", rows)
    found = summary(capsys, path)["shadow"]
    assert (found["shadows"], found["changed"], found["raters"]) == (4, 3, 16)
    assert (found["unhappy_ordinary"], found["unhappy_choice"]) == (6, 4)
    assert (found["fewer"], found["more"]) == (4, 2)
    assert found["difference"] == pytest.approx((3 / 8 - 1 / 8 + 0) / 3)
    low, high = found["interval"]
    assert low < found["difference"] < high
    assert found["cost"]["choosing"] == {"shadows": 4, "calls": 36, "tokens": 1200, "seconds": 8}
    assert found["cost"]["comparing"]["shadows"] == 3
    assert main(["audit", path]) == 0
    told = capsys.readouterr().out
    assert "3 of them (75 %)" in told
    assert "6 of 16 raters" in told
    assert "9.0 calls, 300 tokens and 2.00 s" in told


def test_one_shadow_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "log", [decision(1, shadow=shadow(4, 1, 3, 0))])
    assert summary(capsys, path)["shadow"]["interval"] is None
    assert main(["audit", path]) == 0
    assert "falls by 37.5 points." in capsys.readouterr().out


@pytest.mark.parametrize(
    "row",
    [{"prompt_id": "p"}, [], decision(1, shadow={"changed": True}), decision(1, models=[1, 2])],
)
def test_other_lines_are_refused(
    row: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "log", [decision(0), row])
    assert main(["audit", path]) == 2
    assert "line 2" in capsys.readouterr().err


def test_a_log_without_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "log", [])
    assert main(["audit", path]) == 0
    assert capsys.readouterr().out.startswith("decisions: 0")
    assert main(["audit", str(tmp_path / "none")]) == 2
