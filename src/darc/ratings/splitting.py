"""Which samples select and which judge, drawn from who gave a sample and never from its value."""

import numpy as np

from darc.typing import Array, Integers, Mask

# The rater of a sample that does not exist, or whose rater is not known.
NOBODY = -1
# A generator of its own, so that no other draw with the same seed follows the splits.
_STREAM = 0x5B117


def draw_selecting(samples: Array, raters: Integers, unit: str, seed: int) -> Mask:
    """Draw the samples of the selecting half.

    Of an odd number either half may be the larger one; among samples it is the same half for all
    candidates of a prompt.

    Args:
        samples: Samples (P, M, K, n), NaN where there is none.
        raters: Who gave each sample, (P, M, K, n), numbered from 0; `NOBODY` where there is none.
        unit: What is divided: "rater" (a random half of the raters selects), "rewrite" (a random
            half of each prompt's rewrite numbers, the same for all its candidates and scorers) or
            "sample" (a random half of each candidate's samples).
        seed: Seed of the draw.

    Returns:
        Mask (P, M, K, n) of the samples that select.
    """
    generator = np.random.default_rng([seed, _STREAM])
    present = ~np.isnan(samples)
    if unit == "rater":
        selecting = _half_of_raters(raters, generator)
    elif unit == "rewrite":
        selecting = _half_of_rewrites(raters, generator)
    else:
        selecting = _half_of_samples(present, generator)
    return present & selecting


def _half_of_raters(raters: Integers, generator: np.random.Generator) -> Mask:
    used = np.unique(raters[raters != NOBODY])
    half = len(used) // 2
    if len(used) % 2:
        half += int(generator.integers(2))
    selecting_raters = generator.permutation(used)[:half]
    return np.isin(raters, selecting_raters)


def _half_of_rewrites(rewrites: Integers, generator: np.random.Generator) -> Mask:
    prompts = len(rewrites)
    used = np.unique(rewrites[rewrites != NOBODY])
    order = np.argsort(generator.random((prompts, len(used))), axis=1)
    half = np.full((prompts, 1), len(used) // 2)
    if len(used) % 2:
        half = half + generator.integers(2, size=(prompts, 1))
    largest = int(used.max(initial=0))
    selects = np.zeros((prompts, largest + 1), dtype=bool)
    np.put_along_axis(selects, used[order], np.arange(len(used)) < half, axis=1)
    prompt = np.arange(prompts)[:, None, None, None]
    return np.asarray(selects[prompt, rewrites] & (rewrites != NOBODY))


def _half_of_samples(present: Mask, generator: np.random.Generator) -> Mask:
    prompts, _, candidates, size = present.shape
    keys = generator.random((prompts, 1, candidates, size))
    larger_half = generator.integers(2, size=(prompts, 1, 1, 1))
    order = np.argsort(np.where(present, keys, np.inf), axis=3, kind="stable")
    rank = np.argsort(order, axis=3, kind="stable")
    count = present.sum(axis=3, keepdims=True)
    return np.asarray(rank < count // 2 + larger_half * (count % 2))


def raters_recur(raters: Integers) -> bool:
    """Whether most samples come from raters who rate several prompts.

    With a single prompt, whether they come from raters who rate several of its candidates.

    Args:
        raters: Who gave each sample, (P, M, K, n), `NOBODY` where there is none.
    """
    prompts, _, candidates, _ = raters.shape
    is_known = raters != NOBODY
    if not is_known.any():
        return False
    item = np.arange(prompts)[:, None, None, None]
    if prompts == 1:
        item = np.arange(candidates)[None, None, :, None]
    items = np.broadcast_to(item, raters.shape)[is_known]
    rater_of_sample = raters[is_known]
    pairs = np.unique(np.stack([rater_of_sample, items]), axis=1)
    items_of_rater = np.bincount(pairs[0])
    return bool((items_of_rater[rater_of_sample] > 1).mean() >= 0.5)


def pack_left(samples: Array, raters: Integers, chosen: Mask) -> tuple[Array, Integers]:
    """Move the chosen samples (P, M, K, n) and their raters to the left.

    Returns:
        Samples and raters (P, M, K, n'), where n' is the largest number of chosen samples of a
        candidate, at least 1; NaN and `NOBODY` after them.
    """
    size = max(1, int(chosen.sum(axis=3).max(initial=0)))
    order = np.argsort(~chosen, axis=3, kind="stable")[..., :size]
    filled = np.take_along_axis(chosen, order, axis=3)
    packed_samples = np.where(filled, np.take_along_axis(samples, order, axis=3), np.nan)
    packed_raters = np.where(filled, np.take_along_axis(raters, order, axis=3), NOBODY)
    return packed_samples, packed_raters
