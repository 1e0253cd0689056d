"""Intervals of what a calibration has learnt, by resampling prompts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.decide.ids import UNKNOWN, Ids
from darc.decide.model import components
from darc.decide.model.calibration import Calibration, Pair
from darc.decide.model.components import Features
from darc.typing import Array, Integers, Mask

# Prompts are resampled in at most this many groups, and so often.
GROUPS = 100
DRAWS = 600
FEWEST_GROUPS = 5
# What the interval of the reliability misses at its upper and at its lower end, together 5 %. An
# estimate that is too low has an error that is too small as well, so that the upper end takes more.
UPPER_TAIL = 0.01
LOWER_TAIL = 0.04
# Fewer candidates with three ratings do not show how noisy disagreement is.
FEWEST_NOISE = components.FEWEST_NOISE
# A reliability is at most this where it is transformed.
MOST = 0.9999
# So few raters or systems hardly show how much they vary; of more than so many no errors are given.
FEW_EFFECTS = 4
MOST_EFFECTS = 1000
# How many numbers are held in memory at once.
MOST_NUMBERS = 5_000_000


def with_intervals(
    calibration: Calibration, ratings: Array, raters: Ids | None, systems: Ids | None
) -> Calibration:
    """Add a 95 % interval of the reliability, and standard errors of raters and systems.

    There is none of the weight of disagreement, which is drawn towards a usual one on purpose.

    Args:
        calibration: What `learn` returned.
        ratings: The ratings that it is from, (P, K, n).
        raters: Who gave each rating.
        systems: What wrote each candidate.
    """
    features = Features(ratings)
    interval = reliability_interval(calibration, features, raters, systems)
    intervals: dict[str, Pair] = {}
    if interval is not None:
        intervals["reliability"] = interval
    calibration = replace(calibration, intervals=intervals)
    if raters is not None and raters.names:
        errors = _rater_errors(features, raters)
        calibration = replace(calibration, rater_errors=errors)
    if systems is not None and calibration.systems:
        errors = _system_errors(calibration, features, raters, systems)
        calibration = replace(calibration, system_errors=errors)
    return calibration


def reliability_interval(
    calibration: Calibration, features: Features, raters: Ids | None, systems: Ids | None
) -> Pair | None:
    """A 95 % interval of the reliability of disagreement.

    By the studentised bootstrap over prompts of -log(1 - reliability), which is the logarithm of a
    ratio of variances. Its lower end is at least 0. If noise explains all that is seen, the upper
    end is as far above 0 as it would be above an estimate of 0.

    Args:
        calibration: What `learn` returned.
        features: What the ratings say about each candidate.
        raters: Who gave each rating.
        systems: What wrote each candidate.

    Returns:
        The interval, None where there are too few prompts or ratings.
    """
    if (features.count >= 3).sum() < FEWEST_NOISE:
        return None
    sums = _grouped(_reliability_sums(calibration, features, raters, systems))
    groups = len(sums)
    if groups < FEWEST_GROUPS:
        return None
    shared = calibration.shared
    total = sums.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(_transformed(total, shared))
        error = float(_jackknife_errors(total[None], sums[None], np.ones((1, groups)), shared)[0])
        draws = np.random.default_rng(0).multinomial(groups, np.full(groups, 1 / groups), DRAWS)
        totals = draws @ sums
        estimates = _transformed(totals, shared)
        errors = np.concatenate(
            [
                _jackknife_errors(totals[part], sums[None], draws[part].astype(float), shared)
                for part in np.array_split(np.arange(DRAWS), 6)
            ]
        )
        deviations = (estimates - estimate) / errors
    deviations = deviations[np.isfinite(deviations)]
    if not math.isfinite(estimate) or not error > 0 or len(deviations) < DRAWS / 2:
        return None
    lowest, highest = np.quantile(deviations, [UPPER_TAIL, 1 - LOWER_TAIL]).tolist()
    low = max(estimate - highest * error, 0.0)
    high = max(estimate, 0.0) - lowest * error
    value = calibration.reliability
    return min(-math.expm1(-low), value), max(-math.expm1(-high), value)


def _reliability_sums(
    calibration: Calibration, features: Features, raters: Ids | None, systems: Ids | None
) -> Array:
    """What the reliability is made of, added up over each prompt's candidates, (P, 12)."""
    mean = _means_without_severity(calibration, features, raters)
    used = features.count >= 2
    cells = np.stack([mean[used], features.disagreement[used]], axis=1)
    prompt = np.nonzero(used)[0]
    prompts = len(used)
    system = np.full(len(prompt), UNKNOWN)
    n_systems = 0
    if systems is not None and calibration.systems:
        system = systems.codes[used]
        n_systems = len(systems.names)
    residuals = components.residuals(cells, prompt, system, prompts, n_systems)
    left = residuals.left
    # Each prompt's part of the degrees of freedom.
    degrees = np.maximum(np.bincount(prompt, minlength=prompts) - 1.0, 0.0)
    degrees *= residuals.df / max(degrees.sum(), 1.0)
    count = np.maximum(features.count, 2).astype(float)
    measured = features.count >= 3
    covariance_noise, variance_noise = features.noise
    by_candidate = [
        (features.sigma**2 * (count - 1), used),
        (count - 1, used),
        (covariance_noise, measured),
        (variance_noise, measured),
        (np.ones_like(count), measured),
        (1 / count, used),
        (1 / np.sqrt(count * (count - 1)), used),
        (1 / (count - 1), used),
    ]
    columns = [
        np.bincount(prompt, left[:, 0] ** 2, prompts),
        np.bincount(prompt, left[:, 0] * left[:, 1], prompts),
        np.bincount(prompt, left[:, 1] ** 2, prompts),
        degrees,
        *(np.where(mask, values, 0.0).sum(axis=1) for values, mask in by_candidate),
    ]
    return np.stack([*columns, used.sum(axis=1)], axis=1)


