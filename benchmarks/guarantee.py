"""How often the promises of `darc tune --risk` hold, from simulated ratings to simulated readers.

Each calibration draws prompts, tunes as the command does (the calibration of `auto` is learnt from
the same ratings) and decides on new prompts. An answer's true risk is known, so the risk of the
answers shown is exact.

    python -m benchmarks.guarantee [--calibrations 1000]
"""

import argparse
import math
from dataclasses import dataclass

import numpy as np

from darc.analysis.tune.risk import tune_risk
from darc.decide.evidence.promise import PromiseKind
from darc.decide.method import Method
from darc.ratings.ratings import Ratings

CANDIDATES = 6
RATERS = 4
LIMIT = 3.0
SCALE = (1.0, 5.0)
LEVEL = 0.1
# The standard deviations of prompts, of answers within a prompt and of ratings of an answer.
PROMPT_DEVIATION = 0.6
ANSWER_DEVIATION = 0.5
RATING_DEVIATION = 0.9
NEW_PROMPTS = 1500
# How many prompts each promise is tuned on.
SIZES: dict[PromiseKind, int] = {"batch": 100, "overall": 100, "shown": 400}


@dataclass(frozen=True)
class World:
    """Ratings, and the probability that a reader finds an answer bad."""

    ratings: Ratings
    risk: np.ndarray


def draw_world(prompts: int, raters: int, centre: float, seed: int) -> World:
    """Draw ratings on a scale from 1 to 5, which are rounded and clipped."""
    generator = np.random.default_rng(seed)
    level = generator.normal(centre, PROMPT_DEVIATION, (prompts, 1))
    mean = level + generator.normal(0, ANSWER_DEVIATION, (prompts, CANDIDATES))
    noise = generator.normal(0, RATING_DEVIATION, (prompts, CANDIDATES, raters))
    samples = np.clip(np.round(mean[..., None] + noise), *SCALE)
    # Rounded, a rating is below 3 where it is below 2.5.
    below = (LIMIT - 0.5 - mean) / RATING_DEVIATION / math.sqrt(2)
    risk = 0.5 * (1 + np.vectorize(math.erf)(below))
    codes = np.broadcast_to(np.arange(raters), (prompts, 1, CANDIDATES, raters))
    ratings = Ratings(
        name="simulated",
        kind="rater",
        prompt_ids=[f"prompt {place}" for place in range(prompts)],
        candidate_ids=[[f"answer {place}" for place in range(CANDIDATES)]] * prompts,
        scorers=[""],
        samples=samples[:, None],
        raters=codes.copy(),
        rater_names=[f"rater {place}" for place in range(raters)],
        lengths=np.full((prompts, CANDIDATES), np.nan),
    )
    return World(ratings, risk)


@dataclass(frozen=True)
class Kept:
    """What became of a promise in one calibration."""

    #: The share of new prompts whose answer is shown.
    shown: float
    #: The mean risk of the answers shown, 0 where there is none.
    risk_if_shown: float


def measure(kind: PromiseKind, prompts: int, centre: float, seed: int, one_by_one: bool) -> Kept:
    """Tune on drawn prompts and decide on new ones, whose raters are one fewer."""
    world = draw_world(prompts, RATERS, centre, 2 * seed)
    tuning = tune_risk(world.ratings, f"rating < {LIMIT:g}", LEVEL, kind, seed=seed)
    if tuning.promise is None:
        return Kept(0.0, 0.0)
    new = draw_world(NEW_PROMPTS, RATERS - 1, centre, 2 * seed + 1)
    method = Method.parse("auto", calibrations=tuning.calibrations)
    decisions = method.decide_batch(new.ratings.sample_batch())
    is_shown = ~decisions.flags["below_promise"]
    if one_by_one:
        from darc.decide.evidence.winner import winner_score

        score = winner_score(decisions.pools, decisions.choice, decisions.rule)
        is_shown = score >= tuning.promise.threshold
    risk = new.risk[np.arange(NEW_PROMPTS), decisions.index]
    if not is_shown.any():
        return Kept(0.0, 0.0)
    return Kept(float(is_shown.mean()), float(risk[is_shown].mean()))


def report(kind: PromiseKind, prompts: int, centre: float, count: int, one_by_one: bool) -> str:
    """One line: mean risk with its standard error, how often it exceeds the level, coverage."""
    results = [measure(kind, prompts, centre, seed, one_by_one) for seed in range(count)]
    shown = np.array([result.shown for result in results])
    risk = np.array([result.risk_if_shown for result in results])
    if kind == "overall":
        risk = risk * shown
    error = float(risk.std() / math.sqrt(count))
    exceeded = float((risk > LEVEL).mean())
    how: str = kind
    if one_by_one:
        how += " (one prompt at a time)"
    return (
        f"{how:32}  {prompts:4} prompts, centre {centre:.1f}: mean risk {risk.mean():.4f} "
        f"+- {error:.4f}, above {LEVEL:g} in {exceeded:.1%} of {count}, shown {shown.mean():.2f}"
    )


def main() -> None:
    """Print a line per promise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calibrations", type=int, default=1000)
    count = parser.parse_args().calibrations
    for centre in (3.0, 3.6):
        for kind, prompts in SIZES.items():
            print(report(kind, prompts, centre, count, False), flush=True)
        print(report("batch", 100, centre, count, True), flush=True)


if __name__ == "__main__":
    main()
