"""What choices for groups, slates and rater precision gain on files of ratings.

Half of the raters choose and the other half judge. A line per file has the gain over the mean of
all raters (or over the order of means) with a 95 % interval over prompts, in units of the
ratings' standard deviation.

    python -m benchmarks.groups votes.csv ratings.csv ... [--splits 20]
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from darc.decide.evidence.groups import group_means, group_posterior, learn_group_model
from darc.decide.ids import Ids
from darc.decide.model.learning import learn
from darc.decide.slate import fill_slate
from darc.ratings.ratings import Halves, Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers

SLATE = 2
# Degrees of freedom with which a rater's variance is drawn towards that of all raters.
PRIOR_DF = 20.0


def codes_of(ratings: Ratings, names: tuple[str, ...]) -> Integers:
    """The group of each sample of the first scorer, (P, K, n)."""
    place = {name: number for number, name in enumerate(names)}
    by_rater = [place.get(ratings.groups.get(name, ""), -1) for name in ratings.rater_names]
    return np.array([*by_rater, -1])[ratings.raters[:, 0]]


def plain_means(samples: Array) -> Array:
    """The means of candidates (P, K), minus infinity where there is no rating."""
    count = (~np.isnan(samples)).sum(axis=2)
    total = np.where(np.isnan(samples), 0.0, samples).sum(axis=2)
    return np.where(count > 0, total / np.maximum(count, 1), -np.inf)


def group_gains(halves: Halves) -> dict[str, Array]:
    """What groups gain when choices are for them, by the other half, (P,) by what is compared."""
    names = tuple(sorted(set(halves.select.groups.values())))
    select = halves.select.samples[:, 0]
    codes = codes_of(halves.select, names)
    model = learn_group_model(select, codes, names)
    if model is None:
        return {}
    posterior = group_posterior(select, codes, names, model)
    judged, count = group_means(
        halves.judge.samples[:, 0], codes_of(halves.judge, names), len(names)
    )
    judged = np.where(count > 0, judged, np.nan)
    rows = np.arange(len(select))
    rated = plain_means(select) > -np.inf
    usual = plain_means(select).argmax(axis=1)
    raw, raw_count = group_means(select, codes, len(names))
    takes_part = posterior.takes_part
    for_group: list[Array] = []
    for_group_raw: list[Array] = []
    for group in range(len(names)):
        base = judged[rows, usual, group]
        shrunken = np.where(rated, posterior.mean[..., group], -np.inf).argmax(axis=1)
        plain = np.where(raw_count[..., group] > 0, raw[..., group], -np.inf).argmax(axis=1)
        for chosen, gains in ((shrunken, for_group), (plain, for_group_raw)):
            gain = judged[rows, chosen, group] - base
            gains.append(np.where(takes_part[:, group], gain, np.nan))
    worst = np.where(rated, posterior.worst(), -np.inf).argmax(axis=1)
    both = ~np.isnan(judged[rows, worst] + judged[rows, usual])
    lowest = [np.where(both, judged[rows, choice], np.nan) for choice in (worst, usual)]
    return {
        f"for each group, shrunken (v/tau2 {min(model.ratio, 99):.2g})": mean_of(for_group),
        "for each group, raw": mean_of(for_group_raw),
        "worst group": np.fmin.reduce(lowest[0], axis=1) - np.fmin.reduce(lowest[1], axis=1),
    }


def mean_of(rows: list[Array]) -> Array:
    """The mean of known gains, (P,), NaN where none is known."""
    stacked = np.stack(rows)
    count = (~np.isnan(stacked)).sum(axis=0)
    total = np.nansum(stacked, axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def slate_gain(halves: Halves) -> dict[str, Array]:
    """The gain of a slate of two over the two largest means: the judges' better one, (P,)."""
    select = halves.select
    judge = halves.judge
    gains = np.full(len(select.samples), np.nan)
    for prompt in np.flatnonzero(halves.usable).tolist():
        ratings = by_rater(select, prompt)
        verdicts = by_rater(judge, prompt)
        rated = np.flatnonzero(~np.isnan(ratings).all(axis=1))
        if len(rated) <= SLATE:
            continue
        ratings = ratings[rated]
        verdicts = verdicts[rated]
        order = np.argsort(-np.nanmean(ratings, axis=1), kind="stable")
        slate = fill_slate(ratings, int(order[0]), SLATE)
        complete = ~np.isnan(verdicts[[*slate, *order[:SLATE]]]).any(axis=0)
        if complete.any():
            better = verdicts[slate][:, complete].max(axis=0)
            usual = verdicts[order[:SLATE]][:, complete].max(axis=0)
            gains[prompt] = float((better - usual).mean())
    return {"slate of two": gains}


