"""The endpoints that answer conversations, and POST /v1/playground and /v1/select."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.engine.decision_search import SMALL_POOL
from darc.serve.bodies import SelectScores, SelectTexts
from darc.serve.closing_response import ClosingResponse
from darc.serve.dialects.base import Dialect
from darc.serve.errors import HELD, HELD_HEADER
from darc.serve.prompts import read_prompt
from darc.serve.proxy import pass_chat_through
from darc.serve.requests import ChatRequest, RequestMethod, count_scores
from darc.serve.score_selection import select_by_scores
from darc.serve.service import Completion, Gateway, is_large
from darc.serve.streaming import KEEP_ALIVE, encode_event, encode_json, stream_completion
from darc.web.bodies import check_value_count, parse_json_object, read_body, require_json
from darc.web.disconnects import cancel_and_wait, cancel_if_disconnected
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

_EVENT_STREAM = "text/event-stream"
_FLAGS_HEADER = "x-darc-flags"
# JSON of more bytes is read in a worker thread.
_SMALL_BODY = 50_000
# About what one value of a JSON body takes in memory.
_VALUE_BYTES = 100
# With more rewrites per candidate a decision is encoded in a worker thread.
_FEW_REWRITES = 8

# Events for the client, while a request is answered; an empty one is the end.
_EventQueue = asyncio.Queue[bytes]
_CompletionJob = asyncio.Task[Completion]


class ChatEndpoints:
    """Endpoints that answer conversations, or choose among a client's own candidates."""

    def __init__(self, gateway: Gateway) -> None:
        """Serve a gateway."""
        self._gateway = gateway

    async def completions(self, request: Request) -> Response:
        """Answer a chat completion, whole or as a stream."""
        content, body = await self._read_json(request)
        large = len(content) > _SMALL_BODY
        chat = await self._gateway.run_in_worker(large, self._gateway.reader.read_chat, body)
        is_ordinary = chat.is_passed_through or self._gateway.shadows is not None
        if is_ordinary and self._gateway.backend.passes_through:
            return await pass_chat_through(self._gateway, request, chat, content)
        job = asyncio.create_task(
            self._gateway.complete(
                chat,
                request.headers,
                request.state.request_id,
                log_fields=_log_fields(request),
            )
        )
        if chat.body.stream:
            return await self._stream_chat(request, chat, job)
        await cancel_if_disconnected(request, job)
        completion = job.result()
        large = is_large(completion.outcome)
        encoded = await self._gateway.run_in_worker(large, encode_json, completion.body)
        headers = _flag_headers(completion.outcome.flags)
        return Response(encoded, media_type="application/json", headers=headers)

    async def translated(self, dialect: Dialect, request: Request) -> Response:
        """Answer a request of another API, as a chat completion that is translated back."""
        try:
            return await self._answer_translated(dialect, request)
        except Problem as problem:
            return Response(
                encode_json(dialect.error(problem)),
                problem.status,
                headers=dict(problem.headers),
                media_type="application/json",
            )

    async def _answer_translated(self, dialect: Dialect, request: Request) -> Response:
        content, body = await self._read_json(request)
        large = len(content) > _SMALL_BODY
        run = self._gateway.run_in_worker
        chat_body = await run(large, dialect.chat_body, body)
        chat = await run(large, self._gateway.reader.read_chat, chat_body)
        complete = self._complete_ordinarily if self._gateway.shadows else self._gateway.complete
        job = asyncio.create_task(
            complete(
                chat,
                _bearer_headers(request),
                request.state.request_id,
                log_fields=_log_fields(request),
            )
        )
        if chat.body.stream:
            last_events = partial(_last_translated_events, dialect, body, job)
            return await self._stream_when_ready(request, job, last_events)
        await cancel_if_disconnected(request, job)
        completion = job.result()
        response = dialect.response(body, completion.body)
        encoded = await run(is_large(completion.outcome), encode_json, response)
        headers = _flag_headers(completion.outcome.flags)
        return Response(encoded, media_type="application/json", headers=headers)

    async def _complete_ordinarily(
        self,
        chat: ChatRequest,
        headers: Mapping[str, str],
        request_id: str,
        log_fields: dict[str, Any],
    ) -> Completion:
        """One answer of the backend, of a request that may be tried out in the background."""
        began = time.perf_counter()
        completion = await self._gateway.complete(
            chat.for_one_answer(), headers, request_id, log_fields=log_fields
        )
        seconds = time.perf_counter() - began
        self._gateway.start_shadow(chat, headers, request_id, completion.body, seconds)
        return completion

    async def playground(self, request: Request) -> Response:
        """Answer a chat completion as a stream of events: start, candidate, decision, or error."""
        content, body = await self._read_json(request)
        body = self._with_playground_options(body)
        large = len(content) > _SMALL_BODY
        events: _EventQueue = asyncio.Queue()

        def add_event(name: str, data: Any) -> None:
            events.put_nowait(_named_event(name, data))

        async def complete() -> Completion:
            chat = await self._gateway.run_in_worker(large, self._gateway.reader.read_chat, body)
            add_event("start", {"k": chat.k, "model": chat.model})
            return await self._gateway.complete(
                chat, request.headers, request.state.request_id, add_event, _log_fields(request)
            )

        job = asyncio.create_task(complete())
        return self._stream(job, events, partial(self._last_playground_event, job))

    async def select(self, request: Request) -> Response:
        """Choose among candidates or scores of the client's own."""
        content, body = await self._read_json(request)
        gateway = self._gateway
        large = len(content) > _SMALL_BODY
        select_body = await gateway.run_in_worker(large, gateway.reader.read_select, body)
        method = gateway.reader.read_method(select_body.darc)
        if isinstance(select_body, SelectScores):
            selection = self._select_by_scores(request, select_body, method)
        else:
            selection = self._select_among_texts(request, body, select_body, method)
        job = asyncio.create_task(selection)
        await cancel_if_disconnected(request, job)
        large = large or method.options.n_aug > _FEW_REWRITES
        encoded = await gateway.run_in_worker(large, encode_json, job.result())
        return Response(encoded, media_type="application/json")

    async def _select_by_scores(
        self, request: Request, body: SelectScores, method: RequestMethod
    ) -> dict[str, Any]:
        large = count_scores(body.scores) > SMALL_POOL
        request_id = request.state.request_id
        async with self._gateway.gate:
            return await self._gateway.run_in_worker(
                large, select_by_scores, body, method, request_id
            )

    async def _select_among_texts(
        self,
        request: Request,
        body: Mapping[str, Any],
        select_body: SelectTexts,
        method: RequestMethod,
    ) -> dict[str, Any]:
        messages = body.get("messages")
        if not messages:
            messages = [{"role": "user", "content": body["prompt"]}]
        return await self._gateway.select(
            select_body,
            read_prompt(messages),
            method,
            request.headers,
            request.state.request_id,
            _log_fields(request),
        )

    async def _read_json(self, request: Request) -> tuple[bytes, dict[str, Any]]:
        """The body of a request as it came, and as an object."""
        require_json(request)
        settings = self._gateway.settings
        share = request.state.body_share
        content = await read_body(request, settings.max_body, share)
        large = len(content) > _SMALL_BODY
        run = self._gateway.run_in_worker
        values = await run(large, check_value_count, content, settings.max_values)
        share.grow(values * _VALUE_BYTES)
        return content, await run(large, parse_json_object, content)

    async def _stream_chat(
        self, request: Request, chat: ChatRequest, job: _CompletionJob
    ) -> Response:
        return await self._stream_when_ready(request, job, partial(_last_chat_events, chat, job))

    async def _stream_when_ready(
        self, request: Request, job: _CompletionJob, last_events: Callable[[], Iterable[bytes]]
    ) -> Response:
        """A stream that begins when the choice is made, or after some time without one."""
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        events: _EventQueue = asyncio.Queue()
        if await cancel_if_disconnected(request, job, self._gateway.settings.keep_alive):
            headers |= _flag_headers(job.result().outcome.flags)
        else:
            events.put_nowait(KEEP_ALIVE)
        return self._stream(job, events, last_events, headers)

    def _stream(
        self,
        job: _CompletionJob,
        events: _EventQueue,
        last_events: Callable[[], Iterable[bytes]],
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A stream of events while a job runs.

        Args:
            job: The job, which is cancelled if the client leaves.
            events: Events to send as they come; while there are none, comments are sent.
            last_events: Returns the events after the job is done.
            headers: Headers of the response.
        """

        async def chunks() -> AsyncIterator[bytes]:
            job.add_done_callback(lambda _: events.put_nowait(b""))
            while True:
                try:
                    async with asyncio.timeout(self._gateway.settings.keep_alive):
                        event = await events.get()
                except TimeoutError:
                    event = KEEP_ALIVE
                if not event:
                    break
                yield event
            for event in last_events():
                yield event

        close = partial(cancel_and_wait, job)
        return ClosingResponse(chunks(), close, media_type=_EVENT_STREAM, headers=headers)

    def _with_playground_options(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body of a request by the page, which shows everything about the choice."""
        darc = body.get("darc")
        if darc is not None and not isinstance(darc, dict):
            # It is refused when the request is read.
            return body
        defaults: dict[str, Any] = {"full": True}
        if self._gateway.settings.when_held == "refuse":
            # The page is there to show why none of the answers is good.
            defaults["when_held"] = "flag"
        return {**body, "darc": {**defaults, **(darc or {}), "metadata": "full"}}

    def _last_playground_event(self, job: _CompletionJob) -> Iterator[bytes]:
        problem = _problem_of(job)
        if problem is None:
            body = dict(job.result().body)
            darc = body.pop("darc")
            yield _named_event("decision", {**darc, "completion": body})
            return
        is_upstream = (problem.code or "").startswith("upstream_")
        if is_upstream and self._gateway.settings.api_keys is None:
            # Whoever reads it runs the gateway, and wants to know which server was called.
            problem.message += f" ({self._gateway.backend.name})"
        yield _named_event("error", {**problem.body(), "status": problem.status})


def _last_chat_events(chat: ChatRequest, job: _CompletionJob) -> Iterator[bytes]:
    problem = _problem_of(job)
    if problem is not None:
        yield encode_event(problem.body())
        return
    completion = job.result()
    body = completion.body
    flags = list(completion.outcome.flags)
    if flags:
        body = {"darc": {"flags": flags, "held": HELD in flags}, **body}
    include_usage = bool(chat.body.stream_options.get("include_usage"))
    yield from stream_completion(body, include_usage)


def _last_translated_events(
    dialect: Dialect, body: Mapping[str, Any], job: _CompletionJob
) -> Iterator[bytes]:
    problem = _problem_of(job)
    if problem is not None:
        yield dialect.error_event(problem)
        return
    yield from dialect.events(body, job.result().body)


def _bearer_headers(request: Request) -> Mapping[str, str]:
    """The headers of a request, with the key of x-api-key as backends of OpenAI's kind take it."""
    headers = dict(request.headers)
    key = headers.pop("x-api-key", "")
    if key and "authorization" not in headers:
        headers["authorization"] = f"Bearer {key}"
    return headers


def _named_event(name: str, data: Any) -> bytes:
    return f"event: {name}\n".encode() + encode_event(data)


def _log_fields(request: Request) -> dict[str, Any]:
    """The fields that the line in the log has about a request, to be added to."""
    request.state.log = {}
    fields: dict[str, Any] = request.state.log
    return fields


def _flag_headers(flags: Sequence[str]) -> dict[str, str]:
    """The flags of a choice as headers."""
    headers = {}
    if flags:
        headers[_FLAGS_HEADER] = ",".join(flags).encode("ascii", "replace").decode()
    if HELD in flags:
        headers[HELD_HEADER] = "true"
    return headers


def _problem_of(job: _CompletionJob) -> Problem | None:
    """Why a job failed, None if it did not; unexpected errors are logged."""
    error = job.exception()
    if error is None or isinstance(error, Problem):
        return error
    logger.error("the server failed", exc_info=error)
    return Problem(500, "the server failed", "server_error")
