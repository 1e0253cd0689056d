"""POST /v1/chat/completions, /v1/playground and /v1/select."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from darc.engine.choose import FEW
from darc.engine.deciding import Deciding
from darc.errors import DarcError
from darc.gateway import streaming
from darc.gateway.backends import for_candidates, onward
from darc.gateway.bodies import ScorerScale, SelectScores
from darc.gateway.errors import told
from darc.gateway.metadata import notes
from darc.gateway.proxy import passed_through
from darc.gateway.requests import ChatRequest, Method, count, read_prompt, split_model, wrong
from darc.gateway.service import SMALL, Completed, Gateway
from darc.gateway.streaming import ClosingResponse
from darc.models.remote.protocol import Caller
from darc.registry import rules
from darc.types import Scores
from darc.web.bodies import check_json, ended, read_body, read_object, unless_gone
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

EVENTS = "text/event-stream"
FLAGS = "x-darc-flags"


class ChatEndpoints:
    """What answers conversations, and what chooses among a client's own candidates."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    async def completions(self, request: Request) -> Response:
        """A chat completion, whole or as a stream."""
        content, body = await self._body(request)
        asked = self.gateway.forms.chat(body)
        if asked.k == 1 and self.gateway.backend.passes:
            return await passed_through(self.gateway, request, asked, content)
        work = asyncio.create_task(self._completed(request, asked))
        if not asked.given.stream:
            await unless_gone(request, work)
            return await self._whole(request, work.result())
        done = await unless_gone(request, work, self.gateway.settings.keep_alive)
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        if done:
            headers |= _noted(request, work.result())
        return ClosingResponse(
            self._stream(work, asked), partial(ended, work), media_type=EVENTS, headers=headers
        )

    async def playground(self, request: Request) -> Response:
        """The same as a stream of events: start, candidate, decision, or error."""
        _, body = await self._body(request)
        given = body.get("darc")
        if given is None or isinstance(given, dict):
            body["darc"] = {"full": True, **(given or {}), "metadata": "full"}
        queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

        async def work_on() -> Completed:
            asked = self.gateway.forms.chat(body)
            queue.put_nowait(("start", {"k": asked.k, "model": asked.model}))
            return await self._completed(request, asked, lambda *each: queue.put_nowait(each))

        work = asyncio.create_task(work_on())
        work.add_done_callback(lambda _: queue.put_nowait(("end", None)))
        return ClosingResponse(self._steps(work, queue), partial(ended, work), media_type=EVENTS)

    async def select(self, request: Request) -> Response:
        """The decision among candidates or scores of the client's own, as JSON."""
        content, body = await self._body(request)
        large = len(content) > SMALL
        given = await self.gateway.busily(large, self.gateway.forms.select, body)
        method = self.gateway.forms.method(body.get("darc"))
        request_id = request.state.request_id
        if isinstance(given, SelectScores):
            work = asyncio.create_task(self._by_scores(given, method, request_id))
        else:
            messages = body.get("messages") or [{"role": "user", "content": body["prompt"]}]
            headers = for_candidates(onward(request.headers, self.gateway.trusting))
            model = split_model(given.model or self.gateway.settings.model)[1]
            caller = Caller(self.gateway.backend.name, model, headers)
            texts = given.candidates
            work = asyncio.create_task(
                self.gateway.select(
                    method, read_prompt(messages), texts, given.n, request_id, caller
                )
            )
        await unless_gone(request, work)
        made = await self.gateway.busily(large or method.n_aug > 8, as_json, work.result())
        return Response(made, media_type="application/json")

    async def _body(self, request: Request) -> tuple[bytes, dict[str, Any]]:
        check_json(request)
        content = await read_body(request, self.gateway.settings.max_body)
        return content, await self.gateway.busily(len(content) > SMALL, read_object, content)

    def _placed(self, problem: Problem) -> Problem:
        """An error with the backend's address, where the reader is whoever runs the gateway."""
        upstream = (problem.code or "").startswith("upstream_")
        if not upstream or self.gateway.settings.api_keys is not None:
            return problem
        return replace(problem, message=f"{problem.message} ({self.gateway.backend.name})")

    async def _by_scores(
        self, given: SelectScores, method: Method, request_id: str
    ) -> dict[str, Any]:
        seed, large = self.gateway.settings.seed or 0, count(given.scores) > FEW
        async with self.gateway.gate:
            return await self.gateway.busily(large, by_scores, given, method, request_id, seed)

    async def _completed(self, request: Request, asked: ChatRequest, tell: Any = None) -> Completed:
        headers = onward(request.headers, self.gateway.trusting)
        try:
            return await self.gateway.complete(asked, headers, request.state.request_id, tell=tell)
        except DarcError as problem:
            raise told(problem) from None

    async def _whole(self, request: Request, completed: Completed) -> Response:
        content = await self.gateway.busily(completed.large, as_json, completed.body)
        headers = _noted(request, completed)
        return Response(content, media_type="application/json", headers=headers)

    async def _stream(
        self, work: "asyncio.Task[Completed]", asked: ChatRequest
    ) -> AsyncIterator[bytes]:
        """Comments until the choice is made, then its events, or the error that came of it."""
        try:
            while not work.done():
                yield streaming.KEEP_ALIVE
                await asyncio.wait((work,), timeout=self.gateway.settings.keep_alive)
            if problem := _problem(work):
                yield streaming.error_event(problem)
                return
            completed = work.result()
            body = completed.body
            if completed.flags and "darc" not in body:
                body = {**body, "darc": {"flags": list(completed.flags)}}
            usage = bool(asked.given.stream_options.get("include_usage"))
            for event in streaming.events(body, usage):
                yield event
        finally:
            work.cancel()

    async def _steps(
        self, work: "asyncio.Task[Completed]", queue: "asyncio.Queue[tuple[str, Any]]"
    ) -> AsyncIterator[bytes]:
        try:
            while True:
                try:
                    async with asyncio.timeout(self.gateway.settings.keep_alive):
                        name, data = await queue.get()
                except TimeoutError:
                    yield streaming.KEEP_ALIVE
                    continue
                if name == "end":
                    break
                yield _step(name, data)
            if problem := _problem(work):
                yield _step("error", self._placed(problem).body())
                return
            body = dict(work.result().body)
            yield _step("decision", {**body.pop("darc"), "completion": body})
        finally:
            work.cancel()


