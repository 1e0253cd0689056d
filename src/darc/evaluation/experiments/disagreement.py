"""What simulated people are like, beside what the paper reports of its raters."""

import numpy as np

from darc.api import select_batch
from darc.core import risk
from darc.errors import InputError
from darc.evaluation.experiments.ranks import jaccard, spearman
from darc.evaluation.experiments.result import Line, Panel, Report, Result, average, of, silent
from darc.simulate import Preset, proxy_scores, simulate
from darc.typing import Array

PAPER = {
    "mean of the largest variance": (0.65, 0.74),
    "its 80 % quantile": (0.84, 0.98),
    "its 90 % quantile": (1.32, 1.65),
    "Spearman of proxy and human sigma": (0.65, 0.65),
    "Jaccard of the top 20 %": (0.47, 0.47),
    "human sigma of Best-of-K": (0.67, 0.67),
    "human mean of Best-of-K": (7.56, 7.56),
}


def disagreement(preset: Preset, seed: int = 0, *, report: Report = silent) -> Result:
    """Raw-pool disagreement and proxy validity of a preset.

    The largest variance (ddof = 1) over a prompt's candidates, one with a single rating counting as
    0; and, as the paper measures it, the proxy's sigma against people's sigma on the candidate that
    Best-of-K takes by the proxy. One prompt is one point; no truth is used but in the last two
    rows, so sigma's sampling noise is in all others.
    """
    if preset.people.raters < 2 or preset.proxy.rewrites < 1:
        raise InputError(
            "there is no sigma to measure", "give at least two raters and proxy.rewrites=1"
        )
    people = simulate(preset.people, seed)
    proxy = proxy_scores(people, preset.proxy)
    report(1, 2)
    sigma = np.round(risk.sigma(people.ratings), 9)  # equal ones must tie
    largest = np.nan_to_num(sigma).max(axis=1) ** 2
    base = select_batch(proxy.samples, "mean").index
    guess = of(risk.sigma(proxy.samples[:, 0]), base)
    human, known = of(sigma, base), ~np.isnan(of(sigma, base)) & ~np.isnan(guess)
    found = {
        "mean of the largest variance": float(largest.mean()),
        "its 80 % quantile": float(np.quantile(largest, 0.8)),
        "its 90 % quantile": float(np.quantile(largest, 0.9)),
        "Spearman of proxy and human sigma": spearman(guess[known], human[known]),
        "Jaccard of the top 20 %": jaccard(guess[known], human[known]),
        "human sigma of Best-of-K": average(human[known])[0],
        "human mean of Best-of-K": float(np.mean(of(risk.mean(people.ratings), base))),
        "true sigma of all candidates": float(np.mean(people.truth.sigma)),
        "Spearman of human and true sigma": spearman(
            human[known], of(people.truth.sigma, base)[known]
        ),
    }
    report(2, 2)
    rows = []
    for name, value in found.items():
        low, high = PAPER.get(name, (None, None))
        rows.append({"measure": name, "value": value, "paper_low": low, "paper_high": high})
    table = [[name, value, _range(PAPER.get(name))] for name, value in found.items()]
    panels = [_variances(largest), _tenths(guess[known], human[known])]
    return Result("disagreement", rows, ["", "here", "paper"], table, panels=panels)


def _variances(largest: Array) -> Panel:
    """The quantiles of the largest variance, and the two that the paper has."""
    shares = [round(0.1 * tenth, 1) for tenth in range(1, 10)]
    ranges = [PAPER["its 80 % quantile"], PAPER["its 90 % quantile"]]
    middle, half = ([(high + sign * low) / 2 for low, high in ranges] for sign in (1, -1))
    lines = [
        Line("here", shares, np.quantile(largest, shares).tolist()),
        Line("paper", [0.8, 0.9], middle, half),
    ]
    title = "how much people disagree"
    return Panel(title, "share of prompts below", "largest variance over candidates", lines)


def _tenths(guess: Array, human: Array) -> Panel:
    """People's sigma in each tenth of the prompts by the proxy's."""
    parts = np.array_split(human[np.argsort(guess, kind="stable")], 10)
    found = [average(part) for part in parts if len(part)]
    y, half = ([pair[place] for pair in found] for place in (0, 1))
    line = Line("Best-of-K's choice", list(range(1, len(found) + 1)), y, half)
    title = "does the proxy tell?"
    return Panel(title, "tenth of prompts by the proxy's sigma", "people's sigma", [line])


def _range(pair: tuple[float, float] | None) -> str:
    if pair is None:
        return ""
    return f"{pair[0]:g}" if pair[0] == pair[1] else f"{pair[0]:g} to {pair[1]:g}"
