"""What judgements of answers add to few ratings: text features on real files, simulated judges.

On files, each prompt's raters stand in a random order: the first n rate to choose, and the others
judge what was chosen by `auto` with the ids of raters and systems, with and without judgements.
With n = 1, a second rater rates a random tenth of the prompts. Gains are in standard deviations of
the ratings within a candidate, with 95 % intervals over prompts.

    python -m benchmarks.judges ratings.csv.gz ... [--splits 10] [--worlds 100]
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import darc
from benchmarks.groups import interval
from benchmarks.report import Table
from darc.decide.evidence.judged_learning import learn_with_judges
from darc.decide.ids import system_ids
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers

COUNTS = (1, 2, 4)
# With one rating per answer, a second one for this share of the prompts.
TWICE = 0.1
# Simulated: ratings with noise 1, and the noise of one rating over the variance of answers.
RATIO = 3.0
CORRELATIONS = (0.3, 0.5, 0.7, 0.85)
WORLD = (200, 8)
WORLD_RATINGS = 2


@dataclass(frozen=True, eq=False)
class Draw:
    """Which ratings of a file choose and which judge, candidates in a random order."""

    #: The ratings that choose, (P, K, n).
    samples: Array
    raters: Integers
    systems: Integers
    #: The mean of the other ratings, (P, K), NaN where there is none.
    judged: Array
    #: The order of the candidates, (P, K), for judgements.
    order: Integers


def draw(ratings: Ratings, count: int, seed: int) -> Draw:
    """Divide the ratings of each prompt by its raters."""
    generator = np.random.default_rng([seed, count])
    samples = ratings.samples[:, 0]
    raters = ratings.raters[:, 0]
    prompts, candidates, _ = samples.shape
    place = generator.permuted(np.tile(np.arange(len(ratings.rater_names)), (prompts, 1)), axis=1)
    key = np.take_along_axis(place, np.maximum(raters, 0).reshape(prompts, -1), axis=1)
    key = np.where(np.isnan(samples), np.inf, key.reshape(samples.shape))
    rank = np.argsort(np.argsort(key, axis=2), axis=2)
    wanted = np.full(prompts, count)
    if count == 1:
        wanted += generator.random(prompts) < TWICE
    chooses = ~np.isnan(samples) & (rank < wanted[:, None, None])
    judges = ~np.isnan(samples) & ~chooses
    total = np.where(judges, samples, 0.0).sum(axis=2)
    judged = np.where(judges.any(axis=2), total / np.maximum(judges.sum(axis=2), 1), np.nan)
    order = np.argsort(generator.random((prompts, candidates)), axis=1)
    rows = np.arange(prompts)[:, None]
    systems = np.full((prompts, candidates), -1)
    if ratings.systems:
        systems = system_ids(ratings.systems, candidates).codes
    return Draw(
        samples=np.where(chooses, samples, np.nan)[rows, order],
        raters=np.where(chooses, raters, NOBODY)[rows, order],
        systems=systems[rows, order],
        judged=judged[rows, order],
        order=order,
    )


def deviation_within(ratings: Ratings) -> float:
    """The standard deviation of ratings within a candidate."""
    samples = ratings.samples[:, 0]
    rated_twice = (~np.isnan(samples)).sum(axis=2) > 1
    return float(np.sqrt(np.mean(np.nanvar(samples[rated_twice], axis=1, ddof=1))))


def judged_gain(ratings: Ratings, judgements: Mapping[str, Array], count: int, seed: int) -> Array:
    """What judgements gain over `auto` with ids on the other raters, (P,), NaN if unknown."""
    drawn = draw(ratings, count, seed)
    ids: dict[str, Any] = {"rater_ids": drawn.raters, "system_ids": drawn.systems}
    rows = np.arange(len(drawn.order))[:, None]
    shuffled = {name: array[rows, drawn.order] for name, array in judgements.items()}
    without = darc.select_batch(drawn.samples, "auto", **ids)
    with_judge = darc.select_batch(drawn.samples, "auto", covariates=shuffled, **ids)
    place = rows[:, 0]
    return np.asarray(drawn.judged[place, with_judge.index] - drawn.judged[place, without.index])


def mean_gain(
    ratings: Ratings, judgements: Mapping[str, Array], count: int, splits: int
) -> str | None:
    """The mean gain over splits with its interval over prompts; None with too few raters."""
    samples = ratings.samples[:, 0]
    per_candidate = (~np.isnan(samples)).sum(axis=2)
    if not np.median(per_candidate[per_candidate > 0]) > count:
        return None
    rows = [judged_gain(ratings, judgements, count, seed) for seed in range(splits)]
    known = ~np.isnan(rows)
    total = np.nansum(rows, axis=0) / np.maximum(known.sum(axis=0), 1)
    gains = np.where(known.any(axis=0), total, np.nan) / deviation_within(ratings)
    mean, low, high = interval(gains)
    star = "*" if low > 0 or high < 0 else ""
    # Adding 0 turns -0.0 into 0.0.
    numbers = [f"{value + 0.0:+.3f}" for value in np.round([mean, low, high], 3)]
    return f"{numbers[0]}{star} [{numbers[1]}, {numbers[2]}]"


def bad_judges(ratings: Ratings, seed: int = 0) -> dict[str, Array]:
    """Judges that know nothing, (P, K) by what is wrong with them."""
    generator = np.random.default_rng(seed)
    prompts, _, candidates, _ = ratings.shape
    shape = (prompts, candidates)
    favourite = np.zeros(shape)
    if ratings.systems:
        codes = system_ids(ratings.systems, candidates).codes
        favourite = np.where(codes == 0, 1.0, 0.0)
    return {
        "noise": generator.normal(size=shape),
        "constant": np.full(shape, 3.0),
        "missing": np.full(shape, np.nan),
        "favours one system": favourite,
    }


def file_tables(ratings: Ratings, texts: Mapping[str, Array], splits: int) -> list[list[object]]:
    """The rows of one file: text features at each n, and bad judges at n = 2."""
    name = f"{ratings.name} ({ratings.shape[0]} x {ratings.shape[2]})"
    cells = [mean_gain(ratings, texts, count, splits) or "-" for count in COUNTS]
    rows: list[list[object]] = [[name, "text features", *cells]]
    for kind, judgement in bad_judges(ratings).items():
        cell = mean_gain(ratings, {kind: judgement}, 2, splits) or "-"
        rows.append([name, kind, "", cell, ""])
    return rows


def simulated_world(correlation: float, seed: int) -> tuple[Array, Array, Array]:
    """Ratings (P, K, n) with noise 1, the true means (P, K) and a judge's grades (P, K)."""
    generator = np.random.default_rng([seed, round(100 * correlation)])
    deviation = 1 / np.sqrt(RATIO)
    truth = generator.normal(0, deviation, WORLD)
    noise = generator.normal(size=(*WORLD, WORLD_RATINGS))
    own = generator.normal(0, deviation, WORLD)
    judge = correlation * truth + np.sqrt(1 - correlation**2) * own
    return truth[..., None] + noise, truth, judge


