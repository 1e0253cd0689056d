"""The samples of a panel: the grades of each rater for each candidate, asked for on demand."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from darc.engine.failures import OutOfCalls, PartFailed, error_text
from darc.engine.samples import SamplePlace, Samples
from darc.errors import InputError, MissingExtra
from darc.models.remote.errors import OverLimit
from darc.parts.rewriters import Rewrites
from darc.parts.scorers.panel import Panel
from darc.parts.scorers.panel_settings import PESSIMISTIC, REFUSE
from darc.types import Candidate, Scores
from darc.typing import Array

logger = logging.getLogger(__name__)

# The place of a judge among the scorers, and a text that it grades.
_GradeKey = tuple[int, str]


@dataclass(kw_only=True)
class PanelSamples(Samples):
    """The grades (1, K, n) of the candidates by n raters.

    A sample is the mean of a rater's repeats. Each repeat of each rater is a judge among the
    scorers, and `scores_by_text` has its grades (criteria,). A sample for which no grade could be
    obtained is NaN, or the lowest grade if the panel is pessimistic; a panel that refuses fails
    instead. The panel also fails when every rater was asked and none has answered at all.
    """

    panel: Panel
    #: Why some grades could not be obtained.
    failures: dict[_GradeKey, Exception] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the grades that are known of the candidates' texts."""
        super().__post_init__()
        self.fails_as_a_whole = self.panel.missing == REFUSE
        self._update_values()

    @property
    def scores(self) -> Scores:
        """The grades so far."""
        grades: Array | None = self.grades
        if self.grades.shape[0] == 1 and self.grades.shape[3] == 1:
            # With one criterion and one repeat the values say it all.
            grades = None
        return replace(
            self._empty,
            values=self.values,
            complete=self.complete,
            grades=grades,
            failed=tuple(place for place in self._all_places() if self._has_failed(place)),
        )

    @property
    def complete(self) -> bool:
        """Whether every rater was asked about every candidate."""
        return not self._missing_grades(self._all_places())

    def restore(self, scores: Scores) -> None:
        """Take over grades of an earlier run; those that failed are not asked for again."""
        grades = scores.grades
        if grades is None:
            grades = scores.values[:, :, :, None]
        for k, i in self._all_places():
            text = self.candidates[k].text
            for repeat, judge in enumerate(self._judges_of(i)):
                judge_grades = grades[:, k, i, repeat]
                is_missing = bool(np.isnan(judge_grades).any())
                if (k, i) in scores.failed and (scores.grades is None or is_missing):
                    self.failures[judge, text] = InputError("it failed when it was asked for")
                elif not is_missing:
                    self.scores_by_text[judge][text] = judge_grades
        self._update_values()

    def first_scores(self, candidates: Sequence[Candidate]) -> Array:
        """The first rater's grades (1, candidates) of some candidates."""
        return replace(self, candidates=candidates).values[:, :, 0]

    def share_scores(self, text: str, copy: str) -> None:
        """Take over the grades of a text for a copy of it, and which of them failed."""
        super().share_scores(text, copy)
        for judge in range(len(self.scores_by_text)):
            if (judge, text) in self.failures:
                self.failures.setdefault((judge, copy), self.failures[judge, text])

    async def rewrite(self, candidates: Sequence[int]) -> None:
        """Note that there are no rewrites: raters grade the answers as they are."""
        for k in candidates:
            self.rewrites[k] = Rewrites((), ())

    async def fill(self, places: Sequence[SamplePlace]) -> None:
        """Ask raters for grades that are not known yet, each with a call of its own.

        A grade that fails is missing. A limit on calls, or a mistake of the user's, ends it all.

        Args:
            places: The places of the candidate and of the rater.

        Raises:
            PartFailed: If the panel as a whole has failed.
            OutOfCalls: If `max_calls` does not allow all of them.
        """
        missing = self._missing_grades(places)
        affordable = missing
        if self.max_calls is not None:
            affordable = missing[: max(0, self.max_calls - self.counts.calls)]
        self.counts.calls += len(affordable)
        try:
            problem = await self._ask_judges(affordable)
        finally:
            self._update_values()
        if problem is None and self.failures and self._panel_failed():
            problem = next(iter(self.failures.values()))
        if problem is not None:
            raise PartFailed({0: problem}, ["the panel"])
        if len(affordable) < len(missing):
            raise OutOfCalls

    async def _ask_judges(self, grades: Sequence[_GradeKey]) -> Exception | None:
        """Ask for some grades and note those that fail; the first error that ends it all."""
        with self.stage("score"):
            calls = [self._ask_judge(judge, text) for judge, text in grades]
            results = await asyncio.gather(*calls, return_exceptions=True)
        fatal_problem: Exception | None = None
        for grade, problem in zip(grades, results, strict=True):
            if isinstance(problem, OverLimit | InputError | MissingExtra):
                fatal_problem = fatal_problem or problem
            elif isinstance(problem, Exception):
                logger.info("a grade is missing: %s", error_text(problem))
                self.failures[grade] = problem
            elif problem is not None:
                raise problem
        return fatal_problem

    async def _ask_judge(self, judge: int, text: str) -> None:
        grades = await self.scoring.score_texts(judge, self.prompt, [text], self.owner, self.counts)
        # Stored here and not by the caller, whose wait for the other judges a deadline may end.
        self.scores_by_text[judge][text] = np.atleast_1d(grades[0])

    def _panel_failed(self) -> bool:
        """Whether the failures so far fail the panel as a whole."""
        if self.fails_as_a_whole:
            return True
        if any(self.scores_by_text):
            return False
        failed_raters = {judge // self.panel.repeats for judge, _ in self.failures}
        return len(failed_raters) == len(self.panel)

    def _update_values(self) -> None:
        """Compute the samples from the grades that are known."""
        n_criteria = max(1, len(self.panel.criteria))
        shape = (n_criteria, *self.values.shape[1:], self.panel.repeats)
        self.grades: Array = np.full(shape, np.nan)
        for k, i in self._all_places():
            for repeat, judge in enumerate(self._judges_of(i)):
                judge_grades = self.scores_by_text[judge].get(self.candidates[k].text)
                if judge_grades is not None:
                    self.grades[:, k, i, repeat] = judge_grades
        mean_grades = self.grades.mean(axis=0)
        counts = (~np.isnan(mean_grades)).sum(axis=2)
        self.values[0] = np.nansum(mean_grades, axis=2) / np.where(counts, counts, np.nan)
        if self.panel.missing == PESSIMISTIC:
            lowest_grade = self._empty.bounds[0][0]
            for k, i in self._all_places():
                if not counts[k, i] and self._has_failed((k, i)):
                    self.values[0, k, i] = lowest_grade

    def _all_places(self) -> list[SamplePlace]:
        return [(k, i) for i in range(len(self.panel)) for k in range(len(self.candidates))]

    def _judges_of(self, rater: int) -> range:
        """The places of a rater's judges among the scorers, one per repeat."""
        return range(rater * self.panel.repeats, (rater + 1) * self.panel.repeats)

    def _missing_grades(self, places: Sequence[SamplePlace]) -> list[_GradeKey]:
        """The grades that were not asked for yet, each once."""
        grades: dict[_GradeKey, None] = {}
        for k, i in places:
            text = self.candidates[k].text
            for judge in self._judges_of(i):
                is_known = text in self.scores_by_text[judge]
                if not is_known and (judge, text) not in self.failures:
                    grades[judge, text] = None
        return list(grades)

    def _has_failed(self, place: SamplePlace) -> bool:
        k, rater = place
        text = self.candidates[k].text
        return any((judge, text) in self.failures for judge in self._judges_of(rater))