def by_rater(ratings: Ratings, prompt: int) -> Array:
    """The ratings of one prompt, (K, raters), NaN where there is none."""
    codes = ratings.raters[prompt, 0]
    present = np.unique(codes[codes != NOBODY])
    table = np.full((len(codes), len(present)), np.nan)
    for place, rater in enumerate(present):
        is_own = codes == rater
        has_own = is_own.any(axis=1)
        table[has_own, place] = np.where(is_own, ratings.samples[prompt, 0], 0.0).sum(axis=1)[
            has_own
        ]
        table[has_own, place] /= is_own.sum(axis=1)[has_own]
    return table


def precision_gain(halves: Halves) -> dict[str, Array]:
    """The gain when careless raters count less, over severity-corrected means, (P,)."""
    select = halves.select
    samples = select.samples[:, 0]
    raters = select.raters[:, 0]
    severity = learn(samples, Ids(raters, tuple(select.rater_names)), None).raters
    offsets = np.array([*(severity.get(name, 0.0) for name in select.rater_names), 0.0])
    fair = samples - offsets[raters]
    weights = precision_weights(fair, raters, len(select.rater_names))
    is_known = ~np.isnan(fair)
    weight = np.where(is_known, np.append(weights, 0.0)[raters], 0.0)
    total = weight.sum(axis=2)
    weighted = np.where(is_known, weight * np.nan_to_num(fair), 0.0).sum(axis=2)
    means = np.where(total > 0, weighted / np.maximum(total, 1e-12), -np.inf)
    judged = plain_means(halves.judge.samples[:, 0])
    rows = np.arange(len(samples))
    gain = judged[rows, means.argmax(axis=1)] - judged[rows, plain_means(fair).argmax(axis=1)]
    return {"rater precision": np.where(halves.usable & np.isfinite(gain), gain, np.nan)}


def precision_weights(ratings: Array, raters: Integers, count: int) -> Array:
    """The inverse variance of each rater around the others' mean, shrunk, (raters,)."""
    is_known = ~np.isnan(ratings)
    number = is_known.sum(axis=2, keepdims=True)
    total = np.where(is_known, ratings, 0.0).sum(axis=2, keepdims=True)
    others = (total - ratings) / np.maximum(number - 1, 1)
    # The mean of the others has noise of its own.
    noise = 1 + 1 / np.maximum(number - 1, 1)
    squares = np.where(is_known & (number > 1), (ratings - others) ** 2 / noise, 0.0)
    df = np.bincount(raters[is_known & (number > 1)], minlength=count)
    own = np.bincount(raters[is_known], weights=squares[is_known], minlength=count)
    overall = own.sum() / max(int(df.sum()), 1)
    return np.asarray(overall * (df + PRIOR_DF) / np.maximum(own + PRIOR_DF * overall, 1e-12))


def interval(gains: Array, seed: int = 0) -> tuple[float, float, float]:
    """The mean of gains by prompt, NaN left out, with its 95 % bootstrap interval."""
    known = gains[~np.isnan(gains)]
    draws = np.random.default_rng(seed).integers(0, len(known), (2000, len(known)))
    low, high = np.quantile(known[draws].mean(axis=1), [0.025, 0.975])
    return float(known.mean()), float(low), float(high)


def report(ratings: Ratings, splits: int) -> None:
    """Print a line per comparison of one file."""
    scale = float(np.nanstd(ratings.samples))
    parts: list[Callable[[Halves], dict[str, Array]]] = [slate_gain, precision_gain]
    if len(set(ratings.groups.values())) > 1:
        parts.insert(0, group_gains)
    for part in parts:
        by_name: dict[str, list[Array]] = {}
        for split in range(splits):
            halves = ratings.halves(ratings.split_unit("auto"), split)
            for name, gains in part(halves).items():
                by_name.setdefault(name.partition(" (")[0], []).append(gains)
        for name, rows in by_name.items():
            if np.isnan(mean_of(rows)).all():
                continue
            mean, low, high = interval(mean_of(rows) / scale)
            star = "*" if low > 0 or high < 0 else " "
            print(f"{ratings.name:12} {name:26} {mean:+.3f}{star} [{low:+.3f}, {high:+.3f}]")


def main() -> None:
    """Print the gains on the files that are named."""
    from darc.analysis.reading import load_ratings

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--splits", type=int, default=20)
    arguments = parser.parse_args()
    for path in arguments.files:
        report(load_ratings(path), arguments.splits)


if __name__ == "__main__":
    main()
