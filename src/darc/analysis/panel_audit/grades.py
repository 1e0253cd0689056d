"""The grades of a panel and people's ratings of the same answers, one column per rater."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.errors import InputError
from darc.ratings.joining import join
from darc.ratings.ratings import Ratings
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class RaterGrades:
    """Grades (P, K, R) by R raters, NaN where there is none."""

    #: What messages call them.
    name: str
    values: Array
    raters: tuple[str, ...]
    prompt_ids: Sequence[str]
    candidate_ids: Sequence[Sequence[str]]
    #: The lengths of the answers, (P, K), NaN where not known.
    lengths: Array
    length_unit: str = "tokens"

    @property
    def mean(self) -> Array:
        """The mean of each answer over raters, (P, K), NaN where there is none."""
        return mean_over(self.values)

    def only(self, rater: int) -> Array:
        """The grades of one rater, (P, K)."""
        return np.asarray(self.values[:, :, rater])


@dataclass(frozen=True, eq=False)
class PanelAndPeople:
    """A panel's grades, and people's ratings of the same answers if there are any."""

    panel: RaterGrades
    #: People's ratings of the answers that both have, on the prompts and candidates of `graded`.
    people: RaterGrades | None = None
    #: The panel's grades of the answers that people rated.
    graded: RaterGrades | None = None
    #: Whether people have names, so that their ratings can be told apart.
    people_named: bool = False


def rater_grades(ratings: Ratings) -> RaterGrades:
    """Put ratings into one column per rater; several scorers or criteria are averaged."""
    prompts, _, candidates, _ = ratings.shape
    names = tuple(ratings.rater_names)
    values = np.full((prompts, candidates, len(names)), np.nan)
    total = np.zeros(values.shape)
    count = np.zeros(values.shape)
    prompt, scorer, candidate, place = np.nonzero(ratings.present)
    rater = ratings.raters[prompt, scorer, candidate, place]
    known = rater >= 0
    cell = (prompt[known], candidate[known], rater[known])
    np.add.at(total, cell, ratings.samples[prompt, scorer, candidate, place][known])
    np.add.at(count, cell, 1)
    np.divide(total, count, out=values, where=count > 0)
    used = np.flatnonzero((count > 0).any(axis=(0, 1)))
    return RaterGrades(
        name=ratings.name,
        values=values[:, :, used],
        raters=tuple(names[place] for place in used.tolist()),
        prompt_ids=ratings.prompt_ids,
        candidate_ids=ratings.candidate_ids,
        lengths=ratings.lengths,
        length_unit=ratings.length_unit,
    )


def panel_grades(ratings: Ratings) -> RaterGrades:
    """The grades of a panel.

    Raises:
        InputError: These are scores of rewrites, or nobody knows who gave which grade.
    """
    if ratings.kind == "rewrite":
        raise InputError(
            f"{ratings.name} has scores of rewrites, and no panel",
            "give a run with --panel, an audit log of one, or a file of grades with rater_id",
        )
    grades = rater_grades(ratings)
    if not all(grades.raters):
        raise InputError(
            f"{ratings.name} does not say which rater gave each grade",
            "add a column rater_id, or name it with --column rater_id=THEIRS",
        )
    return grades


def panel_and_people(panel: Ratings, people: Ratings | None) -> PanelAndPeople:
    """Match people's ratings with a panel's grades by the ids of prompt and candidate.

    Raises:
        InputError: One of them is of the wrong kind, or they share no answer.
    """
    grades = panel_grades(panel)
    if people is None:
        return PanelAndPeople(grades)
    if people.kind != "rater":
        raise InputError(
            f"{people.name} is a run or an audit log, and not people's ratings",
            "give a file of people's ratings, and the panel after --panel",
        )
    joined = join(panel, people)
    rated = rater_grades(joined.human)
    return PanelAndPeople(
        panel=grades,
        people=rated,
        graded=rater_grades(joined.proxy),
        people_named=all(rated.raters),
    )


def mean_over(values: Array) -> Array:
    """The mean over the last axis, NaN left out, NaN where there is nothing."""
    known = ~np.isnan(values)
    count = known.sum(axis=-1)
    total = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
