"""Records of some prompts sorted into candidates and scorers, in numpy alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from darc.tables.spill import Records
from darc.typing import Integers


@dataclass(frozen=True)
class Grouping:
    """Where the ratings of some prompts belong.

    Candidates are numbered through all prompts, in order of first appearance. `owner` is each
    row's candidate and `first` each candidate's first row; `prompt` is each candidate's prompt.
    A cell is a candidate under a scorer (candidate x scorers + scorer). `rows` are the rows that
    hold a rating, sorted by `cell` and then as in the file; `counts` (candidates, scorers) says
    how many each cell has.
    """

    owner: Integers
    first: Integers
    prompt: Integers
    rows: Integers
    cell: Integers
    counts: Integers


def group(records: Records, first_prompt: int, scorers: int) -> Grouping:
    """The grouping of rating records that are sorted by prompt."""
    prompt = records["prompt"] - np.int64(first_prompt)
    owner, first = first_appearance(prompt, records["candidate"])
    cell = owner * scorers + records["scorer"]
    rows = np.flatnonzero(~np.isnan(records["rating"]))
    if len(rows) < len(records):
        cell = cell[rows]
    if (cell[1:] < cell[:-1]).any():
        order = np.argsort(cell, kind="stable")
        rows, cell = rows[order], cell[order]
    counts = np.bincount(cell, minlength=len(first) * scorers).reshape(-1, scorers)
    return Grouping(owner, first, prompt[first], rows, cell, counts)


def first_appearance(prompt: Integers, item: Integers) -> tuple[Integers, Integers]:
    """Each row's (prompt, item), numbered by first appearance, and the first row of each of those.

    `prompt` is sorted, so the numbers of one prompt are consecutive. Runs of equal rows are
    sorted instead of rows, which makes a table that is already in order cheap.
    """
    turns = (prompt[1:] != prompt[:-1]) | (item[1:] != item[:-1])
    starts = np.concatenate(([0], np.flatnonzero(turns) + 1))
    run_prompt, run_item = prompt[starts], item[starts]
    order = np.argsort(run_item, kind="stable")
    order = order[np.argsort(narrow(run_prompt, int(prompt[-1]) + 1)[order], kind="stable")]
    run_prompt, run_item = run_prompt[order], run_item[order]
    opens = np.ones(len(order), dtype=bool)
    opens[1:] = (run_prompt[1:] != run_prompt[:-1]) | (run_item[1:] != run_item[:-1])
    first = order[opens]
    rank = np.empty_like(first)
    rank[np.argsort(first)] = np.arange(len(first))
    number = np.empty_like(order)
    number[order] = rank[np.cumsum(opens) - 1]
    return np.repeat(number, np.diff(starts, append=len(prompt))), starts[np.sort(first)]


def narrow(values: NDArray[np.signedinteger], count: int) -> NDArray[np.integer]:
    """`values` below `count` in 16 bits if they fit, because numpy sorts those in linear time."""
    return values.astype(np.uint16) if count <= 2**16 else values


def duplicate(records: Records, grouping: Grouping) -> tuple[int, int] | None:
    """The rows of the same rater's first and second rating in one cell, if there are any."""
    rater = records["rater"][grouping.rows]
    # Sorting one mixed key finds out quickly that there is none, which is the rule.
    mixed = rater.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += grouping.cell.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
    mixed.sort()
    if not (mixed[1:] == mixed[:-1]).any():
        return None
    order = np.lexsort((rater, grouping.cell))
    rater, cell = rater[order], grouping.cell[order]
    again = np.flatnonzero((rater[1:] == rater[:-1]) & (cell[1:] == cell[:-1]))
    if not len(again):
        return None
    rows = grouping.rows[order]
    at = again[np.argmin(rows[again + 1])]
    return int(rows[at]), int(rows[at + 1])
