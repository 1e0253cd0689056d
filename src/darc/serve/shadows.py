"""Choosing in the background for some requests, to see what it would change."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from darc.engine.outcome import Outcome
from darc.errors import DarcError
from darc.models.remote.caller import CURRENT_CALLER, Caller
from darc.models.remote.meter import count_tokens
from darc.serve import metadata
from darc.serve.audit import AuditLog
from darc.serve.choosing import Chooser
from darc.serve.job import Job
from darc.serve.metrics import Metrics
from darc.serve.model_mix import ModelMix
from darc.serve.prompts import read_prompt, with_definitions
from darc.serve.replies import Reply, read_reply
from darc.serve.requests import ChatRequest
from darc.serve.settings import ServeSettings
from darc.serve.shadow_row import StageCost, cost_of, same_answer, shadow_row
from darc.types import Prompt
from darc.web.problems import Problem
from darc.web.request_gate import RequestGate
from darc.web.shared_gate import SharedGate

logger = logging.getLogger(__name__)

# How long a shadow waits until live requests leave room, and how often it looks.
_WAIT_SECONDS = 30.0
_LOOK_SECONDS = 0.05
_PERCENT = 100.0

#: Writes the candidates of a request and chooses among them.
WriteAndChoose = Callable[[ChatRequest, Job], Awaitable[tuple[list[Reply], Outcome]]]


@dataclass(frozen=True)
class AnsweredRequest:
    """A request that the client has an ordinary answer to."""

    request: ChatRequest
    request_id: str
    #: For whom the models are called.
    caller: Caller
    #: The chat completion that the client got.
    completion: Mapping[str, Any]
    #: How long it took.
    seconds: float


@dataclass
class ShadowUse:
    """What trying out takes, counted over all readings of the settings."""

    #: How many requests are being tried out.
    running: int = 0
    #: The tokens of all of them so far.
    tokens: int = 0


@dataclass(frozen=True)
class ShadowTools:
    """What shadows are made with."""

    #: The models that write. They have connections of their own, so that their failures and their
    #: load do not touch live requests.
    mix: ModelMix
    write_and_choose: WriteAndChoose
    chooser: Chooser
    #: The live requests, which come first.
    gate: RequestGate | SharedGate
    metrics: Metrics
    audit_log: AuditLog | None
    use: ShadowUse


class _Skipped(Exception):
    """There is nothing to compare."""


class Shadows:
    """Answers some requests a second time, in the background, by choosing among several answers.

    Nothing waits for it and nothing that fails in it reaches a request. At most `shadow_active`
    run at a time; further ones are dropped and counted. A shadow begins when live requests leave
    half of the places free.
    """

    def __init__(self, settings: ServeSettings, tools: ShadowTools) -> None:
        """Make it, with the share of requests and the limits of the settings."""
        self._settings = settings
        self._tools = tools
        self._share = (settings.shadow or 0.0) / _PERCENT
        self._tasks: set[asyncio.Task[None]] = set()

    def is_due(self, request: ChatRequest, request_id: str) -> bool:
        """Whether a request is to be tried out: a fixed share, by the hash of the request's id."""
        return request.k > 1 and is_in_share(request_id, self._share)

    def start(self, answered: AnsweredRequest) -> None:
        """Try a request out in the background; it returns at once and never raises."""
        use = self._tools.use
        if use.running >= self._settings.shadow_active:
            self._tools.metrics.count_shadow_end("dropped")
            return
        limit = self._settings.shadow_tokens
        if 0 < limit <= use.tokens:
            self._tools.metrics.count_shadow_end("over_budget")
            return
        task = asyncio.create_task(self._run_safely(answered))
        use.running += 1
        self._tasks.add(task)
        task.add_done_callback(self._forget)

    async def aclose(self) -> None:
        """Cancel what runs, and release the connections."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._tools.mix.aclose()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tools.use.running -= 1
        self._tasks.discard(task)

    async def _run_safely(self, answered: AnsweredRequest) -> None:
        """Try a request out, and count how that ended."""
        end = "failed"
        try:
            if await self._wait_for_room():
                await self._run(answered)
                end = "done"
            else:
                end = "dropped"
        except _Skipped:
            end = "skipped"
        except asyncio.CancelledError:
            end = "cancelled"
            raise
        except (DarcError, Problem) as error:
            fields = {"request_id": answered.request_id}
            logger.warning("a shadow failed: %s", error, extra={"fields": fields})
        except Exception:
            fields = {"request_id": answered.request_id}
            logger.exception("a shadow failed", extra={"fields": fields})
        finally:
            self._tools.metrics.count_shadow_end(end)

    async def _wait_for_room(self) -> bool:
        """Wait until live requests leave half of their places free; False if they do not."""
        gate = self._tools.gate
        end = time.monotonic() + _WAIT_SECONDS
        while gate.waiting or gate.running > self._settings.active // 2:
            if time.monotonic() > end:
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        return True

    async def _run(self, answered: AnsweredRequest) -> None:
        """Choose among several answers, compare the choice with the ordinary one, and report."""
        request = answered.request
        CURRENT_CALLER.set(answered.caller)
        prompt = with_definitions(
            read_prompt(request.backend_body["messages"]), request.backend_body
        )
        ordinary = _read_ordinary(prompt, answered.completion)
        job = await self._make_job(answered, prompt)
        self._tools.chooser.check_workload(job, request.k)
        costs = {"ordinary": _cost_of_ordinary(answered)}
        try:
            began = time.perf_counter()
            replies, outcome = await self._tools.write_and_choose(request, job)
            costs["choosing"] = cost_of(job, time.perf_counter() - began)
        finally:
            self._tools.use.tokens += job.total_meter.tokens
        choice = replies[outcome.index]
        comparison = None
        if not same_answer(ordinary, choice):
            comparing_job = await self._make_job(answered, prompt)
            try:
                began = time.perf_counter()
                comparison = await self._compare(comparing_job, ordinary, choice)
                costs["comparing"] = cost_of(comparing_job, time.perf_counter() - began)
            finally:
                self._tools.use.tokens += comparing_job.total_meter.tokens
        row = shadow_row(ordinary, comparison, costs)
        self._tools.metrics.count_shadow(row)
        await self._log(job, replies, outcome, row)

    async def _make_job(self, answered: AnsweredRequest, prompt: Prompt) -> Job:
        headers = answered.caller.headers
        return Job(
            method=answered.request.method,
            prompt=prompt,
            request_id=answered.request_id,
            headers=headers,
            models=await self._tools.mix.models_for(answered.request, headers),
        )

    async def _compare(self, job: Job, ordinary: Reply, choice: Reply) -> Outcome:
        """Have the panel grade the ordinary answer and the choice, both anew.

        The grades that led to the choice are not used: the largest of several uncertain grades is
        too large on average.
        """
        options = job.method.options.model_copy(update={"full": True})
        job.method = replace(job.method, options=options)
        replies = [
            replace(reply, candidate=replace(reply.candidate, index=place, copies=1))
            for place, reply in enumerate((ordinary, choice))
        ]
        return await self._tools.chooser.decide(job, replies, [], n=1, n_aug=0)

    async def _log(
        self, job: Job, replies: list[Reply], outcome: Outcome, row: dict[str, Any]
    ) -> None:
        """Write the decision, with what the shadow found, to the audit log if there is one."""
        audit_log = self._tools.audit_log
        if audit_log is None:
            return
        decision = metadata.audit_row(job, replies, outcome.to_dict(), outcome)
        await asyncio.to_thread(audit_log.add, {**decision, "shadow": row})


def is_in_share(request_id: str, share: float) -> bool:
    """Whether a request belongs to a share of all requests, by the hash of its id.

    Args:
        request_id: The id of the request.
        share: The share, from 0 to 1.
    """
    digest = hashlib.sha256(request_id.encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2.0**64


def _read_ordinary(prompt: Prompt, completion: Mapping[str, Any]) -> Reply:
    """The answer that the client got, as raters see it.

    Raises:
        _Skipped: There is no text in it.
    """
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _Skipped
    choice = choices[0]
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise _Skipped
    reply = read_reply(prompt.id, completion, choice, 0)
    if not reply.text.strip():
        raise _Skipped
    return reply


def _cost_of_ordinary(answered: AnsweredRequest) -> StageCost:
    usage = answered.completion.get("usage")
    tokens = 0
    if isinstance(usage, Mapping):
        tokens = count_tokens(usage)
    return StageCost(1, tokens, answered.seconds)
