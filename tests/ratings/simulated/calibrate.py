"""Prints what the preset `paper` attains over seeds: `python -m tests.ratings.simulated.calibrate`.

Everything is computed with scipy and plain numpy, apart from what `darc simulate --experiment
disagreement` uses. The last lines ask whether the paper's numbers go together: ratings in whole
points, and a baseline sigma of 0.67.
"""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.stats import kendalltau, spearmanr

from darc.ratings.simulated import Preset, preset, proxy_scores, simulate

PROMPTS = 4000


@cache
def attained(given: Preset, seed: int) -> dict[str, float]:
    """Quantiles of the largest variance, and the proxy's sigma against people's, by Best-of-K."""
    people = simulate(replace(given.people, prompts=PROMPTS), seed)
    scores = proxy_scores(people, given.proxy).samples[:, 0]
    sigma = np.round(people.ratings.std(axis=2, ddof=1), 9)
    largest = sigma.max(axis=1) ** 2
    rows = np.arange(PROMPTS)
    base = scores.mean(axis=2).argmax(axis=1)
    guess = scores.std(axis=2, ddof=1)[rows, base]
    human = sigma[rows, base]
    return {
        "mean": float(largest.mean()),
        "q80": float(np.quantile(largest, 0.8)),
        "q90": float(np.quantile(largest, 0.9)),
        "spearman": float(spearmanr(guess, human)[0]),
        "kendall": float(kendalltau(guess, human)[0]),
        "sigma": float(human.mean()),
    }


def main() -> None:
    """Print the preset at five seeds, then its variants."""
    paper = preset("paper")
    variants = {
        "whole points": paper.changed({"step": 1}),
        "sigma 0.67 everywhere": paper.changed(
            {"noise": 0.71, "uneven_prompts": 0, "uneven": 0, "df": np.inf, "leaning": 0}
            | {"polarising": 0, "severity": 0}
        ),
        "one rater, one mood": paper.changed({"leaning": 1, "uneven": 0, "noise": 0.45}),
    }
    print(f"{'':24}", *(f"{name:>9}" for name in attained(paper, 0)))
    for seed in range(5):
        print(f"{f'paper, seed {seed}':24}", *(f"{x:9.3f}" for x in attained(paper, seed).values()))
    for name, given in variants.items():
        print(f"{name:24}", *(f"{x:9.3f}" for x in attained(given, 0).values()))


if __name__ == "__main__":
    main()
