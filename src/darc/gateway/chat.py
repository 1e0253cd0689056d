"""POST /v1/chat/completions and /v1/playground."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.errors import DarcError
from darc.gateway import streaming
from darc.gateway.errors import told
from darc.gateway.proxy import passed_through
from darc.gateway.request import Asked, onward, read_asked
from darc.gateway.select_endpoint import as_json
from darc.gateway.service import SMALL, Completed, Gateway
from darc.gateway.streaming import ClientLeft, ClosingResponse, begun, ended, unless_gone
from darc.web.bodies import read_body, read_object
from darc.web.problems import Problem

EVENTS = "text/event-stream"
LEFT = 499
FLAGS = "x-darc-flags"


class Chat:
    """The two endpoints that answer conversations."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway

    async def completions(self, request: Request) -> Response:
        """A chat completion, whole or as a stream."""
        content = await read_body(request, self.gateway.settings.max_body)
        body = await self.gateway.busily(len(content) > SMALL, read_object, content)
        asked = read_asked(body, self.gateway.settings)
        if asked.k == 1 and self.gateway.backend.passes:
            return await passed_through(self.gateway, request, asked, content)
        work = begun(self._completed(request, asked))
        try:
            if not asked.stream:
                await unless_gone(request, work)
                return await self._whole(request, work.result())
            done = await unless_gone(request, work, self.gateway.settings.keep_alive)
        except ClientLeft:
            return Response(status_code=LEFT)
        headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
        if done:
            flags = work.result().flags
            _note(request, flags)
            headers |= {FLAGS: ascii_only(",".join(flags))} if flags else {}
        return ClosingResponse(
            self._stream(work, asked), partial(ended, work), media_type=EVENTS, headers=headers
        )

    async def playground(self, request: Request) -> Response:
        """The same as a stream of events: start, candidate, decision, or error."""
        content = await read_body(request, self.gateway.settings.max_body)
        body = await self.gateway.busily(len(content) > SMALL, read_object, content)
        given = body.get("darc")
        if given is None or isinstance(given, dict):
            body["darc"] = {"full": True, **(given or {}), "metadata": "full"}
        asked = replace(read_asked(body, self.gateway.settings), stream=False)
        queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        work = begun(self._completed(request, asked, lambda *each: queue.put_nowait(each)))
        work.add_done_callback(lambda _: queue.put_nowait(("end", None)))
        return ClosingResponse(
            self._steps(work, queue, asked), partial(ended, work), media_type=EVENTS
        )

    async def _completed(self, request: Request, asked: Asked, tell: Any = None) -> Completed:
        headers = onward(request.headers, self.gateway.trusting)
        try:
            return await self.gateway.complete(asked, headers, request.state.request_id, tell=tell)
        except DarcError as problem:
            raise told(problem) from None

    async def _whole(self, request: Request, completed: Completed) -> Response:
        content = await self.gateway.busily(completed.large, as_json, completed.body)
        headers = {FLAGS: ascii_only(",".join(completed.flags))} if completed.flags else {}
        _note(request, completed.flags)
        return Response(content, media_type="application/json", headers=headers)

    async def _stream(self, work: "asyncio.Task[Completed]", asked: Asked) -> AsyncIterator[bytes]:
        """Comments until the choice is made, then its events, or the error that came of it."""
        try:
            while not work.done():
                yield streaming.KEEP_ALIVE
                await asyncio.wait((work,), timeout=self.gateway.settings.keep_alive)
            try:
                completed = work.result()
            except Problem as problem:
                yield streaming.error_event(problem)
                return
            except Exception:
                yield streaming.error_event(Problem(500, "the server failed", "server_error"))
                raise
            body = completed.body
            if completed.flags and "darc" not in body:
                body = {**body, "darc": {"flags": list(completed.flags)}}
            for event in streaming.events(body, asked.include_usage):
                yield event
        finally:
            work.cancel()

    async def _steps(
        self,
        work: "asyncio.Task[Completed]",
        queue: "asyncio.Queue[tuple[str, Any]]",
        asked: Asked,
    ) -> AsyncIterator[bytes]:
        try:
            yield _step("start", {"k": asked.k, "model": asked.model})
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
            try:
                body = dict(work.result().body)
                data = body.pop("darc")
                yield _step("decision", {**data, "completion": body})
            except Problem as problem:
                yield _step("error", problem.body())
            except Exception:
                yield _step("error", Problem(500, "the server failed", "server_error").body())
                raise
        finally:
            work.cancel()


def ascii_only(text: str) -> str:
    """A text that fits into a header."""
    return text.encode("ascii", "replace").decode("ascii")


def _note(request: Request, flags: Any) -> None:
    request.state.log = {"flags": list(flags)}


def _step(name: str, data: Any) -> bytes:
    return f"event: {name}\n".encode() + streaming.event(data)
