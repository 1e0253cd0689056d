"""Calls to one service at one or several URLs, bounded in number and tried again."""

import asyncio
import io
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from darc.errors import DarcError, InputError
from darc.models.remote.address import KEY_ENV, URL_SEPARATOR
from darc.models.remote.balancer import Endpoint, FailedAttempt, LoadBalancer, PlacedCall
from darc.models.remote.bodies import error_message
from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.errors import BackendError, ErrorStatus, Malformed, Redirected, Rejected
from darc.models.remote.meter import begin_call, count_usage
from darc.models.remote.response import Response
from darc.models.remote.retry import (
    RetryClock,
    RetryPolicy,
    is_retryable_status,
    parse_retry_after,
)
from darc.models.remote.session import encode_header, open_session, proxy_for, translate_error

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Reader = Callable[[Response], Awaitable[Result]]

JSON_HEADERS = {
    "user-agent": "darc",
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
}

_MAX_RESPONSE_BYTES = 32_000_000
# The library warns of a blocked loop when it is given more bytes than this as they are.
_MAX_DIRECT_BYTES = 2**20
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
_HINTS = {
    404: "check the URL and the name of the model",
    405: "check the URL",
    413: "send less at a time",
}


@dataclass(frozen=True)
class _HttpRequest(Generic[Result]):
    """What every attempt of a call sends, and how its response is read."""

    method: str
    path: str
    headers: Mapping[str, str]
    content: bytes
    read: Reader[Result]
    #: The most seconds for an attempt, or None.
    seconds: float | None


