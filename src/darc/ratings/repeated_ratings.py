"""Second ratings by the same rater, and ratings that are in a file twice."""

import math
from dataclasses import dataclass

import numpy as np

from darc.ratings.database import Database
from darc.typing import Integers, Mask

# Pairs of equal ratings are copies if nearly all are equal. On a fine scale equal ratings are rarer
# by chance, so that fewer are enough, if there are more answers to judge by.
_MIN_ANSWERS = 8
_MIN_DIFFERENT_VALUES = 3
_COPIED_SHARE = 0.95
_MIN_ANSWERS_ON_A_FINE_SCALE = 20
_FINE_SCALE_VALUES = 10
_COPIED_SHARE_ON_A_FINE_SCALE = 0.8


@dataclass(frozen=True)
class Repeats:
    """Ratings of an answer by a rater who had rated it before, under the same scorer."""

    #: How often a rater rated an answer.
    cells: int
    #: How many of these cells have more than one rating.
    repeated_cells: int
    #: How many ratings there are beyond the first of each cell.
    extra_ratings: int
    #: Whether the repeats are the first ratings copied, which say nothing about noise.
    are_copies: bool
    #: The variance of a rater's repeats of one answer, for each scorer (M,), NaN where not known.
    noise_variance: tuple[float, ...]
    #: That of the mean of a rater's ratings of one answer, averaged over all cells, (M,).
    mean_noise_variance: tuple[float, ...]

    @property
    def note(self) -> str:
        """What a user should know of them, in one sentence."""
        if self.are_copies:
            rows = "rows repeat"
            if self.extra_ratings == 1:
                rows = "row repeats"
            return (
                f"{self.extra_ratings:,} {rows} a rater's rating of an answer unchanged: copied"
                " rows are counted once."
            )
        noise = ", ".join(
            f"{math.sqrt(variance):.3g}" for variance in self.noise_variance if variance >= 0
        )
        return (
            f"{self.repeated_cells:,} of {self.cells:,} ratings were given more than once by the"
            " same rater to the same answer: the repeats are averaged; they differ by a standard"
            f" deviation of {noise}, which is the noise of one rating."
        )


@dataclass(frozen=True)
class CopiedRatings:
    """Ratings that are there twice, under different names of raters."""

    #: The share of the answers, of those that can show it, whose ratings all come in pairs.
    share: float
    #: How many ratings were left out, the later of each pair.
    left_out: int

    @property
    def note(self) -> str:
        """What a user should know of them, in one sentence."""
        return (
            f"In {self.share:.0%} of the answers with an even number of ratings, every rating is"
            " there twice: these look like copied rows, and each pair is counted once"
            f" ({self.left_out:,} ratings are left out)."
        )


def has_repeats(db: Database, samples: str) -> bool:
    """Whether a rater rated an answer more than once.

    Args:
        db: The database.
        samples: The SQL for some rows of `samples`, a table name and a condition.
    """
    (repeated,) = db.row(
        f"SELECT count(*) > count(DISTINCT (candidate, scorer, rater)) FROM {samples}"
    )
    return bool(repeated)


def average_repeats(db: Database) -> Repeats:
    """Replace the repeats in the table `samples` by their means.

    Args:
        db: The database; its table `samples` keeps its order.

    Returns:
        How many there were, and their noise.
    """
    # The mean of equal numbers is that number, which `avg` can miss by rounding.
    db.run(
        """CREATE TABLE averaged AS SELECT candidate, scorer, rater,
        if(min(value) = max(value), min(value), avg(value)) AS value, count(*) AS ratings,
        coalesce(var_samp(value), 0) * (count(*) - 1) AS squares, min(rowid) AS first
        FROM samples GROUP BY candidate, scorer, rater ORDER BY candidate, scorer, first"""
    )
    cells, repeated, extra, unchanged = db.row(
        """SELECT count(*), count(*) FILTER (ratings > 1), sum(ratings - 1)::BIGINT,
        count(*) FILTER (ratings > 1 AND squares = 0) FROM averaged"""
    )
    (values,) = db.row("SELECT count(DISTINCT value) FROM averaged WHERE ratings > 1")
    are_copies = unchanged == repeated or _are_copies(unchanged / repeated, repeated, values)
    by_scorer = db.arrays(
        """SELECT sum(squares) AS squares, sum(ratings - 1)::DOUBLE AS degrees,
        avg(1 / ratings) AS share FROM averaged GROUP BY scorer ORDER BY scorer"""
    )
    noise_variance = np.full(len(by_scorer["squares"]), np.nan)
    if not are_copies:
        degrees = by_scorer["degrees"]
        np.divide(by_scorer["squares"], degrees, out=noise_variance, where=degrees > 0)
    db.run("DROP TABLE samples")
    db.run("CREATE TABLE samples AS SELECT candidate, scorer, rater, value FROM averaged")
    db.run("DROP TABLE averaged")
    return Repeats(
        cells=cells,
        repeated_cells=repeated,
        extra_ratings=extra,
        are_copies=are_copies,
        noise_variance=tuple(noise_variance.tolist()),
        mean_noise_variance=tuple((noise_variance * by_scorer["share"]).tolist()),
    )


