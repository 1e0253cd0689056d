"""Having a backend write the candidates of a request."""

import json
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from darc.engine.engine import Engine
from darc.engine.failures import PartFailed
from darc.engine.flags import FEWER_CANDIDATES, MODEL_FAILED
from darc.engine.stopping import StopRule
from darc.engine.waves import WaveDrawing
from darc.errors import DarcError
from darc.models.remote.errors import BackendError, OverLimit
from darc.models.remote.gathering import gather_or_cancel
from darc.models.remote.meter import CURRENT_METER
from darc.models.remote.sampling import ChoiceRequest, sample_choices
from darc.parts.generators.base import TOP_TOKENS, SamplingParameters, candidate_seeds
from darc.serve.job import Job
from darc.serve.model_mix import ModelShare, divide_candidates
from darc.serve.replies import Reply, read_reply
from darc.serve.requests import ChatRequest
from darc.serve.settings import ServeSettings
from darc.types import Candidate
from darc.web.problems import Problem

# A choice, after the answer that it stands in.
_AnswerAndChoice = tuple[dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class WrittenReplies:
    """What the models have written for a request."""

    #: In the order of the candidates.
    replies: list[Reply]
    #: What did not come, and why.
    flags: list[str]
    #: How the candidates were drawn, if in waves.
    drawing: WaveDrawing | None = None


class CandidateWriter:
    """Has models write candidates."""

    def __init__(self, settings: ServeSettings, engine: Engine) -> None:
        """Make a writer; the engine scores candidates that are drawn in waves."""
        self._settings = settings
        self._engine = engine

    async def write(
        self, request: ChatRequest, job: Job, models: Sequence[ModelShare], first: int = 0
    ) -> WrittenReplies:
        """Have the candidates of a request written.

        Args:
            request: The request.
            job: The request's job, whose meters count the calls.
            models: The models that write.
            first: The place of the first candidate. Later ones have other seeds than those before,
                and are not drawn in waves.

        Raises:
            DarcError: No candidate came, or one did not and the policy of the job is closed.
            Problem: The time was up before any candidate came.
        """
        body = request.candidate_body()
        adds_log_probabilities = self._needs_log_probabilities(request)
        if adds_log_probabilities:
            body["logprobs"] = True
            if self._engine.tools.needs_log_probabilities:
                body["top_logprobs"] = TOP_TOKENS
        seeds = self._seeds(request, job, first)
        calls = _BackendCalls(
            job=job,
            models=models,
            owners=divide_candidates([model.share for model in models], request.k, seeds[0]),
            body=body,
            seeds=seeds,
            first=first,
        )
        stopping = job.method.stopping
        token = CURRENT_METER.set(job.stage_meters["candidates"])
        try:
            with job.clock.stage("generate"):
                if stopping is not None and request.k > 1 and first == 0:
                    written = await self._draw_in_waves(request, job, calls, stopping)
                else:
                    # A call for several choices does not say which seed made which, and they
                    # arrive together.
                    use_n = request.body.seed is None and job.on_event is None
                    written = await calls.collect_all(use_n)
        finally:
            CURRENT_METER.reset(token)
        if not adds_log_probabilities:
            return written
        return replace(written, replies=[_without_log_probabilities(r) for r in written.replies])

    async def _draw_in_waves(
        self, request: ChatRequest, job: Job, calls: "_BackendCalls", stopping: StopRule
    ) -> WrittenReplies:
        """Write some candidates at a time, until more are not worth it."""
        drawing = WaveDrawing(
            samples=self._engine.new_samples(
                job.prompt, job.method.options.budget.calls, job.engine_meters
            ),
            k=request.k,
            stopping=stopping.at_least(request.body.n),
            write_wave=calls.start_wave,
            strict=job.fail_closed,
            longest=self._settings.max_candidate_characters,
            deadline=job.deadline,
            choices=request.body.n,
        )
        candidates = await drawing.candidates()
        written = calls.collect([candidate.index for candidate in candidates])
        return WrittenReplies(written.replies, [*written.flags, *drawing.flags], drawing)

    def _needs_log_probabilities(self, request: ChatRequest) -> bool:
        """Whether rule or scorers need log-probabilities that the client has not asked for."""
        if request.k > 1 and self._engine.tools.needs_log_probabilities:
            return not request.backend_body.get("logprobs")
        if request.k == 1 or "log_likelihood" not in request.method.method.rule.required():
            return False
        is_scored_here = "log_likelihood" in self._engine.side_inputs.scorers
        return not (request.backend_body.get("logprobs") or is_scored_here)

    def _seeds(self, request: ChatRequest, job: Job, first: int) -> list[int]:
        """A seed per candidate, from the request, or from the settings and the prompt."""
        if request.body.seed is not None:
            start = request.body.seed + first
            return list(range(start, start + request.k))
        sampling = SamplingParameters(
            k=request.k, seed=self._settings.request_seed or 0, first=first
        )
        if self._settings.request_seed is None:
            return candidate_seeds(sampling, job.request_id)
        return candidate_seeds(sampling, job.prompt.id)


@dataclass
class _BackendCalls:
    """Calls to one or several models for the candidates of one request.

    If the policy of the job is closed a call that fails is the end. Otherwise there is one reply
    fewer, and a flag.
    """

    job: Job
    #: The models that write.
    models: Sequence[ModelShare]
    #: For each candidate, the place of its model.
    owners: Sequence[int]
    #: The body of a call for one choice.
    body: Mapping[str, Any]
    #: One seed per candidate.
    seeds: Sequence[int]
    #: The place of the first candidate, for those who hear of them.
    first: int = 0
    _replies: dict[int, Reply] = field(default_factory=dict)
    _failures: list[DarcError] = field(default_factory=list)
    #: The models that were called.
    _called: set[int] = field(default_factory=set)

    async def collect_all(self, use_n: bool) -> WrittenReplies:
        """Collect a reply per seed; at the deadline, those that have come.

        Args:
            use_n: Whether one call may ask a model for all of its candidates.
        """
        parts = [self._collect_from(owner, use_n) for owner in sorted(set(self.owners))]
        in_time = await gather_or_cancel(parts)
        written = self.collect(sorted(self._replies))
        if all(in_time):
            return written
        return WrittenReplies(written.replies, ["budget_milliseconds", *written.flags])

    def start_wave(self, first: int, count: int) -> list[Awaitable[Candidate | None]]:
        """Return a call for each of some candidates; those not needed may be cancelled."""
        return [self._write_one(place) for place in range(first, first + count)]

    def collect(self, places: Sequence[int]) -> WrittenReplies:
        """Return the replies at some places, without those that never end.

        Raises:
            DarcError: There are none, because calls failed.
            Problem: There are none, because the time was up.
        """
        has_endless = any(reply.is_endless for reply in self._replies.values())
        if not places and not has_endless:
            if self._failures:
                raise self._failures[0]
            message = "the budget ended before any answer came"
            raise Problem(422, message, code="budget", param="darc.budget.milliseconds")
        flags = []
        if has_endless or self._failures:
            flags.append(FEWER_CANDIDATES)
        if self._failures:
            flags += [f"{MODEL_FAILED}:{name}" for name in self._silent_models()]
        if any(isinstance(failure, OverLimit) for failure in self._failures):
            flags.append("budget_upstream")
        answers = [place for place in places if not self._replies[place].is_endless]
        if not answers:
            answers = [min(self._replies)]
        return WrittenReplies([self._replies[place] for place in answers], flags)

    async def _collect_from(self, owner: int, use_n: bool) -> bool:
        """Collect the replies of one model; False if the time was up first."""
        backend = self.models[owner].backend
        places = [place for place, number in enumerate(self.owners) if number == owner]
        request = ChoiceRequest(
            ask=partial(self._ask, owner),
            body=self.body,
            seeds=[self.seeds[place] for place in places],
            identity=_message_identity,
            use_n=use_n and backend.supports_n,
            strict=self.job.fail_closed,
            deadline=self.job.deadline,
            on_choice=lambda sample: self._add(sample.choice, places[sample.index], sample.seed),
        )
        with self._failing_alone(owner):
            samples = await sample_choices(request)
            self._failures += samples.failures
            if use_n and samples.choices and not samples.supports_n:
                backend.supports_n = False
            return not samples.deadline_passed
        return True

    @contextmanager
    def _failing_alone(self, owner: int) -> Iterator[None]:
        """Note the failure of one of several models, or name the model in it."""
        try:
            yield
        except OverLimit:
            raise
        except DarcError as failure:
            if not self.job.is_mixed:
                raise
            if self.job.fail_closed:
                raise PartFailed({0: failure}, [f"the model {self.models[owner].name}"]) from None
            self._failures.append(failure)

    async def _ask(self, owner: int, body: dict[str, Any]) -> list[_AnswerAndChoice]:
        model = self.models[owner]
        self._called.add(owner)
        if model.name:
            body = {**body, "model": model.name}
        token = CURRENT_METER.set(self.job.use_of_model(model.name).meter)
        try:
            answer = await model.backend.answer(body, self.job.headers)
        finally:
            CURRENT_METER.reset(token)
        return [(answer, choice) for choice in sorted(answer["choices"], key=_choice_index)]

    async def _write_one(self, place: int) -> Candidate | None:
        seed = self.seeds[place]
        owner = self.owners[place]
        choices: list[_AnswerAndChoice] = []
        with self._failing_alone(owner):
            try:
                choices = await self._ask(owner, {**self.body, "seed": seed})
            except BackendError as failure:
                if self.job.fail_closed:
                    raise
                self._failures.append(failure)
        if not choices:
            return None
        reply = self._add(choices[0], place, seed)
        if reply.is_endless:
            return None
        return reply.candidate

    def _add(self, answer_and_choice: _AnswerAndChoice, place: int, seed: int | None) -> Reply:
        answer, choice = answer_and_choice
        model = self.models[self.owners[place]].name
        reply = read_reply(self.job.prompt.id, answer, choice, place, seed, model)
        self._replies[place] = reply
        self.job.use_of_model(model).candidates += 1
        event = {"index": self.first + place, "seed": seed, "text": reply.text}
        if self.job.is_mixed:
            event["model"] = model
        self.job.report("candidate", event)
        return reply

    def _silent_models(self) -> list[str]:
        """The models that were called and have written nothing, where there are others."""
        if not self.job.is_mixed:
            return []
        writers = {self.owners[place] for place in self._replies}
        return [self.models[owner].name for owner in sorted(self._called - writers)]


def _message_identity(answer_and_choice: _AnswerAndChoice) -> str:
    _, choice = answer_and_choice
    return json.dumps(choice["message"], sort_keys=True)


def _choice_index(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    if isinstance(index, int):
        return index
    return 0


def _without_log_probabilities(reply: Reply) -> Reply:
    return replace(reply, choice={**reply.choice, "logprobs": None})