class AsyncClient:
    """Calls a service over HTTP.

    Connection errors, time-outs, malformed answers and the statuses 408, 409, 425, 429 and 5xx are
    tried again. A call keeps its place among the concurrent ones while it waits to be tried again.
    Cookies are not kept. All calls must be made in one event loop; after `aclose`, or when that
    loop is closed, the client may be used in another.

    Args:
        url: The service. Several URLs, separated by |, are servers of the same service: a call
            goes to the one with the fewest calls under way, and after a failure to another.
        key_env: The environment variable with the key, which is sent in a header only.
        concurrency: The most calls at a time at each URL.
        timeout: The most seconds for one attempt.
        max_bytes: The largest answer that is read.
        retry: When a failed call is tried again, whichever URL it goes to.
        breaker: When a URL that fails is left alone.
        clock: The time, for tests.

    Raises:
        InputError: An argument is out of range, or the key cannot be sent in a header.
    """

    def __init__(
        self,
        url: str,
        *,
        key_env: str = KEY_ENV,
        concurrency: int = 16,
        timeout: float = 120.0,
        max_bytes: int = _MAX_RESPONSE_BYTES,
        retry: RetryPolicy | None = None,
        breaker: BreakerSettings | None = None,
        clock: RetryClock | None = None,
    ) -> None:
        if concurrency < 1 or not timeout > 0:
            raise InputError(
                f"concurrency is {concurrency} and timeout {timeout}", "give at least 1 and over 0"
            )
        self.url = url
        self.timeout = timeout
        self.max_bytes = max_bytes
        self.key_env = key_env
        self.key = _read_key(key_env)
        self.clock = clock or RetryClock()
        self._retry = retry or RetryPolicy()
        self._balancer = LoadBalancer(
            urls=dict.fromkeys(url.split(URL_SEPARATOR)),
            concurrency=concurrency,
            breaker=breaker or BreakerSettings(),
            clock=self.clock,
        )
        self._session: Any = None
        self._proxies: dict[str, str | None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def ready(self) -> bool:
        """Whether a server may be called now."""
        return bool(self.urls_in_use())

    def urls(self) -> list[str]:
        """The URLs of all servers."""
        return [endpoint.url for endpoint in self._balancer.endpoints]

    def urls_in_use(self) -> list[str]:
        """The URLs that are not left alone at present."""
        return [endpoint.url for endpoint in self._balancer.available()]

    async def ask(
        self,
        path: str,
        parse: Callable[[Any], Result],
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        retry: bool = True,
    ) -> Result:
        """Send JSON and read the JSON that answers it.

        Args:
            path: What to append to the URL.
            parse: Turns the parsed JSON into the result; raises `Malformed` if it is not what it
                should be, with words that complete "answered with ...".
            body: What to POST; None for a GET.
            headers: More headers.
            retry: Whether a failed call may be tried again.

        Returns:
            What `parse` returns.

        Raises:
            Rejected: The server will not do it, so that no attempt was made again.
            BackendError: The last attempt failed.
        """

        async def read(response: Response) -> Result:
            content = await response.read(self.max_bytes)
            if response.status >= 300:
                raise self.error_for(response, content)
            return _parse_json(response, content, parse)

        method = "GET"
        content = b""
        if body is not None:
            method = "POST"
            text = json.dumps(body, ensure_ascii=False, allow_nan=False)
            content = text.encode("utf-8", "replace")
        return await self.call(
            method,
            path,
            read,
            headers={**JSON_HEADERS, **(headers or {})},
            content=content,
            retry=retry,
            seconds=self.timeout,
        )

    async def call(
        self,
        method: str,
        path: str,
        read: Reader[Result],
        *,
        headers: Mapping[str, str],
        content: bytes = b"",
        retry: bool = True,
        seconds: float | None = None,
    ) -> Result:
        """Send a request and let a function read the response.

        Args:
            method: The HTTP method.
            path: What to append to the URL.
            read: Reads the response, or sets its `keep_open` to read it later. If it raises a
                `BackendError` that is retryable, the call is tried again.
            headers: All headers but the key.
            content: The body.
            retry: Whether a failed call may be tried again.
            seconds: The most seconds for an attempt, including `read`.

        Returns:
            What `read` returns.

        Raises:
            Rejected: The server will not do it, so that no attempt was made again.
            BackendError: The last attempt failed.
        """
        self._open()
        authorization = {"authorization": f"Bearer {self.key}"} if self.key else {}
        request = _HttpRequest(
            method=method,
            path=path,
            headers={**authorization, **headers},
            content=content,
            read=read,
            seconds=seconds,
        )
        max_attempts = self._retry.attempts if retry else 1
        call = PlacedCall()
        try:
            response, result = await self._attempt_until_done(call, request, max_attempts)
        except BaseException as problem:
            self._balancer.release(call, problem)
            raise
        self._balancer.record(call, None)
        response.on_close = lambda: self._balancer.free_place(call)
        if not response.keep_open:
            response.on_close()
        return result

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        session = self._session
        self._session = None
        self._loop = None
        if session is not None:
            await session.close()
            # The transports are closed in the next turn of the loop.
            await asyncio.sleep(0)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def retry_after(self, response: Response) -> float | None:
        """The seconds after which a server says to come back, if it does."""
        return parse_retry_after(response.headers.get("Retry-After"), self.clock.wall())

    def error_for(self, response: Response, content: bytes) -> DarcError:
        """Say what a response without a success status means.

        Args:
            response: The response.
            content: Its whole body.

        Returns:
            A `Rejected`, or an `ErrorStatus` if a later attempt may succeed.
        """
        status = response.status
        url = response.url
        body = content.decode("utf-8", "replace")
        if status < 400:
            return Redirected(url, status, response.headers.get("Location"), body)
        server_message = error_message(body, self.key)
        message = f"{url} answered {status}"
        if server_message:
            message += f": {server_message}"
        # Waiting does not fill an empty account.
        if is_retryable_status(status) and "insufficient_quota" not in body:
            return ErrorStatus(
                message, status=status, retry_after=self.retry_after(response), body=body
            )
        return Rejected(message, self._hint_for(status), status, server_message, body)

    def _hint_for(self, status: int) -> str:
        if status not in (401, 403):
            return _HINTS.get(status, "")
        state = "is not accepted" if self.key else "is not set"
        return f"the key is read from the environment variable {self.key_env}, which {state}"

    def _open(self) -> None:
        """Open connections in the running loop, unless there are some."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            raise DarcError(
                f"{self.url} is used in two event loops at a time", "close it in the first one"
            )
        self._session = open_session(self.timeout)
        self._loop = loop
        self._proxies = {
            endpoint.url: proxy_for(endpoint.url) for endpoint in self._balancer.endpoints
        }
        self._balancer.reset()

    async def _attempt_until_done(
        self, call: PlacedCall, request: _HttpRequest[Result], max_attempts: int
    ) -> tuple[Response, Result]:
        """Try a call at one endpoint after the other, until an attempt succeeds or none is left."""
        started = self.clock.now()
        endpoint = await self._balancer.acquire(call)
        while True:
            try:
                return await self._attempt(endpoint.url, request)
            except BackendError as problem:
                if not problem.retryable:
                    raise
                call.failures.append(FailedAttempt(endpoint, problem.retry_after))
                following = self._balancer.next_endpoint(call)
                pause = self._pause_before(call, following)
                too_late = self.clock.now() + pause - started > self._retry.seconds
                if len(call.failures) >= max_attempts or following is None or too_late:
                    problem.add_attempts([failure.endpoint.url for failure in call.failures])
                    raise
                logger.info("%s; trying again in %.1f s", problem.message, pause)
                if following is not endpoint:
                    self._balancer.release(call, problem)
                    endpoint = await self._balancer.acquire(call)
                    pause = self._pause_before(call, endpoint)
            if pause:
                await self.clock.sleep(pause)

    def _pause_before(self, call: PlacedCall, endpoint: Endpoint | None) -> float:
        return self._retry.pause(call.retry_after_at(endpoint), self.clock.chance())

    async def _attempt(self, base: str, request: _HttpRequest[Result]) -> tuple[Response, Result]:
        """Send one request; the response is closed unless its reader keeps it open."""
        url = base + request.path
        begin_call(url)
        try:
            async with asyncio.timeout(request.seconds):
                response = await self._send(base, url, request)
                try:
                    result = await request.read(response)
                except BaseException:
                    response.keep_open = False
                    raise
                finally:
                    if not response.keep_open:
                        await response.aclose()
        except TimeoutError as problem:
            raise translate_error(problem, url, self.timeout) from None
        return response, result

    async def _send(self, base: str, url: str, request: _HttpRequest[Any]) -> Response:
        from yarl import URL

        path = quote(request.path, _PRINTABLE, "latin-1")
        target = URL(str(URL(base)).rstrip("/") + path, encoded=True)
        data: Any = request.content or None
        if len(request.content) > _MAX_DIRECT_BYTES:
            data = io.BytesIO(request.content)
        try:
            raw = await self._session.request(
                request.method,
                target,
                headers={name: encode_header(value) for name, value in request.headers.items()},
                data=data,
                allow_redirects=False,
                proxy=self._proxies[base],
            )
        except Exception as problem:
            raise translate_error(problem, url, self.timeout) from None
        return Response(raw, url, self.timeout)


def _read_key(key_env: str) -> str:
    """The key in an environment variable; empty if it is not set."""
    if not key_env:
        return ""
    key = os.environ.get(key_env, "").strip()
    if not all("!" <= character <= "~" for character in key):
        raise InputError(f"the key in {key_env} has characters that cannot be sent", "set it again")
    return key


def _parse_json(response: Response, content: bytes, parse: Callable[[Any], Result]) -> Result:
    """What `parse` makes of a body; the usage that it reports is counted."""
    try:
        if not content.strip():
            raise Malformed("an empty body")
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise Malformed("something that is not JSON") from None
        count_usage(answer)
        return parse(answer)
    except Malformed as problem:
        raise Malformed(
            f"{response.url} answered with {problem.message}",
            "check that the URL is of such a server",
            response.status,
        ) from None