def _transformed(sums: Array, shared: float) -> Array:
    """-log(1 - reliability) of sums (..., 13), without the assumptions that `learn` adds."""
    (
        mean_squares,
        products,
        spread_squares,
        degrees,
        within_squares,
        within_degrees,
        covariance_noise,
        variance_noise,
        measured,
        inverse_count,
        inverse_root,
        inverse_degrees,
        cells,
    ) = np.moveaxis(sums, -1, 0)
    noise_mean = shared * within_squares / within_degrees * inverse_count / cells
    noise_link = math.sqrt(shared) * covariance_noise / measured * inverse_root / cells
    noise_spread = variance_noise / measured * inverse_degrees / cells
    observed_mean = mean_squares / degrees
    mean = np.maximum(observed_mean - noise_mean, components.LEAST_SHARE * observed_mean)
    link = products / degrees - noise_link
    spread = spread_squares / degrees - noise_spread
    signal = spread - link**2 / mean
    observed = spread + noise_spread - (link + noise_link) ** 2 / (mean + noise_mean)
    return np.asarray(-np.log1p(-np.minimum(signal / observed, MOST)))


def _jackknife_errors(totals: Array, sums: Array, draws: Array, shared: float) -> Array:
    """The standard error of each total (B, C) of groups (1, G, C) that were drawn (B, G) times."""
    without = _transformed(totals[:, None] - sums, shared)
    groups = draws.sum(axis=1)
    middle = (draws * without).sum(axis=1) / groups
    squares = (draws * (without - middle[:, None]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares * (groups - 1) / groups))


def _grouped(rows: Array) -> Array:
    """Rows (P, C) added up in at most `GROUPS` random groups; empty rows are left out."""
    rows = rows[rows[:, -1] > 0]
    groups = min(GROUPS, len(rows))
    group = np.random.default_rng(1).permutation(len(rows)) % max(groups, 1)
    sums = np.zeros((groups, rows.shape[1]))
    np.add.at(sums, group, rows)
    return sums


def _means_without_severity(
    calibration: Calibration, features: Features, raters: Ids | None
) -> Array:
    """The mean of each candidate (P, K) after its raters' offsets are taken out."""
    if raters is None or not raters.names:
        return features.mean
    return Features(features.ratings - _offsets(calibration, raters)).mean


def _offsets(calibration: Calibration, raters: Ids) -> Array:
    """The offset of each rating's rater, (P, K, n), 0 where it is not known."""
    offsets = [calibration.raters.get(name, 0.0) for name in raters.names]
    return np.asarray(np.append(offsets, 0.0)[raters.codes])


def _rater_errors(features: Features, raters: Ids) -> dict[str, float]:
    """The standard error of each rater's offset; none for a rater with a single rating."""
    shape = features.ratings.shape
    cells = shape[0] * shape[1]
    codes = np.where(features.known, raters.codes, UNKNOWN).reshape(cells, -1)
    prompt = np.repeat(np.arange(shape[0]), shape[1])
    effects = _fit_effects(features.ratings.reshape(cells, -1), codes, prompt, len(raters.names))
    return effects.errors_by_name(raters.names)


def _system_errors(
    calibration: Calibration, features: Features, raters: Ids | None, systems: Ids
) -> dict[str, float]:
    """The standard error of each system's effect on the mean; none for one with one candidate."""
    mean = _means_without_severity(calibration, features, raters)
    codes = np.where(features.count > 0, systems.codes, UNKNOWN)
    effects = _fit_effects(mean, codes, np.arange(len(mean)), len(systems.names))
    errors = effects.errors_by_name(systems.names)
    return {name: math.sqrt(calibration.inflation) * error for name, error in errors.items()}


