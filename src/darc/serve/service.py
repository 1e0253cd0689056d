"""The gateway itself: a request in, the chosen completion out."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from darc.engine.copies import copy_flags
from darc.engine.decision_search import SMALL_POOL
from darc.engine.engine import Engine
from darc.engine.failures import PartFailed
from darc.engine.flags import FEWER_CANDIDATES, FIRST_CANDIDATE
from darc.engine.outcome import Outcome
from darc.engine.waves import WaveDrawing
from darc.errors import DarcError
from darc.models.remote.caller import CURRENT_CALLER, Caller
from darc.models.remote.errors import OverLimit
from darc.models.remote.meter import CURRENT_METER
from darc.parts.generators.base import SamplingParameters as Sampling
from darc.parts.generators.base import candidate_seeds, drop_failed
from darc.serve import metadata
from darc.serve.backends import MADE, NOT_SENT, Backend
from darc.serve.bodies import SelectTexts
from darc.serve.candidates import Reply, ReplyCalls, Tell, Work, merge_replies, read_reply
from darc.serve.errors import HELD, as_problems, held_problem, unavailable
from darc.serve.metadata import Audit
from darc.serve.requests import (
    ChatRequest,
    Forms,
    Method,
    has_media,
    read_prompt,
    split_model,
    unfit,
    wrong,
)
from darc.serve.settings import ServeSettings
from darc.serve.telemetry import Metrics, Tracing
from darc.types import Prompt
from darc.web.problems import Problem
from darc.web.request_gate import RequestGate

Result = TypeVar("Result")
# A chosen completion, and how it was chosen.
Completed = tuple[dict[str, Any], Outcome]


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
        self.gate = RequestGate(settings.active, settings.queue)
        self.audit = Audit(settings.audit, settings.audit_bytes) if settings.audit else None
        self.metrics = Metrics(
            {
                "darc_requests_running": lambda: self.gate.running,
                "darc_requests_waiting": lambda: self.gate.waiting,
                "darc_backend_ready": lambda: float(backend.ready()),
            }
        )

    def onward(self, headers: Mapping[str, str]) -> dict[str, str]:
        """A client's headers for the backend.

        Its key goes along where the gateway has no keys of its own and none for the backend: then
        it can only be the backend's.
        """
        named = {part.strip().lower() for part in headers.get("connection", "").split(",")}
        left = NOT_SENT | named
        if self.settings.api_keys is None and not self.backend.key:
            left -= {"authorization"}
        return {name.lower(): value for name, value in headers.items() if name.lower() not in left}

    def caller(self, headers: Mapping[str, str], model: str = "") -> Caller:
        """The same for calls that are made here, whose form is ours."""
        kept = {name: value for name, value in self.onward(headers).items() if name not in MADE}
        return Caller(self.backend.name, model, kept)

    async def complete(
        self,
        asked: ChatRequest,
        headers: Mapping[str, str],
        request_id: str,
        tell: Tell | None = None,
    ) -> Completed:
        """The completion that the rule chooses; `tell` hears of candidates as they arrive."""
        caller, prompt = self.caller(headers, asked.model), read_prompt(asked.body["messages"])
        work = Work(asked.method, prompt, request_id, caller.headers, tell)
        CURRENT_CALLER.set(caller)
        if asked.k > 1:
            self._check(work, asked.k)
        with self.tracing.chat(asked, headers) as span, as_problems():
            async with self.gate:
                written, flags, drawn = await self._candidates(asked, work)
                replies, _ = merge_replies(written)
                outcome = await self._chosen(asked, work, replies, flags, drawn)
                if HELD in outcome.flags and asked.method.options.when_held == "more":
                    replies, outcome = await self._more(asked, work, written, outcome, flags, drawn)
                outcome = outcome if drawn is None else replace(outcome, saved=drawn.saved)
            data = await self._metadata(work, replies, outcome)
            if HELD in outcome.flags and asked.method.options.when_held == "refuse":
                raise held_problem(outcome)
            chosen = [replies[k] for k in outcome.order]
            head, left = chosen[0].answer, ("choices", "usage", "object", "darc")
            body = {
                **{name: value for name, value in head.items() if name not in left},
                "id": f"chatcmpl-{request_id}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": head.get("model") or asked.model,
                "choices": [{**each.choice, "index": place} for place, each in enumerate(chosen)],
                "usage": work.usage(outcome.panel()["saved"] if outcome.rated else None),
            }
            self.tracing.chosen(span, outcome, body)
        if work.method.options.metadata:
            body["darc"] = data
        return body, outcome

    async def select(
        self,
        given: SelectTexts,
        prompt: Prompt,
        method: Method,
        headers: Mapping[str, str],
        request_id: str,
    ) -> dict[str, Any]:
        """The decision among a client's own candidates."""
        caller = self.caller(headers, split_model(given.model or self.settings.model)[1])
        CURRENT_CALLER.set(caller)
        work, replies = Work(method, prompt, request_id, caller.headers), []
        self._check(work, len(given.candidates), given.candidates)
        for place, text in enumerate(given.candidates):
            choice = {"index": place, "message": {"role": "assistant", "content": text}}
            replies.append(read_reply(prompt.id, {"choices": [choice]}, choice, place))
            if replies[-1].endless:
                raise wrong(f"candidates.{place}", "is a thought (<think>) that never ends")
        replies, merged = merge_replies(replies)
        if len(merged.places) < len(merged.owners):
            names = [metadata.place_name(place) for place in merged.places]
            replies = [reply.named(name) for reply, name in zip(replies, names, strict=True)]
        with as_problems():
            async with self.gate:
                outcome = await self._decided(work, replies, [], given.n, method.options.n_aug)
            data = await self._metadata(work, replies, outcome)
            return {**metadata.in_places(data, merged), "answer": outcome.answer}

    async def busily(self, large: bool, function: Callable[..., Result], *arguments: Any) -> Result:
        """What a function returns, in a thread where it is `large`, one at a time."""
        if not large:
            return function(*arguments)
        made: Result = await self.engine.workers.compute(object(), function, *arguments)
        return made

    async def aclose(self) -> None:
        """Let go of everything."""
        await self.engine.aclose()
        await asyncio.to_thread(self.tracing.close)
        await self.backend.aclose()

    def _check(self, work: Work, k: int, texts: Sequence[str] = ()) -> None:
        """Refuse what cannot be chosen as asked, or would be too long, before anything is spent.

        Read are each of the `texts`, where they are known yet, once and for each of its rewrites,
        and the prompt once a wave of the k candidates and theirs.
        """
        options, most = work.method.options, self.settings.max_work
        try:
            self.engine.side_inputs.check(work.method.spec.rule)
        except DarcError as problem:
            raise unfit(problem) from None
        samples = self._samples(options.n_aug)
        waves = -(-k * samples // options.wave)
        asked = sum(len(message.content) for message in work.prompt.messages)
        characters = samples * sum(map(len, texts)) + waves * asked
        if characters > most:
            message = (
                f"choosing would read {characters} characters, more than {most} (max_work): "
                "send less text, or ask for a smaller darc.k or darc.n_aug"
            )
            raise Problem(400, message, code="max_work", param="darc")

    def _samples(self, n_aug: int) -> int:
        """How often each candidate is read: by all raters, or with each of its rewrites."""
        panel = self.settings.parts.panel
        return n_aug + 1 if panel is None else len(panel) * panel.repeats

    async def _more(
        self,
        asked: ChatRequest,
        work: Work,
        written: list[Reply],
        outcome: Outcome,
        flags: list[str],
        drawn: WaveDrawing | None,
    ) -> tuple[list[Reply], Outcome]:
        """As many further replies, and the choice among all; nothing new where none can be had.

        What was scored before is not scored again, and the `flags` of the replies that were
        `written` first stay.
        """
        replies, _ = merge_replies(written)
        try:
            further, further_flags, _ = await self._candidates(asked, work, first=asked.k)
        except Problem:
            # The time is up, and there is an answer already.
            return replies, _with_flag(outcome, "budget_milliseconds")
        except DarcError as problem:
            if work.method.options.closed:
                raise
            limited = isinstance(problem, OverLimit)
            return replies, _with_flag(outcome, "budget_upstream" if limited else FEWER_CANDIDATES)
        everything, _ = merge_replies([*written, *further])
        flags = [f"more_candidates:{len(written)}", *flags, *further_flags]
        chosen = await self._chosen(asked, work, everything, flags, drawn)
        if chosen.decision is None:
            return replies, outcome
        return everything, chosen

    async def _candidates(
        self, asked: ChatRequest, work: Work, first: int = 0
    ) -> tuple[list[Reply], list[str], WaveDrawing | None]:
        """The replies, flags that say what did not come, and how they were drawn if in waves.

        Those from a `first` place on have other seeds than the ones before, and are not drawn in
        waves.
        """
        method, settings, body, drawn = work.method, self.settings, asked.sent, None
        known = body.get("logprobs") or "log_likelihood" in self.engine.side_inputs.scorers
        hidden = "log_likelihood" in method.spec.rule.required() and asked.k > 1 and not known
        if hidden:
            body["logprobs"] = True
        if asked.given.seed is not None:
            seeds = [asked.given.seed + first + i for i in range(asked.k)]
        else:
            name = work.request_id if settings.request_seed is None else work.prompt.id
            sampling = Sampling(k=asked.k, seed=settings.request_seed or 0, first=first)
            seeds = candidate_seeds(sampling, name)

        calls = ReplyCalls(self.backend, work, body, seeds, first)
        token = CURRENT_METER.set(work.stages["candidates"])
        try:
            with work.clock.stage("generate"):
                if method.stopping is not None and asked.k > 1 and first == 0:
                    drawn = WaveDrawing(
                        self.engine.new_samples(
                            work.prompt, method.options.budget.calls, work.meters
                        ),
                        asked.k,
                        method.stopping.at_least(asked.given.n),
                        calls.wave,
                        method.options.closed,
                        settings.max_candidate_characters,
                        work.deadline,
                        choices=asked.given.n,
                    )
                    places = [each.index for each in await drawn.candidates()]
                    replies, flags = calls.taken(places)
                    flags += drawn.flags
                else:
                    several = asked.given.seed is None and work.tell is None
                    replies, flags = await calls.all(several)
        finally:
            CURRENT_METER.reset(token)
        if hidden:
            replies = [replace(r, choice={**r.choice, "logprobs": None}) for r in replies]
        return replies, flags, drawn

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
        n, n_aug, closed = asked.given.n, work.method.options.n_aug, work.method.options.closed
        rated = self.settings.parts.panel is not None
        if not rated and (asked.forced or any(reply.bound for reply in replies)):
            flags, n_aug = [*flags, "not_rewritten"], 0
        if has_media(asked.body["messages"]):
            flags = [*flags, "text_only"]
        written = sum(reply.candidate.copies for reply in replies)
        if written == 1:
            return self._taken(work, replies, 1, [*flags, "one_candidate"])
        if not any(reply.text.strip() for reply in replies):
            if closed:
                raise unavailable("no answer has any text to be scored", "no_text")
            return self._taken(work, replies, n, [*flags, "no_text", FIRST_CANDIDATE])
        if len(replies) == 1:
            return self._taken(work, replies, n, flags)
        # How often each could be read within the limits.
        lengths = [len(reply.text) for reply in replies]
        fits = max(lengths) <= self.settings.max_candidate_characters
        times = self.settings.max_work // sum(lengths) if fits else 0
        if times < self._samples(n_aug):
            if closed:
                raise unavailable("the answers are too long to choose among (max_work)", "max_work")
            if rated or not times:
                return self._taken(work, replies, n, [*flags, "too_long", FIRST_CANDIDATE])
            flags, n_aug = [*flags, "fewer_rewrites"], times - 1
        return await self._decided(work, replies, flags, n, n_aug, drawn)

    def _taken(self, work: Work, replies: Sequence[Reply], n: int, flags: Sequence[str]) -> Outcome:
        """The first replies, without any comparison."""
        pool = drop_failed([reply.candidate for reply in replies])
        scores = self.engine.tools.empty_scores(pool, 0)
        order = list(range(len(pool)))[:n]
        flags = [*flags, *copy_flags(pool, n)]
        return Outcome(prompt=work.prompt, candidates=pool, scores=scores, order=order, flags=flags)

    async def _decided(
        self,
        work: Work,
        replies: Sequence[Reply],
        flags: list[str],
        n: int,
        n_aug: int,
        drawn: WaveDrawing | None = None,
    ) -> Outcome:
        """The engine's outcome; a rule that cannot be applied is the request's fault."""
        options, rated = work.method.options, self.settings.parts.panel is not None
        if options.when_held == "more" and work.samples is None:
            work.samples = self.engine.new_samples(work.prompt, options.budget.calls, work.meters)
        try:
            return await self.engine.decide(
                work.prompt,
                drop_failed([reply.candidate for reply in replies]),
                method=replace(
                    work.method.spec,
                    normalize=options.normalize,
                    seed=self.settings.request_seed or 0,
                    include_original=options.include_original or n_aug == 0,
                    min_samples=self.settings.parts.min_samples,
                    standards=work.method.standards,
                    search_mode=options.search,
                ),
                n=n,
                n_aug=n_aug,
                score_everything=options.full,
                strict=options.closed,
                max_calls=options.budget.calls,
                deadline=work.deadline,
                # Of a panel no more than a grade for each answer at a time.
                wave=min(options.wave, len(replies)) if rated else options.wave,
                flags=flags,
                clock=work.clock,
                meters=work.meters,
                samples=work.samples if drawn is None else drawn.samples,
                saved=0 if drawn is None else drawn.saved,
            )
        except (PartFailed, OverLimit):
            raise
        except DarcError as problem:
            raise unfit(problem) from None

    async def _metadata(
        self, work: Work, replies: Sequence[Reply], outcome: Outcome
    ) -> dict[str, Any]:
        """What is said of a choice, counted and written down."""
        large = is_large(outcome)
        data, row = await self.busily(large, metadata.described, work, replies, outcome)
        if work.method.options.metadata == "full":
            # What a rule may take besides scores, as far as it costs no model's call.
            side = replace(self.engine.side_inputs, scorers={})
            decided = [] if outcome.decision is None else list(outcome.decision.flags)
            data |= {
                "notes": metadata.notes(outcome.flags),
                "decided": decided,
                "min_samples": self.settings.parts.min_samples,
                "side": await asyncio.to_thread(side.compute, outcome.prompt, outcome.candidates),
            }
        self.metrics.choice(data)
        if self.audit is not None:
            line = metadata.audit_row(work, row, outcome)
            await asyncio.to_thread(self.audit.add, line)
        return data


def _with_flag(outcome: Outcome, flag: str) -> Outcome:
    """The same outcome with one more flag."""
    return replace(outcome, flags=[*outcome.flags, flag])


def is_large(outcome: Outcome) -> bool:
    """Whether there is so much to say that saying it takes a while."""
    return outcome.scores.values.size > SMALL_POOL
