"""The gateway itself: a request in, the chosen completion out."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from darc.engine.clock import Clock
from darc.engine.side_inputs import SideMaker
from darc.errors import DarcError
from darc.gateway import metadata
from darc.gateway.asked import Asked, read_prompt
from darc.gateway.audit import Audit
from darc.gateway.backend import Backend
from darc.gateway.candidates import Reply, candidates
from darc.gateway.errors import unavailable
from darc.gateway.hands import Hands
from darc.gateway.headers import for_candidates
from darc.gateway.method import Method, check_rule, check_work, rewrites_within
from darc.gateway.metrics import Metrics
from darc.gateway.scoring import Sheet, Workshop
from darc.gateway.selecting import FIRST, Outcome, Selection
from darc.gateway.settings import Settings
from darc.gateway.usage import Spent
from darc.generators.base import Settings as Sampling
from darc.generators.base import candidate_seeds
from darc.models.remote import METER
from darc.types import Prompt
from darc.web.limits import Gate
from darc.web.problems import Problem

Tell = Callable[[str, Any], None]
# Each request has a thread or two at work; all of them wait for servers most of the time.
THREADS_A_REQUEST = 2


@dataclass(frozen=True)
class Completed:
    """A chosen completion, and what is to be said of it in a header."""

    body: dict[str, Any]
    flags: Sequence[str]


class Gateway:
    """Everything that lives as long as the service: backend, scorers, limits, counts."""

    def __init__(
        self, settings: Settings, backend: Backend, workshop: Workshop, side: SideMaker
    ) -> None:
        self.settings, self.backend, self.workshop, self.side = settings, backend, workshop, side
        self.gate = Gate(settings.active, settings.queue)
        self.metrics = Metrics()
        self.audit = Audit(settings.audit, settings.audit_bytes) if settings.audit else None
        self.pool = ThreadPoolExecutor(
            THREADS_A_REQUEST * settings.active, thread_name_prefix="darc-work"
        )
        self.metrics.gauges = {
            "darc_requests_running": lambda: self.gate.running,
            "darc_requests_waiting": lambda: self.gate.waiting,
            "darc_backend_ready": lambda: float(backend.ready()),
        }

    @property
    def trusting(self) -> bool:
        """Whether a client's key is meant for the backend: there is no other that it could be."""
        return self.settings.api_keys is None and not getattr(self.backend, "key", "")

    async def complete(
        self,
        asked: Asked,
        headers: Mapping[str, str],
        request_id: str,
        tell: Tell | None = None,
    ) -> Completed:
        """The completion that the rule chooses; `tell` hears of candidates as they arrive."""
        begun, loop = time.perf_counter(), asyncio.get_running_loop()
        method, prompt = asked.method, read_prompt(asked.body)
        if asked.k > 1:
            self._check(method)
            check_work(method, prompt, asked.k, self.settings)
        limit = method.budget.milliseconds
        deadline = None if limit is None else loop.time() + limit / 1000
        async with self.gate:
            spent, clock, hands = Spent(), Clock(), Hands(self.pool)
            try:
                flags, replies = await self._candidates(
                    asked, prompt, headers, request_id, deadline, spent, clock, tell
                )
                sheet, outcome = await self._chosen(
                    asked, prompt, replies, flags, deadline, hands, spent, clock
                )
            finally:
                hands.cancel()
        total = {**clock.milliseconds, "total": (time.perf_counter() - begun) * 1000}
        row = metadata.decision_row(outcome, len(replies))
        head = {"request_id": request_id, "prompt_id": prompt.id}
        calls = 0 if sheet is None else sheet.calls
        data = metadata.short(row, outcome, replies, method, spent, total, calls, head)
        if method.metadata == "full" and sheet is not None:
            data |= metadata.details(sheet, replies)
        self.metrics.choice(data)
        await self._record(prompt, row, replies, outcome, sheet, request_id, hands)
        body = completion(asked, replies, outcome, spent, request_id)
        if method.metadata or tell is not None:
            body["darc"] = data
        return Completed(body, outcome.flags)

    async def select(
        self, method: Method, prompt: Prompt, texts: Sequence[str], n: int, request_id: str
    ) -> dict[str, Any]:
        """The decision among a client's own candidates."""
        begun, loop = time.perf_counter(), asyncio.get_running_loop()
        self._check(method)
        check_work(method, prompt, len(texts), self.settings, texts)
        limit = method.budget.milliseconds
        deadline = None if limit is None else loop.time() + limit / 1000
        replies = [own_reply(place, text) for place, text in enumerate(texts)]
        async with self.gate:
            spent, clock, hands = Spent(), Clock(), Hands(self.pool)
            try:
                sheet, outcome = await self._select(
                    method, prompt, replies, [], n, method.n_aug, deadline, hands, spent, clock
                )
            finally:
                hands.cancel()
        total = {**clock.milliseconds, "total": (time.perf_counter() - begun) * 1000}
        row = metadata.decision_row(outcome, len(replies))
        head = {"request_id": request_id, "prompt_id": prompt.id}
        data = metadata.short(row, outcome, replies, method, spent, total, sheet.calls, head)
        if method.metadata == "full":
            data |= metadata.details(sheet, replies)
        self.metrics.choice(data)
        await self._record(prompt, row, replies, outcome, sheet, request_id, hands)
        return {**data, "answer": texts[outcome.order[0]]}

    async def aclose(self) -> None:
        """Let go of everything."""
        hands = Hands(self.pool)
        for part in (*self.workshop.engine.scorers, self.workshop.engine.rewriter):
            close = getattr(part, "close", None)
            if close is not None:
                await hands.do(close)
        await self.backend.aclose()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def _check(self, method: Method) -> None:
        """Refuse a rule that cannot be applied as asked, before anything is spent."""
        check_rule(method)
        try:
            self.side.check(method.spec.rule)
        except DarcError as problem:
            raise Problem(400, str(problem), code="invalid_darc", param="darc") from None

    async def _candidates(
        self,
        asked: Asked,
        prompt: Prompt,
        headers: Mapping[str, str],
        request_id: str,
        deadline: float | None,
        spent: Spent,
        clock: Clock,
        tell: Tell | None,
    ) -> tuple[list[str], list[Reply]]:
        body = asked.sent
        hidden = "log_likelihood" in asked.method.spec.rule.required() and asked.k > 1
        hidden = hidden and not body.get("logprobs") and "log_likelihood" not in self.side.scorers
        if hidden:
            body["logprobs"] = True

        def arrived(reply: Reply) -> None:
            if tell is not None:
                tell("candidate", {"index": reply.index, "seed": reply.seed, "text": reply.text})

        token = METER.set(spent.meter("candidates"))
        try:
            with clock.stage("generate"):
                wave = await candidates(
                    self.backend,
                    body,
                    self.seeds(asked, prompt, request_id),
                    for_candidates(headers),
                    seeded=asked.seed is not None,
                    singly=tell is not None,
                    strict=asked.method.policy == "closed",
                    deadline=deadline,
                    arrived=arrived,
                )
        finally:
            METER.reset(token)
        replies = wave.replies
        if hidden:
            replies = [replace(r, choice={**r.choice, "logprobs": None}) for r in replies]
        return wave.flags, replies

    async def _chosen(
        self,
        asked: Asked,
        prompt: Prompt,
        replies: list[Reply],
        flags: list[str],
        deadline: float | None,
        hands: Hands,
        spent: Spent,
        clock: Clock,
    ) -> tuple[Sheet | None, Outcome]:
        if asked.k == 1:
            return None, Outcome([0], None, flags)
        n_aug = asked.method.n_aug
        if asked.forced or any(reply.bound for reply in replies):
            flags, n_aug = [*flags, "not_rewritten"], 0
        if len(replies) == 1:
            return None, Outcome([0], None, [*flags, "one_candidate"])
        fitting = rewrites_within(self.settings, [reply.text for reply in replies], n_aug)
        if fitting != n_aug:
            if asked.method.policy == "closed":
                raise unavailable("the answers are too long to choose among (max_work)", "max_work")
            if fitting is None:
                order = list(range(min(asked.n, len(replies))))
                return None, Outcome(order, None, [*flags, "too_long", FIRST])
            flags, n_aug = [*flags, "fewer_rewrites"], fitting
        return await self._select(
            asked.method, prompt, replies, flags, asked.n, n_aug, deadline, hands, spent, clock
        )

    async def _select(
        self,
        method: Method,
        prompt: Prompt,
        replies: Sequence[Reply],
        flags: list[str],
        n: int,
        n_aug: int,
        deadline: float | None,
        hands: Hands,
        spent: Spent,
        clock: Clock,
    ) -> tuple[Sheet, Outcome]:
        pool = [reply.candidate(prompt.id, place) for place, reply in enumerate(replies)]
        limit = method.budget.calls
        first = 0 if method.include_original or n_aug == 0 else 1
        sheet = Sheet(self.workshop, prompt, pool, n_aug + 1, hands, spent, clock, limit, first)
        selection = Selection(sheet, method, hands, self.side, self.settings.seed or 0, flags)
        return sheet, await selection.best(n, deadline)

    async def _record(
        self,
        prompt: Prompt,
        row: Mapping[str, Any],
        replies: Sequence[Reply],
        outcome: Outcome,
        sheet: Sheet | None,
        request_id: str,
        hands: Hands,
    ) -> None:
        if self.audit is None:
            return
        answer = replies[outcome.order[0]].text
        line = {"prompt_id": prompt.id, **row, "answer": answer, "request_id": request_id}
        if sheet is not None:
            line |= metadata.audit_scores(sheet)
        await hands.do(self.audit.add, line)

    def seeds(self, asked: Asked, prompt: Prompt, request_id: str) -> list[int]:
        """A seed a candidate: the client's plus i, or derived from the request or the prompt."""
        if asked.seed is not None:
            return [asked.seed + i for i in range(asked.k)]
        fixed = self.settings.seed
        name = prompt.id if fixed is not None else request_id
        return candidate_seeds(Sampling(k=asked.k, seed=fixed or 0), name)


def completion(
    asked: Asked, replies: Sequence[Reply], outcome: Outcome, spent: Spent, request_id: str
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
        "usage": spent.total(),
    }


def own_reply(place: int, text: str) -> Reply:
    """A candidate that the client brings."""
    choice = {"index": place, "message": {"role": "assistant", "content": text}}
    return Reply(place, choice, None, {}, text, False, len(text.split()), None)
