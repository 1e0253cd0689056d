"""How often the certainty that is stated of a choice is right."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.coverage.rows import Row, Simulation, file_count
from darc.decide.evidence.adaptive import AdaptiveAsking, AskingModel
from darc.decide.evidence.how_sure import TOLERANCE
from darc.decide.evidence.posterior import RatingNoise, certainty
from darc.decide.model.learning import learn
from darc.decide.select import select_batch
from darc.typing import Array, Integers

FILES = 20
PROMPTS = 100
CANDIDATES = 8
RATINGS = 4
# Raters who may be asked one after the other.
RATERS = 12
# The deviation of answers, where that of one rating is 1.
QUALITY = 0.577
# The ends of the scale of five points, and its middle.
LOWEST = 1
HIGHEST = 5
MIDDLE = 3.0
# How many ratings of an answer its true mean is from.
MANY = 4000
# What is called "about 7 in 10", "8" and "9".
LEVELS = {"7 in 10": (0.65, 0.75), "8 in 10": (0.75, 0.85), "9 in 10": (0.85, 0.95)}
Shape = tuple[int, ...]
Noise = Callable[[np.random.Generator, Shape], Array]


@dataclass(frozen=True, eq=False)
class Ratings:
    """Simulated ratings (P, K, n) with the true mean of each candidate, (P, K)."""

    values: Array
    truth: Array

    @property
    def deviation(self) -> float:
        """The standard deviation of a candidate's ratings."""
        return float(np.sqrt(self.values.var(axis=2, ddof=1).mean()))

    def is_close(self, choice: Integers) -> Array:
        """Whether no other candidate is clearly better than the choice, (P,)."""
        chosen = self.truth[np.arange(len(choice)), choice]
        return np.asarray(self.truth.max(axis=1) - chosen <= TOLERANCE * self.deviation)


def normal(generator: np.random.Generator, shape: Shape) -> Array:
    """Normal noise of variance 1."""
    return generator.normal(size=shape)


def heavy_tails(generator: np.random.Generator, shape: Shape) -> Array:
    """Student's t with 4 degrees of freedom, of variance 1."""
    return np.asarray(generator.standard_t(4, shape) / np.sqrt(2))


def gaussian(generator: np.random.Generator, count: int) -> Ratings:
    """Normal ratings."""
    return _on_a_line(generator, normal, count)


def students_t(generator: np.random.Generator, count: int) -> Ratings:
    """Ratings with heavy tails."""
    return _on_a_line(generator, heavy_tails, count)


def five_points(generator: np.random.Generator, count: int) -> Ratings:
    """Ratings from 1 to 5."""
    quality = MIDDLE + generator.normal(0, QUALITY, (PROMPTS, CANDIDATES, 1))
    values = _rounded(quality + generator.normal(size=(PROMPTS, CANDIDATES, count)))
    errors = generator.normal(size=MANY)
    truth = np.array([_rounded(row + errors).mean(axis=-1) for row in quality])
    return Ratings(values, truth)


WORLDS: dict[str, Callable[[np.random.Generator, int], Ratings]] = {
    "normal": gaussian,
    "1 to 5": five_points,
    "t(4)": students_t,
}


def certainty_of_decisions(share: float) -> list[Row]:
    """The certainty and the interval that a decision by four ratings of each answer states."""
    rows = []
    for world, simulate in WORLDS.items():
        generator = np.random.default_rng(31)
        stated: list[float] = []
        is_right: list[bool] = []
        covered: list[bool] = []
        for _ in range(file_count(FILES, share)):
            ratings = simulate(generator, RATINGS)
            decisions = select_batch(ratings.values[:, None], "auto")
            close = ratings.is_close(decisions.index)
            for place in range(PROMPTS):
                sure = decisions[place].how_sure
                if sure is not None:
                    stated.append(sure.probability)
                    is_right.append(bool(close[place]))
                    mean = ratings.truth[place, decisions.index[place]]
                    covered.append(sure.low <= mean <= sure.high)
        rows += _rows_by_level(f"how sure, {RATINGS} ratings each", world, stated, is_right)
        name = f"how sure: expected average, {RATINGS} ratings each ({world})"
        rows.append(Row(name, "0.90", float(np.mean(covered)), len(covered)))
    return rows


def certainty_after_asking(share: float) -> list[Row]:
    """The certainty after asking for the ratings that were worth most."""
    rows = []
    for world, simulate in WORLDS.items():
        generator = np.random.default_rng(32)
        stated: list[float] = []
        is_right: list[bool] = []
        for _ in range(file_count(FILES, share)):
            model = _learnt_model(simulate(generator, 2))
            ratings = simulate(generator, RATERS)
            choice = np.zeros(PROMPTS, dtype=np.int64)
            for place, values in enumerate(ratings.values):
                asking = _asked(values, model)
                choice[place] = asking.belief.mean[0].argmax()
                tolerance = TOLERANCE * float(np.sqrt(model.noise.rating))
                sure = certainty(asking.belief, choice[place : place + 1], tolerance)
                stated.append(float(sure.probability[0]))
            is_right += ratings.is_close(choice).tolist()
        rows += _rows_by_level("how sure, asked adaptively", world, stated, is_right)
    return rows


def _on_a_line(generator: np.random.Generator, noise: Noise, count: int) -> Ratings:
    truth = generator.normal(0, QUALITY, (PROMPTS, CANDIDATES))
    values = truth[..., None] + noise(generator, (PROMPTS, CANDIDATES, count))
    return Ratings(values, truth)


def _rounded(values: Array) -> Array:
    return np.clip(np.round(values), LOWEST, HIGHEST)


def _learnt_model(ratings: Ratings) -> AskingModel:
    """What another file, with two ratings of each answer, teaches."""
    learnt = learn(ratings.values)
    noise = RatingNoise(learnt.within, learnt.within * learnt.candidates[0][0])
    return AskingModel(noise, np.zeros(RATERS))


def _asked(values: Array, model: AskingModel) -> AdaptiveAsking:
    asking = AdaptiveAsking(CANDIDATES, range(RATERS), model)
    seen = np.full(values.shape, np.nan)
    while pairs := asking.ask():
        for pair in pairs:
            seen[pair] = values[pair]
        asking.tell(seen)
    return asking


def _rows_by_level(what: str, world: str, stated: list[float], outcomes: list[bool]) -> list[Row]:
    """One row per level that is stated in words; what is nominal is what was stated on average."""
    probability = np.array(stated)
    is_right = np.array(outcomes)
    rows = []
    for words, (low, high) in LEVELS.items():
        among = (probability >= low) & (probability < high)
        if among.any():
            name = f"{what}: about {words} ({world})"
            nominal = f"{probability[among].mean():.2f}"
            rows.append(Row(name, nominal, float(is_right[among].mean()), int(among.sum())))
    return rows


SIMULATIONS: tuple[Simulation, ...] = (certainty_of_decisions, certainty_after_asking)
