"""What auto and the paper's rules gain or lose on held-out ratings beside Best-of-K.

`python -m benchmarks.rules FOLDER` reads every file of ratings there. Every rule has its strengths
as they come; half of the raters selects, the other half judges.
"""

import argparse
import time
from pathlib import Path

from benchmarks.report import Table
from darc.evaluation.evaluate import evaluate
from darc.evaluation.reading import read_any
from darc.evaluation.study import Settings

RULES = ("auto", "entropic", "epsilon", "tau", "penalty", "lcb", "cvar")
MEASURES = {"mean": "mean", "tradeoff": "mean - 2 sigma", "cvar_10": "CVaR 10 %"}


def tables(paths: list[Path], settings: Settings) -> list[Table]:
    """Changes against Best-of-K by set and rule, and how many of them are beyond noise."""
    changes: list[list[object]] = []
    counts = {rule: {name: [0, 0] for name in MEASURES} for rule in RULES}
    for path in paths:
        source = read_any(path)
        human = evaluate([source], settings, ablations=False).frame("human")
        assert human is not None
        for row in human.where(subset="overall").records():
            if row["method"] not in RULES:
                continue
            cells = []
            for name in MEASURES:
                delta, low, high = (row[f"{part}_{name}"] for part in ("delta", "low", "high"))
                if not all(isinstance(each, float) for each in (delta, low, high)):
                    cells.append("not known")
                    continue
                won, lost = low > 1e-9, high < -1e-9  # type: ignore[operator]
                counts[str(row["method"])][name][0] += won
                counts[str(row["method"])][name][1] += lost
                cells.append(
                    f"{delta:+.3f}{'*' if won or lost else ''} ({low:+.3f} to {high:+.3f})"
                )
            changes.append([source.name, row["method"], *cells])
    rows: list[list[object]] = [
        [rule, *(f"{won} won, {lost} lost" for won, lost in counts[rule].values())]
        for rule in RULES
    ]
    star = "* the 95 % interval of paired resamples of the prompts excludes 0"
    return [
        Table("change against Best-of-K", ["set", "rule", *MEASURES.values()], changes, star),
        Table(
            f"sets won and lost beyond noise, of {len(paths)}", ["rule", *MEASURES.values()], rows
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    started = time.perf_counter()
    paths = sorted(p for p in given.folder.iterdir() if ".csv" in p.suffixes)
    for table in tables(paths, Settings(rules=RULES)):
        print(table.text())
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
