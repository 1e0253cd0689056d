"""Where answers come from: a server behind a URL, or several, or the model in this process."""

import asyncio
import json
import logging
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.errors import DarcError
from darc.models.embedded import EmbeddedModel, refused
from darc.models.remote.address import CHAT_PATH, base_url
from darc.models.remote.bodies import parse_object
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import BackendError, ErrorStatus, Malformed, Redirected
from darc.models.remote.meter import begin_call, count_usage
from darc.models.remote.protocol import read_models
from darc.models.remote.response import Response as Answer
from darc.models.remote.retry import is_retryable_status
from darc.serve.errors import as_problems, too_large, unavailable, upstream_problem
from darc.serve.requests import wrong
from darc.serve.streaming import BrokeOff, ClosingResponse, event
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

WHOLE = 1_000_000
LONGEST_LINE = 4_000_000


class RemoteBackend(AsyncClient):
    """Any server that speaks OpenAI's protocol, or several of the same, with | between their URLs.

    All calls go through the client that all of DARC uses, with its `options`. What is passed
    through keeps its bytes, status and headers. No line of a stream longer than `longest_line` is
    passed on. `several` is set to False once it has turned out not to give several choices a call.
    """

    passes = True

    def __init__(self, url: str, *, longest_line: int = LONGEST_LINE, **options: Any) -> None:
        super().__init__(base_url(url), **options)
        self.name = self.url
        self.several = True
        self._longest_line = longest_line

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """The answer to a chat completion, tried again where that may help."""
        return await self.ask(CHAT_PATH, completion, body, headers)

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The models that the server lists."""
        with as_problems():
            return await self.ask("/models", read_models, None, headers)

    async def forward(
        self, request: Request, path: str, headers: Mapping[str, str], content: bytes
    ) -> Response:
        """What the server says at a path, byte by byte as it comes.

        Streams, and large answers to anything but chat completions, are passed on as they come; all
        else is read first. What says it is JSON and is not, or breaks off, is asked for again.
        Errors in another shape than OpenAI's are put into it.
        """
        query, found = request.scope["query_string"].decode("latin-1"), list[Response | Problem]()

        async def use(answer: Answer) -> None:
            found.append(await self._passed(answer, request.method, path == CHAT_PATH))
            if is_retryable_status(answer.status):
                message = f"{answer.url} answered {answer.status}"
                raise ErrorStatus(
                    message, status=answer.status, retry_after=self.retry_after(answer)
                )

        # An error that does not pass is the answer.
        with as_problems(), suppress(ErrorStatus):
            await self.call(
                request.method,
                f"{path}?{query}" if query else path,
                use,
                headers=headers,
                content=content,
                retry=request.method in ("GET", "HEAD")
                or (request.method, path) == ("POST", CHAT_PATH),
            )
        if isinstance(found[-1], Problem):
            raise found[-1]
        return found[-1]

    async def _passed(self, answer: Answer, method: str, chat: bool) -> Response | Problem:
        """An answer for the client; raises what makes it none."""
        status, length = answer.status, answer.headers.get("Content-Length", "")
        if 300 <= status < 400 and status != 304:
            raise Redirected(answer.url, status, answer.headers.get("Location"))
        large = not chat and not (length.isdecimal() and int(length) <= WHOLE)
        result: Response
        if method == "HEAD":
            result = Response(b"", status)
        elif status >= 400:
            return self._error(answer, await answer.read(self.max_bytes))
        elif status < 300 and (large or _is_events(answer)):
            answer.keep_open = True
            parts = _parts(answer, self._longest_line)
            result = ClosingResponse(parts, answer.aclose, status_code=status)
        else:
            body = await answer.read(self.max_bytes, as_sent=True)
            claims = chat or answer.headers.get("Content-Type", "").startswith("application/json")
            if status == 200 and claims and "Content-Encoding" not in answer.headers:
                try:
                    json.loads(body)
                except (ValueError, RecursionError):
                    message = f"{answer.url} answered with something that is not JSON"
                    raise Malformed(message) from None
            result = Response(body, status)
        result.raw_headers = back(answer.raw_headers)
        return result

    def _error(self, answer: Answer, body: bytes) -> Response | Problem:
        """An error of the server as it is, or else its words in OpenAI's shape."""
        text = body.decode("utf-8", "replace")
        if "\ufffd" in text and "Content-Encoding" in answer.headers:
            text = ""  # compressed in a way that is not known here
        inner = parse_object(text).get("error")
        if not (isinstance(inner, dict) and isinstance(inner.get("message"), str)):
            return upstream_problem(answer.status, text, self.retry_after(answer))
        result = Response(body, answer.status)
        kept = back(answer.raw_headers, b"content-encoding", b"content-length")
        result.raw_headers = [*kept, (b"content-length", b"%d" % len(body))]
        return result


