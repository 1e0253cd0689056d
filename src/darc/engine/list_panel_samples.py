"""The samples of a panel whose raters see all answers at once."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from darc.engine.failures import OutOfCalls, PartFailed, error_text
from darc.engine.panel_samples import PanelSamples
from darc.engine.samples import SamplePlace
from darc.errors import DarcError, InputError, MissingExtra
from darc.models.remote.errors import OverLimit, Rejected
from darc.parts.scorers.list_judge import ListJudge, UnreadableList

logger = logging.getLogger(__name__)

# The place of a judge among the scorers, and the texts that it grades in one call.
_ListKey = tuple[int, tuple[str, ...]]


@dataclass
class RetryAllowance:
    """How many calls of a request may still be made again."""

    left: int = 1

    def take(self) -> bool:
        """Take one, if there is one left."""
        if self.left <= 0:
            return False
        self.left -= 1
        return True


@dataclass(kw_only=True)
class ListPanelSamples(PanelSamples):
    """The grades (1, K, n) of the candidates by n raters who see all of them at once.

    A call is one list of grades. An unusable reply or a failing call is made once more, one of a
    request in all, so that the number of calls has a limit whatever the judges do.
    """

    #: Whether every failing call is tried again as often as the client does.
    patient: bool = False
    #: The calls of this request that may be made again.
    retries: RetryAllowance = field(default_factory=RetryAllowance)

    async def fill(self, places: Sequence[SamplePlace]) -> None:
        """Ask raters for grades that are not known yet, with one call per rater.

        Args:
            places: The places of the candidate and of the rater.

        Raises:
            PartFailed: If the panel as a whole has failed.
            OutOfCalls: If `max_calls` does not allow all of them.
        """
        lists = self._missing_lists(places)
        affordable = lists
        if self.max_calls is not None:
            affordable = lists[: max(0, self.max_calls - self.counts.calls)]
        try:
            problem = await self._ask_for_lists(affordable)
        finally:
            self._update_values()
        if problem is None and self.failures and self._panel_failed():
            problem = next(iter(self.failures.values()))
        if problem is not None:
            raise PartFailed({0: problem}, ["the panel"])
        if len(affordable) < len(lists):
            raise OutOfCalls

    def _missing_lists(self, places: Sequence[SamplePlace]) -> list[_ListKey]:
        """The texts that each judge has not been asked about, divided into calls."""
        texts_of_judge: dict[int, list[str]] = {}
        for judge, text in self._missing_grades(places):
            texts_of_judge.setdefault(judge, []).append(text)
        lists: list[_ListKey] = []
        for judge, texts in sorted(texts_of_judge.items()):
            lists += [(judge, tuple(part)) for part in self._list_judge(judge).parts(texts)]
        return lists

    async def _ask_for_lists(self, lists: Sequence[_ListKey]) -> Exception | None:
        """Ask for lists of grades and note those that fail; the first error that ends it all.

        A server that has not been asked for such a list yet gets one call first, which shows in
        which form it takes the others.
        """
        first_calls: list[_ListKey] = []
        other_calls: list[_ListKey] = []
        new_models: set[int] = set()
        for key in lists:
            judge = self._list_judge(key[0])
            is_new = judge.needs_first_call and id(judge.model) not in new_models
            if is_new:
                new_models.add(id(judge.model))
                first_calls.append(key)
            else:
                other_calls.append(key)
        problem: Exception | None = None
        with self.stage("score"):
            for calls in (first_calls, other_calls):
                problem = problem or await self._ask_at_once(calls)
        return problem

    async def _ask_at_once(self, lists: Sequence[_ListKey]) -> Exception | None:
        if not lists:
            return None
        calls = [self._ask_for_list(judge, texts) for judge, texts in lists]
        results = await asyncio.gather(*calls, return_exceptions=True)
        fatal_problem: Exception | None = None
        for (judge, texts), problem in zip(lists, results, strict=True):
            if isinstance(problem, OverLimit | InputError | MissingExtra):
                fatal_problem = fatal_problem or problem
            elif isinstance(problem, Exception):
                logger.info("grades are missing: %s", error_text(problem))
                for text in texts:
                    self.failures[judge, text] = problem
            elif problem is not None:
                raise problem
        return fatal_problem

    async def _ask_for_list(self, judge: int, texts: tuple[str, ...]) -> None:
        """Ask a judge for a list of grades, a second time if that is allowed."""
        try:
            await self._call_judge(judge, texts)
        except (OverLimit, Rejected, InputError, MissingExtra):
            raise
        except DarcError as problem:
            if not self._may_call_again():
                raise
            reply = None
            if isinstance(problem, UnreadableList):
                reply = problem.reply
            await self._call_judge(judge, texts, reply)

    async def _call_judge(
        self, judge: int, texts: tuple[str, ...], unreadable_reply: str | None = None
    ) -> None:
        self.counts.calls += 1
        understood = self._unsupported_fields(judge)
        grades = await self.scoring.grade_list(
            judge,
            self.prompt,
            texts,
            self.counts,
            retry=self.patient,
            unreadable_reply=unreadable_reply,
        )
        if self._unsupported_fields(judge) != understood:
            # The server refused a form of the request at first, which was a call as well.
            self.counts.calls += 1
            self.retries.take()
        for text, row in zip(texts, grades, strict=True):
            self.scores_by_text[judge][text] = row

    def _may_call_again(self) -> bool:
        if self.max_calls is not None and self.counts.calls >= self.max_calls:
            return False
        return self.patient or self.retries.take()

    def _list_judge(self, judge: int) -> ListJudge:
        part = self.tools.scorers[judge].part
        assert isinstance(part, ListJudge)
        return part

    def _unsupported_fields(self, judge: int) -> frozenset[str]:
        return getattr(self._list_judge(judge).model, "unsupported", frozenset())
