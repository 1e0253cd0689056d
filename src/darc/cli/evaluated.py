"""An evaluation on a terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.evaluation.contest import Contest
    from darc.evaluation.evaluate import Evaluation
    from darc.evaluation.frame import Frame


def print_evaluation(result: "Evaluation", said: Sequence[str], folder: Path | None = None) -> None:
    """Print what the data say, the numbers behind it, where the rest is, and the warnings."""
    print("\n".join(said), end="\n\n")
    main, human = result.frame("main"), result.frame("human")
    if main is not None and human is not None:
        print(human.note)
        for contest in result.contests:
            for subset in contest.subsets:
                wanted = {"source": contest.source.name, "subset": subset}
                print()
                _print_subset(contest, subset, main.where(**wanted), human.where(**wanted))
        print()
    if folder is not None:
        print(f"the report is {folder / 'report.html'}")
        print(f"tables in {folder}: {', '.join(frame.name for frame in result.frames)}")
    for sentence in _merged(result.warnings):
        print(f"warning: {sentence}")


def _merged(warnings: Sequence[str]) -> list[str]:
    """The warnings, with all rules of a source that were not run in one of them."""
    merged: dict[str, list[str]] = {}
    for sentence in warnings:
        rule, found, reason = sentence.partition(" was not run: ")
        source, _, label = rule.rpartition(": ")
        if found:
            merged.setdefault(f"{source}: not run: ", []).append(f"{label} ({reason})")
        else:
            merged[sentence] = []
    return [start + ", ".join(rest) for start, rest in merged.items()]


def _print_subset(contest: "Contest", subset: str, main: "Frame", human: "Frame") -> None:
    tail = contest.settings.tail_name
    rows: list[list[object]] = []
    same = [
        name
        for a, name in enumerate(contest.methods)
        if a and (contest.choice[:, a] == contest.choice[:, 0]).all()
    ]
    for numbers, changes in zip(main.records(), human.records(), strict=True):
        if numbers["method"] in same:
            continue
        rows.append(
            [
                numbers["method"],
                *(_number(numbers[name]) for name in ("reward", "risk", "tradeoff")),
                _number(changes[tail]),
                _number(numbers["length"]),
                *(_change(changes, name) for name in ("mean", "tradeoff", tail)),
                "/".join(f"{numbers[name]:.0f}" for name in ("win", "tie", "loss")),
            ]
        )
    prompts = main.column("prompts")[0]
    print(f"{contest.source.name}, {subset}, {prompts:g} prompts")
    unit = contest.source.length_unit
    header = ["rule", "reward", "risk", "tradeoff", tail, unit]
    header += ["reward change", "tradeoff change", f"{tail} change", "win/tie/loss"]
    print(text_table(header, rows))
    if same:
        print(f"the same choices as Best-of-K: {', '.join(same)}")


def _change(record: dict[str, "str | float | int | None"], name: str) -> str:
    """A difference with its interval, starred where the interval excludes 0."""
    delta, low, high = (record[f"{part}_{name}"] for part in ("delta", "low", "high"))
    if not isinstance(delta, float):
        return "-"
    if not isinstance(low, float) or not isinstance(high, float):
        return f"{_rounded(delta):+.3f}"
    star = "*" if low > 0 or high < 0 else " "
    return f"{_rounded(delta):+.3f}{star}[{_rounded(low):+.3f}, {_rounded(high):+.3f}]"


def _number(cell: "str | float | int | None") -> "str | float | int | None":
    return _rounded(cell) if isinstance(cell, float) else cell


def _rounded(number: float) -> float:
    """The number without its last digits, which hang on the order of summation."""
    return round(number, 9) + 0.0
