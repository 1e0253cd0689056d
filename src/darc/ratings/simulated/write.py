"""Simulated ratings, truths and proxy scores as tidy CSV."""

import csv
from collections.abc import Iterator
from typing import TextIO

import numpy as np

from darc.ratings.simulated.population import Population, Proxy

RATINGS = ("rater_id", "rating", "rater_group")
TRUTH = ("mean", "sigma", "value", "cvar", "polarising", "exploit")
PROXY = ("rater_id", "rating", "scorer_id", "log_likelihood")

Lines = Iterator[tuple[int, int, *tuple[object, ...]]]


def candidate_id(candidate: int) -> str:
    """The name of a candidate: answer A to Z, then AA and so on."""
    letters = ""
    number = candidate + 1
    while number:
        number, last = divmod(number - 1, 26)
        letters = chr(ord("A") + last) + letters
    return f"answer {letters}"


def write_ratings(file: TextIO, population: Population) -> None:
    """Write one line a rating, as `darc select` reads it; missing ones have none."""

    def lines() -> Lines:
        for p, k, j in np.ndindex(population.ratings.shape):
            rating, person = population.ratings[p, k, j], population.rater[p, j]
            if not np.isnan(rating):
                group = population.group[person] + 1
                yield p, k, f"rater {person + 1}", rating, f"group {group}"

    _write(file, RATINGS, lines())


def write_truth(file: TextIO, population: Population) -> None:
    """Write one line a candidate: what all people think of it, and what it is."""
    true = population.truth
    numbers = (true.mean, true.sigma, true.value(), true.cvar())
    cells = (*numbers, population.polarising.astype(np.int64), population.exploit)
    places = np.ndindex(population.exploit.shape)
    _write(file, TRUTH, ((p, k, *(array[p, k] for array in cells)) for p, k in places))


def write_proxy(file: TextIO, proxy: Proxy) -> None:
    """Write one line a score: the original and its rewrites in the place of raters."""

    def lines() -> Lines:
        for p, m, k, i in np.ndindex(proxy.samples.shape):
            text = "original" if i == 0 else f"rewrite {i}"
            yield (
                p,
                k,
                text,
                proxy.samples[p, m, k, i],
                f"scorer {m + 1}",
                proxy.log_likelihood[p, k],
            )

    _write(file, PROXY, lines())


def _write(file: TextIO, header: tuple[str, ...], lines: Lines) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("prompt_id", "candidate_id", *header))
    for p, k, *cells in lines:
        texts = (f"{cell:.6g}" if isinstance(cell, float) else cell for cell in cells)
        writer.writerow((f"prompt {p + 1}", candidate_id(k), *texts))