def by_scores(given: SelectScores, method: Method, request_id: str, seed: int) -> dict[str, Any]:
    """The decision on scores, what Best-of-K takes of them, and what the rule compared with."""
    spec, options = method.spec, method.options
    missing = [name for name in spec.rule.required() if name not in given.side]
    if missing:
        raise wrong("darc.rule", f"{spec.rule.name!r} needs {' and '.join(missing)} besides scores")
    try:
        values = np.array(given.scores, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise wrong("scores", "must be numbers in lists of one length") from None
    values = values[None] if values.ndim == 2 else values
    if len(given.scorers) not in (0, len(values)):
        raise wrong("scorers", f"must be as many as there are in scores, {len(values)}")
    if options.normalize == "fixed" and not given.scorers:
        raise wrong("darc.normalize", "must be prompt or none for scores of your own")
    if given.raters and len(given.raters) != values.shape[2]:
        raise wrong("raters", f"must be as many as there are in scores, {values.shape[2]}")
    if not given.scorers:
        spec = replace(spec, rule=spec.rule_for(()), calibrations=None)
    known = given.scorers or [ScorerScale(name=f"scorer {m}") for m in range(len(values))]
    scores = Scores(
        values,
        tuple(each.name for each in known),
        tuple(_bounds(*each.bounds) for each in known),
        tuple(each.location for each in known),
        tuple(each.scale for each in known),
        samples=tuple(given.raters),
        sample="rater" if given.raters else "sample",
    )
    deciding = Deciding(spec, options.normalize, seed, options.include_original, given.min_samples)
    try:
        decision = deciding.decide(given.prompt_id, scores, given.side)
        means = replace(deciding, spec=replace(spec, rule=rules.get("mean"), calibrations=None))
        best = means.decide(given.prompt_id, scores, {}).index
    except DarcError as problem:
        raise Problem(400, str(problem), code="invalid_scores", param="scores") from None
    except (ValueError, TypeError):
        raise wrong("side", "does not fit the scores") from None
    facts = {name: fact[0] for name, fact in decision.choice.facts.items() if fact.ndim == 1}
    return {
        **decision.to_dict(),
        "best_of_k": best,
        "facts": {name: float(x) for name, x in facts.items() if isinstance(x, np.number)},
        "notes": notes(decision.flags),
        "request_id": request_id,
    }


def as_json(data: Any) -> bytes:
    """The bytes of an answer."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def _bounds(low: float | None, high: float | None) -> tuple[float, float]:
    return (-np.inf if low is None else low, np.inf if high is None else high)


def _noted(request: Request, completed: Completed) -> Mapping[str, str]:
    """The flags for the log, and as a header."""
    request.state.log = {"flags": list(completed.flags)}
    told = ",".join(completed.flags).encode("ascii", "replace").decode()
    return {FLAGS: told} if told else {}


def _problem(work: "asyncio.Task[Completed]") -> Problem | None:
    """What a request that has ended failed with; what nobody foresaw is in the log."""
    error = work.exception()
    if error is None or isinstance(error, Problem):
        return error
    logger.error("the server failed", exc_info=error)
    return Problem(500, "the server failed", "server_error")


def _step(name: str, data: Any) -> bytes:
    return f"event: {name}\n".encode() + streaming.event(data)
