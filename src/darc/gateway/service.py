"""The gateway itself: a request in, the chosen completion out."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from darc.engine.choose import FEW, FIRST
from darc.engine.deciding import Deciding
from darc.engine.engine import Engine
from darc.engine.outcome import Outcome
from darc.engine.samples import PartFailed
from darc.engine.stopping import Stopping, WaveDrawing
from darc.errors import DarcError
from darc.gateway import metadata
from darc.gateway.backends import Backend, for_candidates
from darc.gateway.candidates import (
    Reply,
    ReplyCalls,
    Spent,
    Work,
    check_work,
    own_reply,
    rewrites_within,
)
from darc.gateway.errors import told, unavailable
from darc.gateway.metadata import Audit
from darc.gateway.requests import ChatRequest, Forms, Method, has_media, read_prompt, unfit
from darc.gateway.settings import ServeSettings
from darc.gateway.telemetry import Metrics, Tracing
from darc.generators.base import Settings as Sampling
from darc.generators.base import candidate_seeds
from darc.models.remote.http import METER
from darc.models.remote.problems import OverLimit
from darc.models.remote.protocol import CALLER, Caller
from darc.types import Prompt
from darc.web.clients import Gate
from darc.web.problems import Problem

Result = TypeVar("Result")
Tell = Callable[[str, Any], None]
# Bytes of JSON that are read without a thread of their own.
SMALL = 50_000


@dataclass(frozen=True)
class Completed:
    """A chosen completion, and what is to be said of it in a header.

    `large` says that it takes its time to be written as JSON.
    """

    body: dict[str, Any]
    flags: Sequence[str]
    large: bool = False


class Gateway:
    """Everything that lives as long as the service: backend, engine, limits, counts."""

    def __init__(
        self,
        settings: ServeSettings,
        backend: Backend,
        engine: Engine,
        tracing: Tracing | None = None,
    ) -> None:
        self.settings, self.backend, self.engine = settings, backend, engine
        self.tracing = tracing or Tracing()
        self.forms = Forms(settings)
        self.gate = Gate(settings.active, settings.queue)
        self.audit = Audit(settings.audit, settings.audit_bytes) if settings.audit else None
        self.metrics = Metrics(
            {
                "darc_requests_running": lambda: self.gate.running,
                "darc_requests_waiting": lambda: self.gate.waiting,
                "darc_backend_ready": lambda: float(backend.ready()),
            }
        )

    @property
    def trusting(self) -> bool:
        """Whether a client's key is meant for the backend: there is no other that it could be."""
        return self.settings.api_keys is None and not self.backend.key

    async def complete(
        self,
        asked: ChatRequest,
        headers: Mapping[str, str],
        request_id: str,
        tell: Tell | None = None,
    ) -> Completed:
        """The completion that the rule chooses; `tell` hears of candidates as they arrive."""
        work = Work(asked.method, read_prompt(asked.body["messages"]), request_id)
        CALLER.set(Caller(self.backend.name, asked.model, for_candidates(headers)))
        if asked.k > 1:
            self._check(work, asked.k)
        with self.tracing.chat(asked, headers) as span:
            async with self.gate:
                flags, replies, drawn = await self._candidates(asked, work, headers, tell)
                outcome = await self._chosen(asked, work, replies, flags, drawn)
                outcome = outcome if drawn is None else replace(outcome, saved=drawn.saved)
            data = await self._told(work, replies, outcome)
            body = completion(asked, replies, outcome, work.spent, request_id)
            self.tracing.chosen(span, outcome, body)
        if work.method.options.metadata or tell is not None:
            body["darc"] = data
        return Completed(body, outcome.flags, is_large(outcome))

    async def select(
        self,
        method: Method,
        prompt: Prompt,
        texts: Sequence[str],
        n: int,
        request_id: str,
        caller: Caller,
    ) -> dict[str, Any]:
        """The decision among a client's own candidates."""
        CALLER.set(caller)
        work = Work(method, prompt, request_id)
        self._check(work, len(texts), texts)
        replies = [own_reply(place, text) for place, text in enumerate(texts)]
        async with self.gate:
            outcome = await self._decided(work, replies, [], n, method.n_aug)
        return {**await self._told(work, replies, outcome), "answer": outcome.answer}

    async def busily(self, large: bool, function: Callable[..., Result], *arguments: Any) -> Result:
        """What a function returns, in a thread where it is `large`, one at a time."""
        if not large:
            return function(*arguments)
        made: Result = await self.engine.workers.in_turn(object(), function, *arguments)
        return made

    async def aclose(self) -> None:
        """Let go of everything."""
        await self.engine.aclose()
        await asyncio.to_thread(self.tracing.close)
        await self.backend.aclose()

    def _check(self, work: Work, k: int, texts: Sequence[str] = ()) -> None:
        """Refuse what cannot be chosen as asked, before anything is spent."""
        try:
            self.engine.side.check(work.method.spec.rule)
        except DarcError as problem:
            raise unfit(problem) from None
        check_work(work.method, work.prompt, k, self.settings, texts)

    async def _candidates(
        self, asked: ChatRequest, work: Work, headers: Mapping[str, str], tell: Tell | None
    ) -> tuple[list[str], list[Reply], WaveDrawing | None]:
        body = asked.sent
        hidden = "log_likelihood" in asked.method.spec.rule.required() and asked.k > 1
        known = "log_likelihood" in self.engine.side.scorers
        hidden = hidden and not body.get("logprobs") and not known
        if hidden:
            body["logprobs"] = True

        def arrived(reply: Reply) -> None:
            if tell is not None:
                tell("candidate", {"index": reply.index, "seed": reply.seed, "text": reply.text})

        drawing, strict, sent = None, asked.method.closed, for_candidates(headers)
        seeds = self.seeds(asked, work.prompt, work.request_id)
        calls = ReplyCalls(self.backend, body, seeds, sent, strict, arrived, work.prompt.id)
        token = METER.set(work.spent.meter("candidates"))
        try:
            with work.clock.stage("generate"):
                if asked.method.stopping is not None and asked.k > 1:
                    drawing = self._drawing(asked, work, asked.method.stopping, calls)
                    taken = [each.index for each in await drawing.candidates()]
                    replies, flags = calls.taken(taken)
                    flags += drawing.flags
                else:
                    several = asked.given.seed is None and tell is None
                    replies, flags = await calls.all(several, work.deadline)
        except PartFailed as failed:
            raise part_failed(failed) from None
        finally:
            METER.reset(token)
        if hidden:
            replies = [replace(r, choice={**r.choice, "logprobs": None}) for r in replies]
        return flags, replies, drawing

    def _drawing(
        self, asked: ChatRequest, work: Work, stopping: Stopping, calls: ReplyCalls
    ) -> WaveDrawing:
        """What takes candidates as long as they are worth their cost."""
        meters = {name: work.spent.meter(f"{name}s") for name in ("rewrite", "score")}
        return WaveDrawing(
            self.engine.samples(work.prompt, work.method.budget.calls, meters),
            asked.k,
            stopping.at_least(asked.given.n),
            calls.wave,
            calls.strict,
            self.settings.max_candidate_characters,
            work.deadline,
        )

    async def _chosen(
        self,
        asked: ChatRequest,
        work: Work,
        replies: list[Reply],
        flags: list[str],
        drawn: WaveDrawing | None,
    ) -> Outcome:
        """The outcome for what the backend has answered, which may be nothing to choose from."""
        if asked.k == 1:
            return self._taken(work, replies, 1, flags)
        n_aug = asked.method.n_aug
        rated = self.settings.parts.panel is not None
        if not rated and (asked.forced or any(reply.bound for reply in replies)):
            flags, n_aug = [*flags, "not_rewritten"], 0
        if has_media(asked.body["messages"]):
            flags = [*flags, "text_only"]
        if len(replies) == 1:
            return self._taken(work, replies, 1, [*flags, "one_candidate"])
        if not any(reply.text.strip() for reply in replies):
            if asked.method.closed:
                raise unavailable("no answer has any text to be scored", "no_text")
            return self._taken(work, replies, asked.given.n, [*flags, "no_text", FIRST])
        fitting = rewrites_within(self.settings, [reply.text for reply in replies], n_aug)
        if fitting != n_aug:
            if asked.method.closed:
                raise unavailable("the answers are too long to choose among (max_work)", "max_work")
            if fitting is None:
                return self._taken(work, replies, asked.given.n, [*flags, "too_long", FIRST])
            flags, n_aug = [*flags, "fewer_rewrites"], fitting
        return await self._decided(work, replies, flags, asked.given.n, n_aug, drawn)

    def _taken(self, work: Work, replies: Sequence[Reply], n: int, flags: Sequence[str]) -> Outcome:
        """The first replies, without any comparison."""
        pool = [reply.candidate(work.prompt.id, place) for place, reply in enumerate(replies)]
        order = list(range(min(n, len(pool))))
        return Outcome(work.prompt, pool, {}, self.engine.tools.scores(pool, 0), None, order, flags)

    async def _decided(
        self,
        work: Work,
        replies: Sequence[Reply],
        flags: list[str],
        n: int,
        n_aug: int,
        drawn: WaveDrawing | None = None,
    ) -> Outcome:
        """The engine's outcome; a part that failed is a 503 if the policy is closed."""
        method, spent, most = work.method, work.spent, work.method.options.wave
        try:
            return await self.engine.decide(
                work.prompt,
                [reply.candidate(work.prompt.id, place) for place, reply in enumerate(replies)],
                deciding=Deciding(
                    method.spec,
                    method.options.normalize,
                    self.settings.seed or 0,
                    include_original=method.options.include_original or n_aug == 0,
                    min_samples=self.settings.parts.min_samples,
                ),
                n=n,
                n_aug=n_aug,
                full=method.options.full,
                strict=method.closed,
                calls=method.budget.calls,
                deadline=work.deadline,
                # Of a panel no more than a grade for each answer at a time.
                wave=min(most, len(replies)) if self.settings.parts.panel else most,
                flags=flags,
                clock=work.clock,
                meters={"rewrite": spent.meter("rewrites"), "score": spent.meter("scores")},
                drawn=drawn,
            )
        except PartFailed as failed:
            raise part_failed(failed) from None
        except OverLimit as limit:
            raise told(limit) from None
        except DarcError as problem:
            raise unfit(problem) from None

    async def _told(self, work: Work, replies: Sequence[Reply], outcome: Outcome) -> dict[str, Any]:
        """What is said of a choice, counted and written down."""
        data, row = await self.busily(is_large(outcome), metadata.described, work, replies, outcome)
        if work.method.options.metadata == "full":
            data |= await asyncio.to_thread(self._beside, outcome)
        self.metrics.choice(data)
        if self.audit is not None:
            head = {"prompt_id": work.prompt.id, **row, "answer": outcome.answer}
            line = {**head, "request_id": work.request_id, **metadata.audit_scores(outcome)}
            await asyncio.to_thread(self.audit.add, line)
        return data

    def _beside(self, outcome: Outcome) -> dict[str, Any]:
        """What a rule may take besides scores, as far as it costs no model's call."""
        side = replace(self.engine.side, scorers={})
        return {
            "notes": metadata.notes(outcome.flags),
            "decided": [] if outcome.decision is None else list(outcome.decision.flags),
            "min_samples": self.settings.parts.min_samples,
            "side": side.make(outcome.prompt, outcome.candidates),
        }

    def seeds(self, asked: ChatRequest, prompt: Prompt, request_id: str) -> list[int]:
        """A seed a candidate: the client's plus i, or derived from the request or the prompt."""
        if asked.given.seed is not None:
            return [asked.given.seed + i for i in range(asked.k)]
        fixed = self.settings.seed
        name = prompt.id if fixed is not None else request_id
        return candidate_seeds(Sampling(k=asked.k, seed=fixed or 0), name)


def part_failed(failed: PartFailed) -> Problem:
    """A 503 for a part that failed, or for the limit that made it."""
    limit = next((each for each in failed.causes.values() if isinstance(each, OverLimit)), None)
    return told(limit) if limit else unavailable(str(failed), "part_failed")


def is_large(outcome: Outcome) -> bool:
    """Whether there is so much to say that saying it takes a while."""
    return outcome.scores.values.size > FEW


def completion(
    asked: ChatRequest, replies: Sequence[Reply], outcome: Outcome, spent: Spent, request_id: str
) -> dict[str, Any]:
    """The chosen choices as one chat completion."""
    chosen = [replies[k] for k in outcome.order]
    choices = [{**reply.choice, "index": place} for place, reply in enumerate(chosen)]
    head = dict(chosen[0].head)
    head.pop("darc", None)
    return {
        **head,
        "id": f"chatcmpl-{request_id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": head.get("model") or asked.model,
        "choices": choices,
        "usage": spent.total(outcome.panel()["saved"] if outcome.rated else None),
    }