def completion(answer: Any) -> dict[str, Any]:
    """An answer that is a chat completion with at least one choice."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not choices or not isinstance(choices, list):
        raise Malformed("no chat completion")
    if not all(isinstance(c, dict) and isinstance(c.get("message"), dict) for c in choices):
        raise Malformed("choices without a message")
    if not isinstance(answer.get("usage") or {}, dict):
        raise Malformed("a usage that is no object")
    return answer


def _is_events(answer: Answer) -> bool:
    return answer.headers.get("Content-Type", "").startswith("text/event-stream")


async def _parts(answer: Answer, longest_line: int) -> AsyncIterator[bytes]:
    """The bytes of an answer; one that breaks off ends with an error event, if it is a stream."""
    readable = _is_events(answer) and "Content-Encoding" not in answer.headers
    line = 0
    try:
        async for part in answer.chunks():
            if readable:
                first, *others = part.split(b"\n")
                if max(line + len(first), *map(len, others), 0) > longest_line:
                    yield b"\n\n" + event(too_large("max_line", longest_line).body())
                    return
                line = len(others[-1]) if others else line + len(first)
            yield part
    except BackendError as lost:
        if not readable:
            raise BrokeOff(str(lost)) from None
        logger.warning("%s", lost)
        problem = unavailable("the backend broke off", "upstream_broke_off")
        yield b"\n\n" + event(problem.body())


HOP = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
NOT_SENT = HOP | {
    "host", "content-length", "authorization", "cookie", "expect", "forwarded", "origin",
    "referer", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
}  # fmt: skip
NOT_SENT_BACK = {name.encode() for name in HOP | {"set-cookie", "server", "date", "alt-svc"}}
# What the client of all of DARC says itself.
MADE = {"accept", "accept-encoding", "content-type"}


def back(headers: Iterable[tuple[bytes, bytes]], *changed: bytes) -> list[tuple[bytes, bytes]]:
    """A backend's headers for the client, without those that are `changed`."""
    left = NOT_SENT_BACK.union(changed)
    # Cookies and cross-origin permissions of another site have no meaning on this one.
    return [
        (name.lower(), value)
        for name, value in headers
        if name.lower() not in left and not name.lower().startswith(b"access-control-")
    ]


NAME = "embedded"
FORWARDED = {
    "messages", "temperature", "top_p", "seed", "stop", "logprobs", "top_logprobs",
    "max_tokens", "max_completion_tokens", "response_format", "tools", "tool_choice",
    "parallel_tool_calls", "presence_penalty", "frequency_penalty", "logit_bias",
}  # fmt: skip
# These change nothing about the answer of a model that runs here.
MEANINGLESS = {"model", "user", "metadata", "store", "service_tier", "safety_identifier"}


class EmbeddedBackend:
    """The installed model; a field that it does not know is refused, not dropped.

    A request that has not begun is dropped when its client leaves; one that runs is finished.
    """

    name = NAME
    key = ""
    passes = False

    def __init__(self, model: EmbeddedModel, max_tokens: int = 320) -> None:
        self.several = False
        self._model = model
        self._max_tokens = max_tokens
        self._pool = ThreadPoolExecutor(model.slots, thread_name_prefix="darc-answer")

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """One choice from the model."""
        loop, fields = asyncio.get_running_loop(), self.fields(body)
        begin_call(self.name)
        answer = await loop.run_in_executor(self._pool, self._model.chat, fields)
        count_usage(answer)
        if "error" in answer or not answer.get("choices"):
            raise refused(answer)
        head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": NAME}
        return {**answer, **head}

    def fields(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What the model is given; refuses what it cannot honour."""
        for name in body:
            if name not in FORWARDED | MEANINGLESS:
                raise wrong(name[:80], "is not supported by the embedded model")
        for place, message in enumerate(body["messages"]):
            content = message.get("content")
            if isinstance(content, list) and any(part.get("type") != "text" for part in content):
                raise wrong(f"messages.{place}.content", "has parts other than text")
        result = {name: body[name] for name in body if name in FORWARDED}
        newer = result.pop("max_completion_tokens", None)
        limit = newer if newer is not None else result.get("max_tokens")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise wrong("max_tokens", "is no whole number")
        result["max_tokens"] = self._max_tokens if limit is None else max(1, limit)
        if isinstance(result.get("seed"), int):
            result["seed"] = result["seed"] % (2**32 - 1)
        return result

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The one model."""
        return [{"id": NAME, "object": "model", "created": 0, "owned_by": "darc"}]

    async def forward(
        self, request: Request, path: str, headers: Mapping[str, str], content: bytes
    ) -> Response:
        """Nothing to pass on to."""
        raise Problem(404, f"there is no {path} without a --backend", code="not_found")

    def warm(self) -> None:
        """Load the model."""
        answer = self._model.chat(
            {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
        )
        if "error" in answer:
            raise DarcError("the embedded model does not answer", "run: darc models install")

    def ready(self) -> bool:
        """Always, once it is loaded."""
        return True

    async def aclose(self) -> None:
        """Free the model's memory."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._model.close)


Backend = RemoteBackend | EmbeddedBackend
