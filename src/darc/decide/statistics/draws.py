"""Seeded randomness without state: the numbers of a prompt depend on (seed, prompt_id) alone."""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from darc.typing import Array, Integers

Seeds = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def prompt_seeds(seed: int, prompt_ids: Iterable[object]) -> Seeds:
    """One 64-bit seed per prompt, (P,), derived from (seed, prompt_id): order does not matter."""
    digests = (
        hashlib.blake2b(f"{seed}\0{prompt_id}".encode(), digest_size=8).digest()
        for prompt_id in prompt_ids
    )
    return np.array([int.from_bytes(digest, "little") for digest in digests], dtype=np.uint64)


def candidate_lots(
    seed: int, prompt_ids: Iterable[object], candidate_ids: Iterable[object]
) -> Seeds:
    """One 64-bit number per candidate, by (seed, prompt_id, candidate_id), to break ties by."""
    pairs = zip(prompt_ids, candidate_ids, strict=True)
    return prompt_seeds(seed, (f"{prompt}\0{candidate}" for prompt, candidate in pairs))


def uniforms(seeds: Seeds, count: int) -> Array:
    """Uniform numbers in [0, 1), (P, count), by the splitmix64 sequence of each seed."""
    steps = np.arange(1, count + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        state = seeds[:, None] + steps * _STEP
        state = (state ^ (state >> np.uint64(30))) * _MIX[0]
        state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    return np.asarray((state ^ (state >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


def folds(seeds: Seeds, count: int) -> Integers:
    """The fold of every prompt, (P,), by its seed; sizes differ by at most one."""
    places = np.empty(len(seeds), dtype=np.int64)
    places[np.argsort(uniforms(seeds, 1)[:, 0], kind="stable")] = np.arange(len(seeds))
    return places % count


def poisson(rate: float, uniform: Array) -> Integers:
    """Poisson(rate) numbers by inversion of uniform numbers, same shape."""
    most = int(rate + 12 * np.sqrt(rate) + 30)
    counts = np.arange(most + 1)
    logs = counts * np.log(rate) - rate - np.cumsum(np.log(np.maximum(counts, 1)))
    return np.searchsorted(np.cumsum(np.exp(logs)), uniform, side="right").astype(np.int64)
