"""A judge that compares pairs of answers in both orders, for one rater of a panel."""

import asyncio
import itertools
import random

from darc.models.completion import Completion, Request
from darc.models.remote.openai import OpenAIModel
from darc.parts.scorers import grades, judge_prompts
from darc.parts.scorers.judge import PanelJudge
from darc.types import Prompt

# Up to this many answers every pair is compared, and beyond it a chain of pairs.
_MAX_FOR_ALL_PAIRS = 4
#: What a comparison that the order decides counts for.
TIE = 0.5


class PairJudge(PanelJudge):
    """A judge that says which of two answers its rater prefers."""

    async def prefer_left(self, prompt: Prompt, left: str, right: str, *, retry: bool) -> float:
        """Compare two answers in both orders.

        Args:
            prompt: The conversation that the answers belong to.
            left: An answer.
            right: Another answer.
            retry: Whether a call that fails is tried again.

        Returns:
            1 if `left` is preferred in both orders, 0 if `right` is, and 0.5 if the order decides.

        Raises:
            Unreadable: If a reply names neither answer.
        """
        first, second = await self.prefer_shown_first(prompt, left, right, retry=retry)
        if first == second:
            return TIE
        return float(first)

    async def prefer_shown_first(
        self, prompt: Prompt, left: str, right: str, *, retry: bool
    ) -> tuple[bool, bool]:
        """Whether the answer that is shown first is preferred, with `left` first and `right` first.

        Without `retry` a call that fails is not tried again.

        Raises:
            Unreadable: If a reply names neither answer.
        """
        requests = [self._pair_request(prompt, *pair) for pair in ((left, right), (right, left))]
        if isinstance(self.model, OpenAIModel):
            replies = await self.model.complete_async(requests, retry=retry)
        else:
            replies = await asyncio.to_thread(self.model.complete, requests)
        left_first, right_first = (self._prefers_first(reply) for reply in replies)
        return left_first, right_first

    def _pair_request(self, prompt: Prompt, first: str, second: str) -> Request:
        return Request(
            messages=judge_prompts.comparison_messages(prompt, first, second, self.view),
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            top_p=1.0,
            seed=self.seed,
            log_probabilities=False,
        )

    def _prefers_first(self, reply: Completion) -> bool:
        probability = grades.first_is_better((), reply.text)
        if probability is None:
            raise self._unreadable(reply, "letter")
        return probability > TIE


def number_of_pairs(answers: int) -> int:
    """How many pairs of answers a rater compares."""
    if answers <= _MAX_FOR_ALL_PAIRS:
        return answers * (answers - 1) // 2
    return answers - 1


def pairs_to_compare(answers: int, seed: int) -> list[tuple[int, int]]:
    """The pairs that a rater compares.

    Args:
        answers: The number of answers.
        seed: Raters with different seeds compare different pairs.

    Returns:
        All pairs of few answers, otherwise a chain through all of them in random order.
    """
    if answers <= _MAX_FOR_ALL_PAIRS:
        return [(i, j) for i in range(answers) for j in range(i + 1, answers)]
    chain = list(range(answers))
    random.Random(seed).shuffle(chain)
    return list(itertools.pairwise(chain))
