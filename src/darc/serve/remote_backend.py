"""A backend that is an OpenAI-compatible server."""

import json
import logging
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from darc.models.remote.address import CHAT_PATH, base_url
from darc.models.remote.bodies import parse_object
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import BackendError, ErrorStatus, Malformed, Redirected, TimedOut
from darc.models.remote.protocol import read_models
from darc.models.remote.response import Response as BackendResponse
from darc.models.remote.retry import is_retryable_status
from darc.serve.closing_response import ClosingResponse, StreamInterrupted
from darc.serve.errors import answer_too_large, as_problems, unavailable, upstream_problem
from darc.serve.forwarded_headers import response_headers
from darc.serve.streaming import encode_event
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

# Larger responses, except to chat completions, are passed on as they come.
_MAX_BUFFERED_BYTES = 1_000_000
_MAX_LINE_BYTES = 4_000_000


class RemoteBackend(AsyncClient):
    """Any server that speaks OpenAI's protocol, or several of the same model.

    Calls go through the HTTP client that all of DARC uses. What is passed through keeps its bytes,
    status and headers.
    """

    #: Whether requests can be passed through.
    passes_through = True

    def __init__(
        self,
        url: str,
        *,
        max_line_bytes: int = _MAX_LINE_BYTES,
        stream_seconds: float = math.inf,
        **client_options: Any,
    ) -> None:
        """Make a backend.

        Args:
            url: The server, or several with | between their URLs.
            max_line_bytes: The longest line of a stream that is passed on.
            stream_seconds: How long a stream that is passed on may take in all.
            **client_options: Options of the HTTP client.
        """
        super().__init__(base_url(url), **client_options)
        self.name = self.url
        #: Whether it gives several choices per call, as far as is known.
        self.supports_n = True
        self._max_line_bytes = max_line_bytes
        self._stream_seconds = stream_seconds

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the answer to a chat completion, tried again where that may help."""
        return await self.ask(CHAT_PATH, check_completion, body, headers)

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the models that the server lists."""
        with as_problems():
            return await self.ask("/models", read_models, None, headers)

    async def forward(
        self, request: Request, path: str, headers: Mapping[str, str], content: bytes
    ) -> Response:
        """Pass a request on and return the server's response, byte by byte.

        Streams, and large responses to anything but chat completions, are passed on as they come.
        All others are read first: one that claims to be JSON and is not, or breaks off, is asked
        for again. Errors in another shape than OpenAI's are put into it.

        Args:
            request: The client's request.
            path: The path below /v1.
            headers: The headers for the server.
            content: The body.

        Raises:
            Problem: The server failed.
        """
        url_path = path
        query = request.scope["query_string"].decode("latin-1")
        if query:
            url_path = f"{path}?{query}"
        is_safe = request.method in ("GET", "HEAD")
        is_chat = request.method == "POST" and path == CHAT_PATH
        responses: list[Response | Problem] = []

        async def read_response(response: BackendResponse) -> None:
            responses.append(await self._read_response(response, request.method, path))
            if is_retryable_status(response.status):
                raise ErrorStatus(
                    f"{response.url} answered {response.status}",
                    status=response.status,
                    retry_after=self.retry_after(response),
                )

        # An error that stays after all attempts is the response.
        with as_problems(), suppress(ErrorStatus):
            await self.call(
                request.method,
                url_path,
                read_response,
                headers=headers,
                content=content,
                retry=is_safe or is_chat,
            )
        last_response = responses[-1]
        if isinstance(last_response, Problem):
            raise last_response
        return last_response

    async def _read_response(
        self, response: BackendResponse, method: str, path: str
    ) -> Response | Problem:
        """A response for the client.

        Raises:
            BackendError: It cannot be passed on.
            Redirected: The server sends its callers elsewhere.
        """
        status = response.status
        is_chat = path == CHAT_PATH
        if 300 <= status < 400 and status != 304:
            raise Redirected(response.url, status, response.headers.get("Location"))
        if status >= 400 and method != "HEAD":
            return self._error_response(response, await response.read(self.max_bytes))
        result: Response
        if method == "HEAD":
            result = Response(b"", status)
        elif status < 300 and (_is_event_stream(response) or _is_large(response, is_chat)):
            response.keep_open = True
            chunks = _passed_chunks(response, self._max_line_bytes, self._stream_seconds)
            result = ClosingResponse(chunks, response.aclose, status_code=status)
        else:
            body = await response.read(self.max_bytes, as_sent=True)
            if status == 200 and _claims_json(response, is_chat):
                _require_json(response, body)
            result = Response(body, status)
        result.raw_headers = response_headers(response.raw_headers)
        return result

    def _error_response(self, response: BackendResponse, body: bytes) -> Response | Problem:
        """An error of the server as it is, or its words in OpenAI's shape."""
        text = body.decode("utf-8", "replace")
        if "\ufffd" in text and "Content-Encoding" in response.headers:
            # It is compressed in a way that is not known here.
            text = ""
        error = parse_object(text).get("error")
        if not (isinstance(error, dict) and isinstance(error.get("message"), str)):
            return upstream_problem(response.status, text, self.retry_after(response))
        result = Response(body, response.status)
        changed = (b"content-encoding", b"content-length")
        headers = response_headers(response.raw_headers, changed)
        result.raw_headers = [*headers, (b"content-length", b"%d" % len(body))]
        return result


