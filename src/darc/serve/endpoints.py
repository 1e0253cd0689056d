"""POST /v1/chat/completions, /v1/playground and /v1/select."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from darc.engine.decision_search import SMALL_POOL
from darc.errors import DarcError
from darc.serve import streaming
from darc.serve.bodies import ScorerScale, SelectScores
from darc.serve.errors import HELD, HELD_HEADER
from darc.serve.metadata import caution_note, notes
from darc.serve.proxy import passed_through
from darc.serve.requests import Method, count, read_prompt, wrong
from darc.serve.service import Completed, Gateway, is_large
from darc.serve.streaming import ClosingResponse, encoded
from darc.types import Scores
from darc.typing import Array
from darc.web.bodies import parse_json_object, read_body, require_json
from darc.web.disconnects import cancel_and_wait, cancel_if_disconnected
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

EVENTS = "text/event-stream"
# Bytes of JSON that are read without a thread of their own.
SMALL = 50_000
FLAGS = "x-darc-flags"
# What is told of a request as it is worked on; an empty step is the end.
Steps = asyncio.Queue[bytes]


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
        completing = self.gateway.complete(asked, request.headers, request.state.request_id)
        work = asyncio.create_task(completing)
        if not asked.given.stream:
            await cancel_if_disconnected(request, work)
            made, outcome = work.result()
            content = await self.gateway.busily(is_large(outcome), encoded, made)
            headers = _noted(request, outcome.flags)
            return Response(content, media_type="application/json", headers=headers)
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        steps: Steps = asyncio.Queue()
        if await cancel_if_disconnected(request, work, self.gateway.settings.keep_alive):
            headers |= _noted(request, work.result()[1].flags)
        else:
            steps.put_nowait(streaming.KEEP_ALIVE)

        def last() -> Iterator[bytes]:
            if problem := _problem(work):
                yield streaming.event(problem.body())
                return
            made, outcome = work.result()
            if outcome.flags:
                flags = {"flags": list(outcome.flags), "held": HELD in outcome.flags}
                made = {"darc": flags, **made}
            usage = bool(asked.given.stream_options.get("include_usage"))
            yield from streaming.events(made, usage)

        return self._stream(work, steps, last, headers)

    async def playground(self, request: Request) -> Response:
        """The same as a stream of events: start, candidate, decision, or error."""
        _, body = await self._body(request)
        given = body.get("darc")
        if given is None or isinstance(given, dict):
            defaults: dict[str, Any] = {"full": True}
            if self.gateway.settings.when_held == "refuse":
                # The page is there to show why none of the answers is good.
                defaults["when_held"] = "flag"
            body["darc"] = {**defaults, **(given or {}), "metadata": "full"}
        steps: Steps = asyncio.Queue()

        def step(name: str, data: Any) -> bytes:
            return f"event: {name}\n".encode() + streaming.event(data)

        async def completed() -> Completed:
            asked, request_id = self.gateway.forms.chat(body), request.state.request_id
            steps.put_nowait(step("start", {"k": asked.k, "model": asked.model}))
            return await self.gateway.complete(
                asked, request.headers, request_id, lambda *each: steps.put_nowait(step(*each))
            )

        def last() -> Iterator[bytes]:
            if problem := _problem(work):
                upstream = (problem.code or "").startswith("upstream_")
                if upstream and self.gateway.settings.api_keys is None:
                    # Whoever reads it runs the gateway, and wants to know where it called.
                    problem.message += f" ({self.gateway.backend.name})"
                yield step("error", {**problem.body(), "status": problem.status})
                return
            made, _ = work.result()
            yield step("decision", {**made.pop("darc"), "completion": made})

        work = asyncio.create_task(completed())
        return self._stream(work, steps, last)

    async def select(self, request: Request) -> Response:
        """The decision among candidates or scores of the client's own, as JSON."""
        content, body = await self._body(request)
        gateway, request_id = self.gateway, request.state.request_id
        large = len(content) > SMALL
        given = await gateway.busily(large, gateway.forms.select, body)
        method = gateway.forms.method(given.darc)

        async def by_own_scores(given: SelectScores) -> dict[str, Any]:
            seed, many = gateway.settings.request_seed or 0, count(given.scores) > SMALL_POOL
            async with gateway.gate:
                return await gateway.busily(many, by_scores, given, method, request_id, seed)

        if isinstance(given, SelectScores):
            work = asyncio.create_task(by_own_scores(given))
        else:
            messages = body.get("messages") or [{"role": "user", "content": body["prompt"]}]
            prompt = read_prompt(messages)
            selecting = gateway.select(given, prompt, method, request.headers, request_id)
            work = asyncio.create_task(selecting)
        await cancel_if_disconnected(request, work)
        made = await gateway.busily(large or method.options.n_aug > 8, encoded, work.result())
        return Response(made, media_type="application/json")

    async def _body(self, request: Request) -> tuple[bytes, dict[str, Any]]:
        require_json(request)
        content = await read_body(request, self.gateway.settings.max_body)
        return content, await self.gateway.busily(len(content) > SMALL, parse_json_object, content)

    def _stream(
        self,
        work: "asyncio.Task[Completed]",
        steps: Steps,
        last: Callable[[], Iterable[bytes]],
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A stream of steps as they come, comments while there are none, and the last events."""

        async def parts() -> AsyncIterator[bytes]:
            work.add_done_callback(lambda _: steps.put_nowait(b""))
            while True:
                try:
                    async with asyncio.timeout(self.gateway.settings.keep_alive):
                        step = await steps.get()
                except TimeoutError:
                    step = streaming.KEEP_ALIVE
                if not step:
                    break
                yield step
            for event in last():
                yield event

        return ClosingResponse(
            parts(), partial(cancel_and_wait, work), media_type=EVENTS, headers=headers
        )


def by_scores(request: SelectScores, method: Method, request_id: str, seed: int) -> dict[str, Any]:
    """The decision on scores, what Best-of-K takes of them, and what the rule compared with."""
    values = _check_values(request, method)
    scorers = request.scorers or [ScorerScale(name=f"scorer {m}") for m in range(len(values))]
    spec = method.spec
    if not request.scorers:
        spec = spec.bound_to(())
    kind = request.sample_kind
    standards = method.standards
    if kind == "rater" and standards.scale is None:
        standards = replace(standards, scale=_rating_scale(scorers))
    # A decision takes the ratings of a panel to be from 0 to 10, which others need not be.
    unknown_scale = kind == "rater" and standards.scale is None
    scores = Scores(
        values=values,
        scorers=tuple(scorer.name for scorer in scorers),
        bounds=tuple(_finite_or_open(scorer.bounds) for scorer in scorers),
        location=tuple(scorer.location for scorer in scorers),
        scale=tuple(scorer.scale for scorer in scorers),
        samples=tuple(request.raters),
        candidates=tuple(request.names),
        sample="sample" if unknown_scale else kind,
    )
    chosen_method = replace(
        spec,
        normalize=method.options.normalize,
        seed=seed,
        include_original=method.options.include_original or kind == "rater",
        min_samples=request.min_samples,
        standards=standards,
    )
    # Best-of-K has no limit for single ratings.
    no_floor = replace(standards, no_rating_below=None)
    best_of_k = replace(chosen_method.best_of_k, standards=no_floor)
    try:
        decision = chosen_method.decide(request.prompt_id, scores, request.side)
        best = best_of_k.decide(request.prompt_id, scores, {}).index
    except DarcError as problem:
        raise Problem(400, str(problem), code="invalid_scores", param="scores") from None
    except (ValueError, TypeError):
        raise wrong("side", "does not fit the scores") from None
    if kind == "rater" and request.raters:
        labels = replace(decision.labels, raters=tuple(request.raters))
        decision = replace(decision, labels=labels)
    facts = {name: fact[0] for name, fact in decision.choice.facts.items() if fact.ndim == 1}
    return {
        **decision.to_dict(),
        "sample": kind,
        "held": decision.held,
        "best_of_k": best,
        "facts": {name: float(x) for name, x in facts.items() if isinstance(x, np.number)},
        "notes": notes(decision.flags),
        **caution_note(method, kind),
        "request_id": request_id,
    }


def _check_values(request: SelectScores, method: Method) -> Array:
    """The scores as an array (M, K, n); what does not fit together is a 400."""
    rule = method.spec.rule
    missing = [name for name in rule.required() if name not in request.side]
    if missing:
        raise wrong("darc.rule", f"{rule.name!r} needs {' and '.join(missing)} besides scores")
    try:
        values = np.array(request.scores, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise wrong("scores", "must be numbers in lists of one length") from None
    if values.ndim == 2:
        values = values[None]
    if len(request.scorers) not in (0, len(values)):
        raise wrong("scorers", f"must be as many as there are in scores, {len(values)}")
    if method.options.normalize == "fixed" and not request.scorers:
        raise wrong("darc.normalize", "must be prompt or none for scores of your own")
    if request.raters and len(request.raters) != values.shape[2]:
        raise wrong("raters", f"must be as many as there are in scores, {values.shape[2]}")
    if request.names and len(request.names) != values.shape[1]:
        raise wrong("names", f"must be as many as there are candidates, {values.shape[1]}")
    return values


def _finite_or_open(bounds: Sequence[float | None]) -> tuple[float, float]:
    """The bounds of a scorer, infinite where there are none."""
    low, high = bounds
    return -np.inf if low is None else low, np.inf if high is None else high


def _rating_scale(scorers: Sequence[ScorerScale]) -> tuple[float, float] | None:
    """The scale of ratings: the bounds of their only scorer, None where they are not known."""
    if len(scorers) != 1:
        return None
    low, high = scorers[0].bounds
    if low is None or high is None or not low < high:
        return None
    return low, high


def _noted(request: Request, flags: Sequence[str]) -> dict[str, str]:
    """The flags for the log, and as headers."""
    request.state.log = {"flags": list(flags)}
    headers = {}
    if flags:
        headers[FLAGS] = ",".join(flags).encode("ascii", "replace").decode()
    if HELD in flags:
        headers[HELD_HEADER] = "true"
    return headers


def _problem(work: "asyncio.Task[Completed]") -> Problem | None:
    """What a request that has ended failed with; what nobody foresaw is in the log."""
    error = work.exception()
    if error is None or isinstance(error, Problem):
        return error
    logger.error("the server failed", exc_info=error)
    return Problem(500, "the server failed", "server_error")