@dataclass(frozen=True, eq=False)
class _Effects:
    """How far above the others some raters or systems are, before anything is shrunk, (S,) each."""

    #: The deviation.
    value: Array
    #: Its variance, NaN where it cannot be known.
    variance: Array

    def errors_by_name(self, names: Sequence[str]) -> dict[str, float]:
        """Standard errors of the shrunken effects whose variance is known.

        They allow for what shrinking assumes: it relies on how much effects vary, which few effects
        hardly show (Morris 1983).
        """
        known = np.flatnonzero(~np.isnan(self.variance))
        value = self.value[known]
        variance = self.variance[known]
        size = len(known)
        if size < 2:
            return {}
        between = max(0.0, float(np.var(value, ddof=1) - variance.mean()))
        drawn = variance / np.maximum(variance + between, 1e-300)
        moved = (drawn * (value - value.mean())) ** 2
        if size <= FEW_EFFECTS:
            squares = variance + moved
        else:
            drawn = (size - 3) / (size - 1) * drawn
            squares = variance * (1 - (size - 1) / size * drawn) + 2 / (size - 3) * moved
        errors = np.sqrt(squares).tolist()
        return {names[code]: error for code, error in zip(known.tolist(), errors, strict=True)}


def _fit_effects(values: Array, codes: Integers, prompt: Integers, size: int) -> _Effects:
    """Fit values by what those of a row have in common and whose they are, by least squares.

    The variances are those that resampling prompts gives in the limit of many draws.

    Args:
        values: The values, (C, n).
        codes: Whose each value is, (C, n), `UNKNOWN` where there is none.
        prompt: The prompt of each row, (C,).
        size: The number of raters or systems.
    """
    known = codes >= 0
    in_row = known.sum(axis=1)
    known &= (in_row > 1)[:, None]
    count = np.bincount(codes[known], minlength=size)
    unknown_variance = np.full(size, np.nan)
    if size > MOST_EFFECTS or not known.any():
        return _Effects(np.zeros(size), unknown_variance)
    inverse = _inverse_normal_matrix(codes, known, count)
    rest = _centred_rows(values, known)
    code = codes[known]
    value = inverse @ np.bincount(code, rest[known], size)
    own = np.append(value, 0.0)[codes]
    rest = _centred_rows(rest - own, known)
    # What each prompt adds to each effect, and its square summed up over prompts.
    prompts = int(prompt.max()) + 1
    row_prompt = np.broadcast_to(prompt[:, None], codes.shape)[known]
    squares = np.zeros(size)
    for part in np.array_split(np.arange(prompts), prompts * size // MOST_NUMBERS + 1):
        chosen = (row_prompt >= part[0]) & (row_prompt <= part[-1])
        key = (row_prompt[chosen] - part[0]) * size + code[chosen]
        sums = np.bincount(key, rest[known][chosen], len(part) * size).reshape(-1, size)
        squares += ((sums @ inverse) ** 2).sum(axis=0)
    pairs = np.unique(row_prompt * size + code) % size
    free = np.maximum(np.bincount(pairs, minlength=size) - 1, 1)
    # As Student's t is wider than the normal distribution.
    clustered = squares * (free + 1) / free * (1 + 1.2 / np.maximum(free, 3)) ** 2
    # Those who are in few prompts have the noise of all.
    degrees = max(int(known.sum()) - int((in_row > 1).sum()) - size, 1)
    plain = float((rest[known] ** 2).sum()) / degrees * np.diag(inverse)
    few = free < FEWEST_GROUPS
    variance = np.where(few, np.maximum(plain, clustered), clustered)
    return _Effects(value, np.where(count > 1, variance, np.nan))


def _inverse_normal_matrix(codes: Integers, known: Mask, count: Integers) -> Array:
    """The pseudo-inverse (S, S) of the equations for effects after rows are taken out."""
    size = len(count)
    weight = 1.0 / np.maximum(known.sum(axis=1), 1)
    matrix = np.diag(count.astype(float))
    for first in range(codes.shape[1]):
        for second in range(codes.shape[1]):
            both = known[:, first] & known[:, second]
            key = codes[both, first] * size + codes[both, second]
            matrix -= np.bincount(key, weight[both], size * size).reshape(size, size)
    return np.asarray(np.linalg.pinv(matrix, rcond=1e-9, hermitian=True))


def _centred_rows(values: Array, known: Mask) -> Array:
    """Values (C, n) less the mean of the known ones of their row."""
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.asarray(values - (total / np.maximum(known.sum(axis=1), 1))[:, None])
