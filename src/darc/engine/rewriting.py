"""Rewrites candidates for owners in turn.

A long answer takes seconds to rewrite, which must not keep other requests waiting. A rewriter that
runs in a worker process therefore works in slices of a few milliseconds. What it has done so far
travels between the slices as bytes that only the worker processes of this engine write and read.
"""

import asyncio
import threading
from collections.abc import Hashable

from darc.engine.failures import JobTimedOut
from darc.engine.scheduling import FairScheduler
from darc.engine.threads import run_in_thread
from darc.engine.tools import RewriteProgress, Tools
from darc.engine.workers import Workers
from darc.parts.rewriters import Rewrites
from darc.types import Candidate, Prompt

# How long a rewriter may keep a processor before others have their turns, in seconds.
_SLICE_SECONDS = 0.02


class RewriteRunner:
    """Rewrites candidates with the rewriter of an engine.

    Args:
        tools: The tools of the engine, for their rewriter.
        workers: Runs rewriters that are made for worker processes.
        seconds: How long one call of the rewriter may take.
    """

    def __init__(self, tools: Tools, workers: Workers, seconds: float) -> None:
        self._tools = tools
        self._workers = workers
        self._seconds = seconds
        self._scheduler = FairScheduler(tools.rewriter.parallel)

    async def rewrite(
        self, prompt: Prompt, candidate: Candidate, n_aug: int, owner: Hashable
    ) -> Rewrites:
        """Rewrite a candidate.

        Args:
            prompt: The conversation that the candidate answers.
            candidate: The candidate.
            n_aug: How many accepted rewrites to aim for.
            owner: The request this belongs to; owners take turns.

        Returns:
            The accepted and the rejected rewrites.

        Raises:
            JobTimedOut: If a call of the rewriter takes too long.
        """
        rewriter = self._tools.rewriter
        if rewriter.in_process or rewriter.remote:
            return await self._rewrite_in_slices(prompt, candidate, n_aug, owner)
        return await self._rewrite_in_thread(prompt, candidate, n_aug, owner)

    async def _rewrite_in_thread(
        self, prompt: Prompt, candidate: Candidate, n_aug: int, owner: Hashable
    ) -> Rewrites:
        stop = threading.Event()
        try:
            async with self._scheduler.slot(owner):
                return await run_in_thread(
                    self._tools.rewrite,
                    prompt,
                    candidate,
                    n_aug,
                    stop.is_set,
                    seconds=self._seconds,
                )
        finally:
            stop.set()

    async def _rewrite_in_slices(
        self, prompt: Prompt, candidate: Candidate, n_aug: int, owner: Hashable
    ) -> Rewrites:
        progress: RewriteProgress | None = None
        proposals: list[str] | None = None
        while True:
            result: Rewrites | RewriteProgress = await self._workers.call_in_turn(
                owner,
                "rewrite_slice",
                prompt,
                candidate,
                n_aug,
                progress,
                proposals,
                _SLICE_SECONDS,
                seconds=self._seconds,
            )
            if isinstance(result, Rewrites):
                return result
            progress = result
            proposals = None
            if progress.proposal_request is not None:
                proposals = await self._ask_server(prompt, candidate, progress, owner)

    async def _ask_server(
        self, prompt: Prompt, candidate: Candidate, progress: RewriteProgress, owner: Hashable
    ) -> list[str]:
        """Ask a rewriter on a server for the proposals that the next slice needs."""
        assert progress.proposal_request is not None
        async with self._scheduler.slot(owner):
            call = self._tools.rewriter.rewrite_async(
                prompt, candidate.text, *progress.proposal_request
            )
            try:
                return await asyncio.wait_for(call, self._seconds)
            except TimeoutError:
                raise JobTimedOut(f"no answer within {self._seconds:g} s") from None
