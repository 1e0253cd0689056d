"""Simulated ratings, truths and proxy scores as tidy CSV."""

import csv
from collections.abc import Iterator
from typing import TextIO

import numpy as np

from darc.ratings.simulated.population import Population
from darc.ratings.simulated.proxy import Proxy

_RATING_COLUMNS = ("rater_id", "rating", "rater_group")
_TRUTH_COLUMNS = ("mean", "sigma", "value", "cvar", "polarising", "exploit")
_PROXY_COLUMNS = ("rater_id", "rating", "scorer_id", "log_likelihood")

#: The prompt and the candidate by number, and the other cells.
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
    """Write one line per rating, as `darc select` reads it; missing ones have none."""
    _write(file, _RATING_COLUMNS, _rating_lines(population))


def _rating_lines(population: Population) -> Lines:
    for p, k, j in np.ndindex(population.ratings.shape):
        rating = population.ratings[p, k, j]
        if not np.isnan(rating):
            person = population.rater[p, j]
            group = population.group[person] + 1
            yield p, k, f"rater {person + 1}", rating, f"group {group}"


def write_truth(file: TextIO, population: Population) -> None:
    """Write one line per candidate: what all people think of it, and what it is."""
    _write(file, _TRUTH_COLUMNS, _truth_lines(population))


def _truth_lines(population: Population) -> Lines:
    truth = population.truth
    columns = (
        truth.mean,
        truth.sigma,
        truth.value(),
        truth.cvar(),
        population.polarising.astype(np.int64),
        population.exploit,
    )
    for p, k in np.ndindex(population.exploit.shape):
        yield p, k, *(column[p, k] for column in columns)


def write_proxy(file: TextIO, proxy: Proxy) -> None:
    """Write one line per score: the original and its rewrites in the place of raters."""
    _write(file, _PROXY_COLUMNS, _proxy_lines(proxy))


def _proxy_lines(proxy: Proxy) -> Lines:
    for p, m, k, i in np.ndindex(proxy.samples.shape):
        text = "original"
        if i > 0:
            text = f"rewrite {i}"
        score = proxy.samples[p, m, k, i]
        yield p, k, text, score, f"scorer {m + 1}", proxy.log_likelihood[p, k]


def _write(file: TextIO, columns: tuple[str, ...], lines: Lines) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("prompt_id", "candidate_id", *columns))
    for p, k, *cells in lines:
        writer.writerow((f"prompt {p + 1}", candidate_id(k), *map(_cell_text, cells)))


def _cell_text(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return cell