def simulated_row(
    name: str,
    correlation: float,
    worlds: int,
    bend: Callable[[Array], Array] = lambda grades: grades,
) -> list[object]:
    """A row of simulated judges: their worth, what is estimated, and what they gain."""
    expected = RATIO * correlation**2 / (1 - correlation**2)
    estimates = []
    gains = []
    covered = 0
    for seed in range(worlds):
        ratings, truth, judge = simulated_world(correlation, seed)
        learnt = learn_with_judges(ratings, {"judge": bend(judge)}).calibration.judges
        assert learnt is not None
        assert learnt.worth is not None
        estimate, low, high = learnt.worth
        estimates.append(estimate)
        covered += low <= expected <= high
        with_judge = darc.select_batch(ratings, covariates=bend(judge)).index
        without = darc.select_batch(ratings).index
        rows = np.arange(len(truth))
        gains.append(float((truth[rows, with_judge] - truth[rows, without]).mean()))
    mean, low, high = interval(np.array(gains))
    tenth, middle, nine_tenths = np.quantile(estimates, [0.1, 0.5, 0.9])
    return [
        name,
        f"{expected:.1f}",
        f"{middle:.1f} [{tenth:.1f}, {nine_tenths:.1f}]",
        f"{covered / worlds:.2f}",
        f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]",
    ]


def simulated_table(worlds: int) -> Table:
    """Judges of known worth."""
    rows = [simulated_row(f"r = {r:g}", r, worlds) for r in CORRELATIONS]
    rows.append(simulated_row("r = 0.7, reversed", 0.7, worlds, np.negative))
    header = ["judge", "worth in raters", "estimated, 10 to 90 %", "interval holds it", "gain"]
    title = (
        f"simulated judges: {worlds} files of {WORLD[0]} prompts, {WORLD[1]} answers, "
        f"{WORLD_RATINGS} ratings each, noise {RATIO:g} times the variance of answers"
    )
    return Table(title, header, rows, "gain in true means over `auto`; the interval says 90 %")


def text_judgements(path: Path, ratings: Ratings) -> dict[str, Array]:
    """The features of the texts beside a file of ratings."""
    from darc.analysis.judge_sources import TEXTS, load_judges

    return load_judges([TEXTS], path).matched(ratings)


def main() -> None:
    """Print the tables of the files that are named, and that of simulated judges."""
    from darc.analysis.reading import load_ratings

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--worlds", type=int, default=100)
    arguments = parser.parse_args()
    rows: list[list[object]] = []
    for path in arguments.files:
        ratings = load_ratings(path)
        rows += file_tables(ratings, text_judgements(path, ratings), arguments.splits)
    if rows:
        title = f"gain of judgements over auto with ids, {arguments.splits} splits"
        header = ["file (prompts x answers)", "judge", *(f"n = {count}" for count in COUNTS)]
        print(Table(title, header, rows, "*: the 95 % interval excludes 0").text(), flush=True)
    if arguments.worlds:
        print(simulated_table(arguments.worlds).text())


if __name__ == "__main__":
    main()
