"""What each rater thinks of each system beyond what the others do."""

import math
import warnings
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from darc.analysis.diagnose.candidate_ratings import CandidateRatings
from darc.typing import Array

MIN_RATERS = 3
MIN_SYSTEMS = 2
# A system must have been rated on this many prompts, and by each rater on as many.
MIN_PROMPTS = 5
# More systems or raters have no table.
MAX_SYSTEMS = 30
MAX_RATERS = 100
# A liking is notable if chance makes one as large in 5 % of files, and it is at least this share of
# the noise of a rating.
FALSE_FILES = 0.05
MIN_NOISE_SHARE = 0.5
_POLISH_ROUNDS = 20


@dataclass(frozen=True)
class NotableLiking:
    """A rater who rates a system higher or lower than raters usually do."""

    rater: str
    system: str
    #: How far above the usual rating of the system, after the rater's severity.
    liking: float


@dataclass(frozen=True, eq=False)
class RaterLikings:
    """A table of raters and systems."""

    raters: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    #: How far above the usual each rater rates each system (raters, systems), after severity; NaN
    #: where there are too few ratings.
    likings: Array = field(default_factory=lambda: np.zeros((0, 0)))
    #: The standard errors of the likings (raters, systems), with prompts as units.
    errors: Array = field(default_factory=lambda: np.zeros((0, 0)))
    #: The likings beyond chance, the largest first.
    notable: tuple[NotableLiking, ...] = ()

    def of_system(self, system: str) -> list[NotableLiking]:
        """The notable likings of a system, the largest first."""
        return [liking for liking in self.notable if liking.system == system]


def measure_likings(ratings: CandidateRatings) -> RaterLikings:
    """Measure how each rater rates each system, beside the other raters and systems.

    A rating less the mean of its candidate is averaged over the prompts of a system. A median
    polish takes out each rater's severity and what raters usually think of the system, so that two
    of five raters who mark a system down show up as these two, not as three who like it.

    Args:
        ratings: The ratings.

    Returns:
        The table; empty if raters are unknown, or systems do not come back over prompts.
    """
    names, system_of_candidate = _systems(ratings)
    raters = len(ratings.rater_names)
    fits = MIN_SYSTEMS <= len(names) <= MAX_SYSTEMS and MIN_RATERS <= raters <= MAX_RATERS
    if not ratings.named or not fits:
        return RaterLikings()
    candidate, rater, value = ratings.flat()
    deviation = value - ratings.means()[candidate]
    usable = (ratings.counts > 1)[candidate] & (system_of_candidate[candidate] >= 0)
    candidate = candidate[usable]
    rater = rater[usable]
    deviation = deviation[usable]
    shape = (raters, len(names))
    cell = rater * len(names) + system_of_candidate[candidate]
    size = raters * len(names)
    count = np.bincount(cell, minlength=size)
    mean = np.bincount(cell, deviation, size) / np.maximum(count, 1)
    left = deviation - mean[cell]
    # Ratings of one prompt are not independent, so squares are of sums over prompts.
    keys, code = np.unique(ratings.prompts[candidate] * size + cell, return_inverse=True)
    prompts = np.bincount(keys % size, minlength=size)
    prompt_means = np.bincount(code, left) / np.bincount(code)
    squares = np.bincount(keys % size, prompt_means**2, size).reshape(shape)
    prompts = prompts.reshape(shape)
    enough = prompts >= MIN_PROMPTS
    # A rater is about equally noisy on all systems.
    freedom = np.maximum(prompts - 1, 0).sum(axis=1, keepdims=True)
    variance = squares.sum(axis=1, keepdims=True) / np.maximum(freedom, 1)
    table = np.where(enough, mean.reshape(shape), np.nan)
    errors = np.where(enough, np.sqrt(variance / np.maximum(prompts, 1)), np.nan)
    # The medians that are taken out are themselves uncertain.
    errors = errors * math.sqrt(1 + 3 / raters)
    likings = _median_polished(table)
    noise = math.sqrt(float((left**2).sum()) / max(len(left) - size, 1))
    largest = _t_quantile(FALSE_FILES / max(int(enough.sum()), 1), freedom)
    with np.errstate(invalid="ignore"):
        is_notable = np.abs(likings) > np.maximum(largest * errors, MIN_NOISE_SHARE * noise)
    notable = [
        NotableLiking(ratings.rater_names[j], names[s], float(likings[j, s]))
        for j, s in zip(*(places.tolist() for places in np.nonzero(is_notable)), strict=True)
    ]
    notable.sort(key=lambda liking: -abs(liking.liking))
    return RaterLikings(
        raters=tuple(ratings.rater_names),
        systems=tuple(names),
        likings=likings,
        errors=errors,
        notable=tuple(notable),
    )


def _systems(ratings: CandidateRatings) -> tuple[list[str], Array]:
    """The systems rated on enough prompts, and the place of each candidate's (I,), or -1."""
    system_names = np.asarray(ratings.systems or ratings.candidate_names, dtype=np.str_)
    names, code = np.unique(system_names, return_inverse=True)
    pairs = np.unique(np.stack([code, ratings.prompts]), axis=1)[0]
    returns = np.bincount(pairs, minlength=names.size) >= MIN_PROMPTS
    place = np.where(returns, np.cumsum(returns) - 1, -1)
    return names[returns].tolist(), place[code]


def _median_polished(table: Array) -> Array:
    """A table less the medians of its rows and columns, NaN where it is NaN."""
    rest = table.copy()
    with warnings.catch_warnings():
        # A rater or a system without enough ratings has no median.
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(_POLISH_ROUNDS):
            for axis in (1, 0):
                rest = rest - np.nan_to_num(np.nanmedian(rest, axis=axis, keepdims=True))
    return rest


def _t_quantile(tail: float, freedom: Array) -> Array:
    """The two-sided quantile of Student's t, by Hill's expansion of the normal one."""
    z = NormalDist().inv_cdf(1 - tail / 2)
    degrees = np.maximum(freedom, 4).astype(float)
    first = (z**3 + z) / 4 / degrees
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96 / degrees**2
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384 / degrees**3
    return np.asarray(z + first + second + third)