def check_completion(answer: Any) -> dict[str, Any]:
    """Return an answer if it is a chat completion with at least one choice.

    Raises:
        Malformed: It is not.
    """
    if not isinstance(answer, dict):
        raise Malformed("no chat completion")
    choices = answer.get("choices")
    if not choices or not isinstance(choices, list):
        raise Malformed("no chat completion")
    if not all(_has_message(choice) for choice in choices):
        raise Malformed("choices without a message")
    if not isinstance(answer.get("usage") or {}, dict):
        raise Malformed("a usage that is not an object")
    return answer


def _has_message(choice: Any) -> bool:
    return isinstance(choice, dict) and isinstance(choice.get("message"), dict)


def _is_event_stream(response: BackendResponse) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/event-stream")


def _is_large(response: BackendResponse, is_chat: bool) -> bool:
    """Whether a response is too large to be read first, or does not say its size."""
    if is_chat:
        return False
    length = response.headers.get("Content-Length", "")
    return not (length.isdecimal() and int(length) <= _MAX_BUFFERED_BYTES)


def _claims_json(response: BackendResponse, is_chat: bool) -> bool:
    if "Content-Encoding" in response.headers:
        return False
    return is_chat or response.headers.get("Content-Type", "").startswith("application/json")


def _require_json(response: BackendResponse, body: bytes) -> None:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        message = f"{response.url} answered with something that is not JSON"
        raise Malformed(message) from None


async def _passed_chunks(
    response: BackendResponse, max_line_bytes: int, seconds: float
) -> AsyncIterator[bytes]:
    """The bytes of a response; a stream of events that breaks off ends with an error event."""
    has_readable_events = _is_event_stream(response) and "Content-Encoding" not in response.headers
    line_length = 0
    end = time.monotonic() + seconds
    try:
        async for chunk in response.chunks():
            if time.monotonic() > end:
                raise TimedOut(f"{response.url} took longer than {seconds:g} s (stream_timeout)")
            if has_readable_events:
                first, *others = chunk.split(b"\n")
                longest = max(line_length + len(first), *map(len, others), 0)
                if longest > max_line_bytes:
                    problem = answer_too_large("max_line", max_line_bytes)
                    yield b"\n\n" + encode_event(problem.body())
                    return
                line_length = len(others[-1]) if others else line_length + len(first)
            yield chunk
    except BackendError as error:
        if not has_readable_events:
            raise StreamInterrupted(str(error)) from None
        logger.warning("%s", error)
        problem = unavailable("the backend broke off", "upstream_broke_off")
        yield b"\n\n" + encode_event(problem.body())