def copied_share(db: Database, samples: str) -> float:
    """The share of answers whose ratings are all there twice, of those that can show it.

    An answer with an odd number of ratings cannot, nor one whose four or more ratings are all
    equal, nor one whose two ratings are the commonest rating.

    Args:
        db: The database.
        samples: The SQL for some rows of `samples`.

    Returns:
        The share, 0 where pairs of equal ratings may be chance.
    """
    by_value = f"SELECT candidate, scorer, value, count(*) AS count FROM {samples} GROUP BY ALL"
    answers = db.arrays(
        f"""SELECT sum(count)::BIGINT AS ratings, count(*) AS values, min(value) AS lowest,
        bool_and(count % 2 = 0) AS paired FROM ({by_value}) GROUP BY candidate, scorer"""
    )
    values, commonest = db.row(f"SELECT count(DISTINCT value), mode(value) FROM {samples}")
    can_show = _can_show_copies(
        answers["ratings"], answers["values"], answers["lowest"] == commonest
    )
    if not can_show.any():
        return 0.0
    share = float(np.asarray(answers["paired"])[can_show].mean())
    if _are_copies(share, int(can_show.sum()), values):
        return share
    return 0.0


def leave_out_copies(db: Database, share: float) -> CopiedRatings:
    """Leave out the later half of equal ratings where an answer's ratings come in pairs.

    Args:
        db: The database; its table `samples` keeps its order.
        share: What `copied_share` says.
    """
    (before,) = db.row("SELECT count(*) FROM samples")
    db.run(
        """CREATE TABLE single AS SELECT candidate, scorer, rater, value, place FROM (
        SELECT *, rowid AS place, row_number() OVER pair AS number, count(*) OVER equal AS count,
        FROM samples WINDOW equal AS (PARTITION BY candidate, scorer, value),
        pair AS (PARTITION BY candidate, scorer, value ORDER BY rowid))
        QUALIFY 2 * number <= count OR bool_or(count % 2 = 1) OVER (PARTITION BY candidate, scorer)
        ORDER BY place"""
    )
    db.run("DROP TABLE samples")
    db.run("CREATE TABLE samples AS SELECT candidate, scorer, rater, value FROM single")
    db.run("DROP TABLE single")
    (after,) = db.row("SELECT count(*) FROM samples")
    return CopiedRatings(share=share, left_out=before - after)


def _can_show_copies(ratings: Integers, values: Integers, is_commonest: Mask) -> Mask:
    """Which answers tell copies from agreement, (answers,)."""
    agree_by_chance = (values == 1) & ((ratings > 2) | is_commonest)
    return np.asarray((ratings % 2 == 0) & ~agree_by_chance)


def _are_copies(share: float, answers: int, values: int) -> bool:
    """Whether so large a share of equal pairs is no chance."""
    if answers >= _MIN_ANSWERS_ON_A_FINE_SCALE and values >= _FINE_SCALE_VALUES:
        return share >= _COPIED_SHARE_ON_A_FINE_SCALE
    enough = answers >= _MIN_ANSWERS and values >= _MIN_DIFFERENT_VALUES
    return enough and share >= _COPIED_SHARE
