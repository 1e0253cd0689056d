"""DPO and its robust forms on preferences with flipped labels, a tiny model, three seeds.

    python -m benchmarks.robust_dpo

needs the extra `train`. Answers with vowels are better than those without; 30 % of the labels to
learn from are the wrong way, those to judge by are right.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from tests.checkpoints import causal
from tests.train.policies import TINY, preferences

from darc.train.dpo import Trained, train
from darc.train.losses import Loss
from darc.views.text_table import text_table

FLIPPED = 0.3
SEEDS = (0, 1, 2)
PAIRS = 48
JUDGES = 64
STEPS = 96
FORMS = ("dpo", "cdpo", "sup", "unbiased")


def outcome(form: str, seed: int, flipped: float = FLIPPED) -> Trained:
    """One training run of 8 passes over 48 pairs, measured on 64 other, clean pairs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recipe = TINY.changed(
            model=causal(folder / "model", seed=seed),
            steps=STEPS,
            epochs=99.0,
            every=999,
            seed=seed,
        )
        rows = preferences(PAIRS, 10 + seed, flipped)
        return train(
            rows, preferences(JUDGES, 1000 + seed), recipe, Loss(form, FLIPPED), folder / "out"
        )


def main() -> None:
    print(f"{PAIRS} pairs, {FLIPPED:.0%} flipped, {STEPS} steps; measured on {JUDGES} clean pairs")
    rows: list[list[object]] = []
    for form in FORMS:
        measurements = []
        for seed in SEEDS:
            after = outcome(form, seed).after
            assert after is not None
            measurements.append(after)
            print(f"{form}, seed {seed}: {after}", file=sys.stderr)
        cells: list[object] = [form]
        for name in ("accuracy", "margin"):
            numbers = [measurement[name] for measurement in measurements]
            cells += [f"{number:.3f}" for number in numbers]
            cells.append(f"{np.mean(numbers):.3f}")
        rows.append(cells)
    seeds = [f"seed {seed}" for seed in SEEDS]
    head = ["", *(f"acc. {s}" for s in seeds), "mean", *(f"margin {s}" for s in seeds), "mean"]
    print(text_table(head, rows))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
