"""Simulated ratings, truths and proxy scores as tidy CSV."""

import csv
from collections.abc import Iterable, Iterator
from typing import TextIO

import numpy as np

from darc.simulate.population import Population, Proxy

RATINGS = ("prompt_id", "candidate_id", "rater_id", "rating", "rater_group")
TRUTH = ("prompt_id", "candidate_id", "mean", "sigma", "value", "cvar", "polarising", "exploit")
PROXY = ("prompt_id", "candidate_id", "rater_id", "rating", "scorer_id", "log_likelihood")


def prompt_id(prompt: int) -> str:
    """The name of a prompt."""
    return f"prompt {prompt + 1}"


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

    def lines() -> Iterator[tuple[str, ...]]:
        for p, k, j in np.ndindex(population.ratings.shape):
            rating, person = population.ratings[p, k, j], population.rater[p, j]
            if not np.isnan(rating):
                group = f"group {population.group[person] + 1}"
                yield prompt_id(p), candidate_id(k), f"rater {person + 1}", f"{rating:.6g}", group

    _write(file, RATINGS, lines())


def write_truth(file: TextIO, population: Population, beta: float = 1.0) -> None:
    """Write one line a candidate: what all people think of it, and what it is."""
    true, exploit = population.truth, population.exploit
    numbers = (true.mean, true.sigma, true.value(beta), true.cvar(0.1))
    lines = (
        (
            prompt_id(p),
            candidate_id(k),
            *(f"{array[p, k]:.6g}" for array in numbers),
            int(population.polarising[p, k]),
            f"{exploit[p, k]:.6g}",
        )
        for p, k in np.ndindex(exploit.shape)
    )
    _write(file, TRUTH, lines)


def write_proxy(file: TextIO, proxy: Proxy) -> None:
    """Write one line a score: the original and its rewrites in the place of raters."""
    lines = (
        (
            prompt_id(p),
            candidate_id(k),
            "original" if i == 0 else f"rewrite {i}",
            f"{proxy.samples[p, m, k, i]:.6g}",
            f"scorer {m + 1}",
            f"{proxy.log_likelihood[p, k]:.6g}",
        )
        for p, m, k, i in np.ndindex(proxy.samples.shape)
    )
    _write(file, PROXY, lines)


def _write(file: TextIO, header: tuple[str, ...], lines: Iterable[tuple[object, ...]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
