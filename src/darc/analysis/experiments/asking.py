"""The experiment `asking`: how many ratings are saved by asking for those that are worth most."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.analysis.asking_replay import (
    Replayed,
    ReplayPools,
    ask_alike,
    ask_in_waves,
    ask_one_by_one,
    simulated_pools,
    split_raters,
)
from darc.analysis.experiments.findings import (
    Chart,
    Findings,
    Progress,
    Rows,
    curves_by,
    ignore_progress,
    mean_and_half_width,
)
from darc.decide.evidence.asking import DEFAULT_PRICE
from darc.decide.statistics import risk
from darc.ratings.ratings import Ratings
from darc.ratings.simulated import Preset, simulate
from darc.typing import Array

ALIKE = "same number of each"
IN_WAVES = "in waves"
IN_WAVES_AT_PRICE = "in waves, at a price"
ONE_BY_ONE = "one prompt at a time"
BUDGETS = (1.5, 2.0, 3.0)
PRICES = (0.02, DEFAULT_PRICE, 0.001)
# How often the raters of a file are divided into those who choose and those who judge.
SPLITS = 20
RESAMPLES = 1000
INTERVAL = (2.5, 97.5)
HEADER = ["asking", "budget", "price", "ratings", "gain", "as good as", "saved", "low", "high"]


@dataclass(frozen=True, eq=False)
class _Trial:
    """A way of asking, and what it came to for each prompt, averaged over the splits."""

    asking: str
    #: The most ratings per candidate, NaN without a limit.
    budget: float
    #: What a rating must be worth, NaN where nothing has a price.
    price: float
    #: What the choices are worth over the average answer, (P,).
    gain: Array
    #: How many ratings were asked for, (P,).
    asked: Array


def asking(
    preset: Preset,
    seed: int = 0,
    *,
    ratings: Ratings | None = None,
    report: Progress = ignore_progress,
) -> Findings:
    """Replay asking for ratings one after the other, beside the same number for every answer.

    Of a file, a random five eighths of each prompt's raters are asked, and the others judge the
    choices. Of simulated people all are asked, and the truth judges. What is saved is at equal
    quality: of how many ratings of each answer the same gain would have taken.

    Args:
        preset: What simulated people are like.
        seed: The seed of all draws.
        ratings: People's ratings, in place of simulated ones.
        report: Told of progress.

    Returns:
        One row per way of asking, with the 95 % bootstrap interval over prompts of what it saves.

    Raises:
        InputError: If the file has too few ratings of each answer.
    """
    if ratings is None:
        people = simulate(preset.people, seed)
        pools = [simulated_pools(people)]
        report(1, 2)
    else:
        pools = []
        for split in range(SPLITS):
            pools.append(split_raters(ratings, seed + split))
            report(split, 2 * SPLITS)
    unit = float(np.sqrt(np.nanmean(risk.sigma(pools[0].ratings) ** 2)))
    most = min(pool.most for pool in pools)
    trials = [_average(way, pools, unit, seed) for way in _ways(most)]
    candidates = np.mean([pool.is_candidate.sum(axis=1) for pool in pools], axis=0)
    rows = _rows(trials, candidates, np.random.default_rng(seed))
    table = [_table_row(row) for row in rows]
    report(2, 2)
    return Findings(rows, HEADER, table, _notes(rows), [_chart(rows)])


@dataclass(frozen=True)
class _Way:
    """A way of asking."""

    asking: str
    budget: float = math.nan
    price: float = math.nan

    def run(self, pools: ReplayPools, seed: int) -> Replayed:
        """Ask in this way."""
        if self.asking == ALIKE:
            return ask_alike(pools, int(self.budget))
        if self.asking == ONE_BY_ONE:
            return ask_one_by_one(pools, self.price)
        return ask_in_waves(pools, self.budget, self.price, seed)


def _ways(most: int) -> list[_Way]:
    """The ways of asking that are compared; the same number of each comes first."""
    budgets = [budget for budget in BUDGETS if budget < most]
    ways = [_Way(ALIKE, count) for count in range(1, most + 1)]
    ways += [_Way(IN_WAVES, budget, 0.0) for budget in budgets]
    ways += [_Way(IN_WAVES_AT_PRICE, budget, DEFAULT_PRICE) for budget in budgets]
    ways += [_Way(ONE_BY_ONE, price=price) for price in PRICES]
    return ways


def _average(way: _Way, pools: Sequence[ReplayPools], unit: float, seed: int) -> _Trial:
    """What a way of asking comes to, averaged over the splits."""
    gains = []
    asked = []
    for split, pool in enumerate(pools):
        replayed = way.run(pool, seed + split)
        gains.append(pool.gain(replayed.choice) / unit)
        asked.append(replayed.asked)
    return _Trial(way.asking, way.budget, way.price, np.mean(gains, axis=0), np.mean(asked, axis=0))


def _rows(trials: Sequence[_Trial], candidates: Array, generator: np.random.Generator) -> Rows:
    prompts = len(candidates)
    # How often each prompt is drawn in each resample.
    weights = generator.multinomial(prompts, np.full(prompts, 1 / prompts), RESAMPLES)
    alike = np.stack([trial.gain for trial in trials if trial.asking == ALIKE])
    curve = alike.mean(axis=1)
    curves = alike @ weights.T / prompts
    rows: Rows = []
    for trial in trials:
        gain, half = mean_and_half_width(trial.gain)
        ratings = float(trial.asked.sum() / candidates.sum())
        row: dict[str, Any] = {
            "asking": trial.asking,
            "budget": _number_or_none(trial.budget),
            "price": _number_or_none(trial.price),
            "ratings": ratings,
            "gain": gain,
            "half": half,
            "as_good_as": None,
            "at_the_most": None,
            "saved": None,
            "low": None,
            "high": None,
        }
        if trial.asking != ALIKE:
            needed, is_most = ratings_needed(curve, gain)
            resampled_gain = weights @ trial.gain / prompts
            resampled_ratings = (weights @ trial.asked) / (weights @ candidates)
            saved = []
            for place in range(RESAMPLES):
                equal, _ = ratings_needed(curves[:, place], resampled_gain[place])
                saved.append(1 - resampled_ratings[place] / equal)
            low, high = np.percentile(saved, INTERVAL)
            row |= {
                "as_good_as": needed,
                "at_the_most": is_most,
                "saved": 1 - ratings / needed,
                "low": float(low),
                "high": float(high),
            }
        rows.append(row)
    return rows


def ratings_needed(curve: Array, gain: float) -> tuple[float, bool]:
    """How many ratings of each answer it takes to gain as much, interpolated.

    Args:
        curve: The gain with 1, 2, ... ratings of each answer.
        gain: The gain to reach.

    Returns:
        The number, and whether the gain is beyond the largest of the curve, so that it takes at
        least the number that has reached that.
    """
    rising = np.concatenate([[0.0], np.maximum.accumulate(curve)])
    if gain > rising[-1]:
        return float(np.searchsorted(rising, rising[-1])), True
    place = max(1, int(np.searchsorted(rising, gain)))
    below = rising[place - 1]
    above = rising[place]
    if above <= below:
        return float(place), False
    return float(place - 1 + np.clip((gain - below) / (above - below), 0.0, 1.0)), False


def _number_or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def _table_row(row: Mapping[str, Any]) -> list[object]:
    budget = "" if row["budget"] is None else f"{row['budget']:g}"
    price = "" if row["price"] is None else f"{row['price']:g}"
    cells: list[object] = [row["asking"], budget, price, f"{row['ratings']:.2f}", row["gain"]]
    if row["saved"] is None:
        return [*cells, "", "", "", ""]
    at_least = ">= " if row["at_the_most"] else ""
    percents = [f"{row[name]:.0%}" for name in ("saved", "low", "high")]
    return [*cells, f"{at_least}{row['as_good_as']:.1f} each", *percents]


def _notes(rows: Rows) -> list[str]:
    """What asking two ratings of each answer saves, and what one prompt at a time does."""
    notes = ["gain: over the prompt's average answer, in standard deviations of one rating"]
    for row in rows:
        is_two = row["asking"] == IN_WAVES and row["budget"] == 2
        is_usual = row["asking"] == ONE_BY_ONE and row["price"] == DEFAULT_PRICE
        if is_two or is_usual:
            notes.append(
                f"{row['asking']}: {row['ratings']:.2f} ratings per answer choose as well as "
                f"{row['as_good_as']:.1f} of each: {row['saved']:.0%} saved "
                f"({row['low']:.0%} to {row['high']:.0%})"
            )
    return notes


def _chart(rows: Rows) -> Chart:
    """The gain by the number of ratings."""
    return Chart(
        "asking for the ratings that are worth most",
        "ratings per answer",
        "gain over the average answer",
        curves_by(rows, "asking", "ratings", "gain", "half"),
    )
