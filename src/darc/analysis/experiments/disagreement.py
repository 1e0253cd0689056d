"""The experiment `disagreement`: how much simulated people disagree, and whether a proxy tells."""

import numpy as np

from darc.analysis.experiments.findings import (
    Chart,
    Curve,
    Findings,
    Progress,
    chosen_values,
    ignore_progress,
    mean_and_half_width,
)
from darc.analysis.ranks import jaccard, spearman
from darc.decide.select import select_batch
from darc.decide.statistics import risk
from darc.errors import InputError
from darc.ratings.simulated import Preset, proxy_scores, simulate
from darc.typing import Array

# What the paper reports, as the lowest and the highest number.
PAPER = {
    "mean of the largest variance": (0.65, 0.74),
    "its 80 % quantile": (0.84, 0.98),
    "its 90 % quantile": (1.32, 1.65),
    "Spearman of proxy and human sigma": (0.65, 0.65),
    "Jaccard of the top 20 %": (0.47, 0.47),
    "human sigma of Best-of-K": (0.67, 0.67),
    "human mean of Best-of-K": (7.56, 7.56),
}
# Into how many parts prompts are divided by the proxy's sigma.
PARTS = 10


def disagreement(preset: Preset, seed: int = 0, *, report: Progress = ignore_progress) -> Findings:
    """Measure the disagreement in the raw pool, and how well a proxy predicts it.

    The largest variance (ddof = 1) over a prompt's candidates is measured, a candidate with a
    single rating counting as 0; and, as the paper does it, the proxy's sigma against people's sigma
    on the candidate that Best-of-K takes by the proxy. One prompt is one point. Only the last two
    rows use the truth, so all others have sigma's sampling noise.

    Args:
        preset: What the people and the proxy are like.
        seed: The seed of all draws.
        report: Told of progress.

    Returns:
        The measures beside those of the paper.

    Raises:
        InputError: If there is no sigma to measure.
    """
    if preset.people.raters < 2 or preset.proxy.rewrites < 1:
        raise InputError(
            "there is no sigma to measure", "give at least two raters and proxy.rewrites=1"
        )
    people = simulate(preset.people, seed)
    proxy = proxy_scores(people, preset.proxy)
    report(1, 2)
    # Rounded, so that equal sigmas tie.
    sigma = np.round(risk.sigma(people.ratings), 9)
    largest = np.nan_to_num(sigma).max(axis=1) ** 2
    best_of_k = select_batch(proxy.samples, "mean").index
    proxy_sigma = chosen_values(risk.sigma(proxy.samples[:, 0]), best_of_k)
    human_sigma = chosen_values(sigma, best_of_k)
    true_sigma = chosen_values(people.truth.sigma, best_of_k)
    has_both = ~np.isnan(human_sigma) & ~np.isnan(proxy_sigma)
    proxy_sigma = proxy_sigma[has_both]
    human_sigma = human_sigma[has_both]
    true_sigma = true_sigma[has_both]
    human_mean = chosen_values(risk.mean(people.ratings), best_of_k)
    measures = {
        "mean of the largest variance": float(largest.mean()),
        "its 80 % quantile": float(np.quantile(largest, 0.8)),
        "its 90 % quantile": float(np.quantile(largest, 0.9)),
        "Spearman of proxy and human sigma": float(spearman(proxy_sigma, human_sigma)),
        "Jaccard of the top 20 %": jaccard(proxy_sigma, human_sigma),
        "human sigma of Best-of-K": mean_and_half_width(human_sigma)[0],
        "human mean of Best-of-K": float(np.mean(human_mean)),
        "true sigma of all candidates": float(np.mean(people.truth.sigma)),
        "Spearman of human and true sigma": float(spearman(human_sigma, true_sigma)),
    }
    report(2, 2)
    rows = []
    table = []
    for name, value in measures.items():
        low, high = PAPER.get(name, (None, None))
        rows.append({"measure": name, "value": value, "paper_low": low, "paper_high": high})
        table.append([name, value, _range_text(low, high)])
    charts = [_variance_chart(largest), _proxy_chart(proxy_sigma, human_sigma)]
    return Findings(rows, ["", "here", "paper"], table, (), charts)


def _range_text(low: float | None, high: float | None) -> str:
    if low is None:
        return ""
    if low == high:
        return f"{low:g}"
    return f"{low:g} to {high:g}"


def _variance_chart(largest: Array) -> Chart:
    """The quantiles of the largest variance over candidates beside those of the paper."""
    shares = [round(0.1 * tenth, 1) for tenth in range(1, 10)]
    ranges = [PAPER["its 80 % quantile"], PAPER["its 90 % quantile"]]
    curves = {
        "here": Curve(shares, np.quantile(largest, shares).tolist()),
        "paper": Curve(
            [0.8, 0.9],
            [(high + low) / 2 for low, high in ranges],
            [(high - low) / 2 for low, high in ranges],
        ),
    }
    return Chart(
        "how much people disagree",
        "share of prompts below",
        "largest variance over candidates",
        curves,
    )


def _proxy_chart(proxy_sigma: Array, human_sigma: Array) -> Chart:
    """People's sigma in tenths of the prompts by the proxy's sigma."""
    by_proxy = human_sigma[np.argsort(proxy_sigma, kind="stable")]
    means = []
    half_widths = []
    for part in np.array_split(by_proxy, PARTS):
        if len(part):
            mean, half_width = mean_and_half_width(part)
            means.append(mean)
            half_widths.append(half_width)
    curve = Curve(range(1, len(means) + 1), means, half_widths)
    return Chart(
        "does the proxy tell?",
        "tenth of prompts by the proxy's sigma",
        "people's sigma",
        {"Best-of-K's choice": curve},
    )
