"""The gateway: a request in, the chosen completion out."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from darc.engine.decision_search import SMALL_POOL
from darc.engine.engine import Engine
from darc.engine.flags import FEWER_CANDIDATES
from darc.engine.outcome import Outcome
from darc.errors import DarcError
from darc.models.remote.caller import CURRENT_CALLER, Caller
from darc.models.remote.errors import OverLimit
from darc.serve import metadata
from darc.serve.backends import Backend
from darc.serve.bodies import SelectTexts
from darc.serve.candidates import CandidateWriter, WrittenReplies
from darc.serve.choice_facts import choice_facts
from darc.serve.choosing import Chooser
from darc.serve.client_places import place_name, to_client_places
from darc.serve.errors import HELD, as_problems, held_problem
from darc.serve.forwarded_headers import call_headers, request_headers
from darc.serve.job import EventListener, Job
from darc.serve.lasting import LastingParts
from darc.serve.model_mix import ModelMix
from darc.serve.prompts import read_prompt, with_definitions
from darc.serve.replies import Reply, merge_replies, read_reply
from darc.serve.requests import ChatRequest, RequestMethod, RequestReader, split_model
from darc.serve.settings import ServeSettings
from darc.serve.shadows import AnsweredRequest, Shadows, ShadowTools
from darc.serve.validation import invalid_value
from darc.types import Prompt
from darc.web.problems import Problem

Result = TypeVar("Result")


@dataclass(frozen=True)
class Completion:
    """A chosen completion, and how it was chosen."""

    #: The response in OpenAI's shape.
    body: dict[str, Any]
    outcome: Outcome


class Gateway:
    """Answers requests by one reading of the settings."""

    def __init__(self, settings: ServeSettings, engine: Engine, lasting: LastingParts) -> None:
        """Make a gateway.

        Args:
            settings: Its settings.
            engine: What chooses among the candidates.
            lasting: What it keeps when its settings are read again.
        """
        self.settings = settings
        self.engine = engine
        self.lasting = lasting
        self.mix = lasting.mix
        self.gate = lasting.gate
        self.metrics = lasting.metrics
        self.probe = lasting.probe
        self.model_labels = lasting.model_labels
        self.tracing = lasting.tracing
        self.reader = RequestReader(settings)
        self._writer = CandidateWriter(settings, engine)
        self._chooser = Chooser(settings, engine)
        self._audit_log = lasting.audit_log
        #: Tries requests out in the background; None where answers are chosen.
        self.shadows: Shadows | None = None

    def add_shadows(self, mix: ModelMix) -> None:
        """Answer requests as the backend does, and try choosing out in the background.

        Args:
            mix: The models that write in the background, with connections of their own.
        """
        tools = ShadowTools(
            mix=mix,
            write_and_choose=self._write_and_choose,
            chooser=self._chooser,
            gate=self.gate,
            metrics=self.metrics,
            audit_log=self._audit_log,
            use=self.lasting.shadow_use,
        )
        self.shadows = Shadows(self.settings, tools)

    def start_shadow(
        self,
        request: ChatRequest,
        headers: Mapping[str, str],
        request_id: str,
        completion: Mapping[str, Any],
        seconds: float,
    ) -> None:
        """Try a request out in the background, if it is one of those that are.

        Args:
            request: The request.
            headers: Its headers.
            request_id: Its id.
            completion: The chat completion that the client got.
            seconds: How long it took.
        """
        if self.shadows is None or not self.shadows.is_due(request, request_id):
            return
        caller = self.caller(headers, self.mix.judge_model(request.model))
        self.shadows.start(
            AnsweredRequest(
                request=request,
                request_id=request_id,
                caller=caller,
                completion=completion,
                seconds=seconds,
            )
        )

    @property
    def backend(self) -> Backend:
        """The first backend."""
        return self.mix.main

    def backend_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return a client's headers for a request that is passed on."""
        return request_headers(headers, self._forwards_key)

    def caller(self, headers: Mapping[str, str], model: str = "") -> Caller:
        """Return for whom calls are made: their URL, model and headers."""
        return Caller(self.backend.name, model, call_headers(headers, self._forwards_key))

    @property
    def backend_ready(self) -> bool:
        """Whether the backend can be reached, and has not failed too often."""
        return self.lasting.backend_ready

    @property
    def _forwards_key(self) -> bool:
        """Whether a client's key goes to the backend.

        If neither the gateway nor its backend has keys, it can only be the backend's. With several
        servers it is not known which of them it is meant for.
        """
        has_keys = self.settings.api_keys is not None or bool(self.mix.key)
        allowed = self.settings.forwards_client_keys and self.mix.is_one_server
        return allowed and not has_keys

    async def complete(
        self,
        request: ChatRequest,
        headers: Mapping[str, str],
        request_id: str,
        on_event: EventListener | None = None,
        log_fields: dict[str, Any] | None = None,
    ) -> Completion:
        """Answer a chat completion.

        Args:
            request: The request.
            headers: Its headers.
            request_id: Its id.
            on_event: Hears of candidates as they arrive.
            log_fields: Fields of the request's line in the log, which are added to.

        Raises:
            Problem: It cannot be answered.
        """
        caller = self.caller(headers, self.mix.judge_model(request.model))
        CURRENT_CALLER.set(caller)
        prompt = read_prompt(request.backend_body["messages"])
        if self.settings.parts.panel is not None:
            prompt = with_definitions(prompt, request.backend_body)
        job = Job(
            method=request.method,
            prompt=prompt,
            request_id=request_id,
            headers=caller.headers,
            on_event=on_event,
            models=await self.mix.models_for(request, caller.headers),
        )
        if request.k > 1:
            self._chooser.check_workload(job, request.k)
        with self.tracing.chat_span(request, headers) as span, as_problems():
            async with self.gate:
                replies, outcome = await self._write_and_choose(request, job)
            darc = await self._describe(job, replies, outcome, request.model, log_fields)
            if HELD in outcome.flags and request.method.options.when_held == "refuse":
                raise held_problem(outcome)
            body = _completion_body(request, job, replies, outcome)
            self.tracing.record_choice(span, outcome, body)
        if request.method.options.metadata:
            body["darc"] = darc
        return Completion(body, outcome)

    async def select(
        self,
        body: SelectTexts,
        prompt: Prompt,
        method: RequestMethod,
        headers: Mapping[str, str],
        request_id: str,
        log_fields: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Choose among a client's own candidates.

        Args:
            body: The request.
            prompt: What the candidates answer.
            method: How to choose.
            headers: The headers of the request.
            request_id: Its id.
            log_fields: Fields of the request's line in the log, which are added to.

        Returns:
            The decision, with the answer.

        Raises:
            Problem: The candidates cannot be chosen among.
        """
        _, model = split_model(body.model or self.settings.model)
        caller = self.caller(headers, self.mix.judge_model(model))
        CURRENT_CALLER.set(caller)
        job = Job(method, prompt, request_id, caller.headers)
        self._chooser.check_workload(job, len(body.candidates), body.candidates)
        replies, merged = merge_replies(_replies_of_texts(prompt.id, body.candidates))
        if len(merged.places) < len(merged.owners):
            names = [place_name(place) for place in merged.places]
            replies = [reply.with_name(name) for reply, name in zip(replies, names, strict=True)]
        with as_problems():
            async with self.gate:
                outcome = await self._chooser.decide(
                    job, replies, [], n=body.n, n_aug=method.options.n_aug
                )
            darc = await self._describe(job, replies, outcome, model, log_fields)
            return {**to_client_places(darc, merged), "answer": outcome.answer}

    async def run_in_worker(
        self, large: bool, function: Callable[..., Result], *arguments: Any
    ) -> Result:
        """Call a function, in a worker thread if there is much to do, one at a time.

        Args:
            large: Whether there is much to do.
            function: The function.
            *arguments: Its arguments.
        """
        if not large:
            return function(*arguments)
        result: Result = await self.engine.workers.compute(object(), function, *arguments)
        return result

    async def retire(self) -> None:
        """Release what is not kept when the settings are read again."""
        if self.shadows is not None:
            await self.shadows.aclose()
        await self.engine.aclose()

    async def aclose(self) -> None:
        """Release everything."""
        await self.retire()
        await self.lasting.aclose()

    async def _write_and_choose(
        self, request: ChatRequest, job: Job
    ) -> tuple[list[Reply], Outcome]:
        """The replies to a request, and the choice among them."""
        written = await self._writer.write(request, job, job.models)
        replies, _ = merge_replies(written.replies)
        outcome = await self._chooser.choose(request, job, replies, written.flags, written.drawing)
        if HELD in outcome.flags and job.method.options.writes_more:
            replies, outcome = await self._write_more(request, job, written, replies, outcome)
        if written.drawing is not None:
            outcome = replace(outcome, saved=written.drawing.saved)
        return replies, outcome

    async def _write_more(
        self,
        request: ChatRequest,
        job: Job,
        written: WrittenReplies,
        replies: list[Reply],
        outcome: Outcome,
    ) -> tuple[list[Reply], Outcome]:
        """Write as many further replies, by the fallback model if so, and choose among all.

        What was scored before is not scored again. Where no further replies can be had, the first
        `replies` and their `outcome` stay.
        """
        more_flag = f"more_candidates:{len(written.replies)}"
        models = job.models
        if job.method.options.when_held == "fallback":
            more_flag = f"fallback:{self.settings.fallback_model}"
            models = [self.mix.only(self.settings.fallback_model)]
        try:
            further = await self._writer.write(request, job, models, first=request.k)
        except Problem:
            # The time is up, and there is an answer already.
            return replies, _add_flag(outcome, "budget_milliseconds")
        except OverLimit:
            if job.fail_closed:
                raise
            return replies, _add_flag(outcome, "budget_upstream")
        except DarcError:
            if job.fail_closed:
                raise
            return replies, _add_flag(outcome, FEWER_CANDIDATES)
        all_replies, _ = merge_replies([*written.replies, *further.replies])
        flags = [more_flag, *written.flags, *further.flags]
        new_outcome = await self._chooser.choose(request, job, all_replies, flags, written.drawing)
        if new_outcome.decision is None:
            return replies, outcome
        return all_replies, new_outcome

    async def _describe(
        self,
        job: Job,
        replies: Sequence[Reply],
        outcome: Outcome,
        model: str,
        log_fields: dict[str, Any] | None,
    ) -> dict[str, Any]:
        """The `darc` object of a choice, which is also counted and written to both logs."""
        large = is_large(outcome)
        row = await self.run_in_worker(large, outcome.to_dict)
        darc = await self.run_in_worker(large, metadata.describe_choice, job, replies, outcome, row)
        if job.method.options.metadata == "full":
            darc |= await self._describe_fully(outcome)
        facts = choice_facts(job, outcome, darc, model)
        self.metrics.count_choice(facts, self.model_labels.label(model))
        self.metrics.count_cost(darc)
        if log_fields is not None:
            log_fields |= facts.log_fields()
        if job.is_mixed:
            self.metrics.count_models(darc["models"])
        # With shadows, an ordinary answer is not logged, like those that are passed through.
        is_ordinary = self.shadows is not None and job.method.options.k == 1
        if self._audit_log is not None and not is_ordinary:
            line = metadata.audit_row(job, replies, row, outcome)
            await asyncio.to_thread(self._audit_log.add, line)
        return darc

    async def _describe_fully(self, outcome: Outcome) -> dict[str, Any]:
        """What somebody needs besides to decide again."""
        # The side inputs of rules, as far as they cost no call to a model.
        side = replace(self.engine.side_inputs, scorers={})
        decision_flags = []
        if outcome.decision is not None:
            decision_flags = list(outcome.decision.flags)
        return {
            "notes": metadata.flag_notes(outcome.flags),
            "decided": decision_flags,
            "min_samples": self.settings.parts.min_samples,
            "side": await asyncio.to_thread(side.compute, outcome.prompt, outcome.candidates),
        }


def is_large(outcome: Outcome) -> bool:
    """Whether there is so much to say about an outcome that it takes a while."""
    return outcome.scores.values.size > SMALL_POOL


def _add_flag(outcome: Outcome, flag: str) -> Outcome:
    return replace(outcome, flags=[*outcome.flags, flag])


def _replies_of_texts(prompt_id: str, texts: Sequence[str]) -> list[Reply]:
    """A client's own texts as replies."""
    replies = []
    for place, text in enumerate(texts):
        choice = {"index": place, "message": {"role": "assistant", "content": text}}
        reply = read_reply(prompt_id, {"choices": [choice]}, choice, place)
        if reply.is_endless:
            raise invalid_value(f"candidates.{place}", "is reasoning (<think>) that never ends")
        replies.append(reply)
    return replies


def _completion_body(
    request: ChatRequest, job: Job, replies: Sequence[Reply], outcome: Outcome
) -> dict[str, Any]:
    """The chosen replies as one completion, with the usage of all of them."""
    chosen = [replies[index] for index in outcome.order]
    answer = chosen[0].answer
    replaced = ("choices", "usage", "object", "darc")
    saved_calls = None
    if outcome.rated:
        saved_calls = outcome.panel()["saved"]
    return {
        **{name: value for name, value in answer.items() if name not in replaced},
        "id": f"chatcmpl-{job.request_id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.get("model") or chosen[0].model,
        "choices": [{**reply.choice, "index": place} for place, reply in enumerate(chosen)],
        "usage": job.usage(saved_calls),
    }
