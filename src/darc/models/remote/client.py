"""JSON over HTTP to one server: pooled, bounded, retried, and broken off when it is down."""

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from types import TracebackType
from typing import Any, TypeVar

from darc.errors import InputError, MissingExtra
from darc.models.remote.address import is_loopback
from darc.models.remote.breaker import Breaker
from darc.models.remote.problems import (
    Failed,
    Malformed,
    Passing,
    Refused,
    TooLarge,
    is_final,
    moved,
    refusal,
    said,
)
from darc.models.remote.retry import Clock, Retry, is_passing, retry_after
from darc.models.remote.scope import tell_meter

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

KEY = "OPENAI_API_KEY"
CONNECTING = 10.0
LARGEST = 32_000_000


class AsyncClient:
    """Posts JSON to one server, at most `concurrency` calls at a time.

    An attempt takes at most `timeout` seconds. Connection errors, time-outs, malformed answers and
    the statuses 408, 409, 425, 429 and 5xx are tried again as `retry` says; a call keeps its place
    while it waits. The key comes from the environment variable `key_env`, where that is set, and
    goes into the request's header only. An answer of more than `largest` bytes is not read to its
    end. Cookies are not kept.

    All calls must be made in one event loop; after `aclose` the client may be used in another.
    """

    def __init__(
        self,
        url: str,
        *,
        key_env: str = KEY,
        concurrency: int = 16,
        timeout: float = 120.0,
        largest: int = LARGEST,
        retry: Retry | None = None,
        breaker: Breaker | None = None,
        clock: Clock | None = None,
    ) -> None:
        if concurrency < 1 or not timeout > 0:
            raise InputError(
                f"concurrency is {concurrency} and timeout {timeout}", "give at least 1 and over 0"
            )
        self.url = url
        self.key_env = key_env
        self.concurrency = concurrency
        self.timeout = timeout
        self.largest = largest
        self._key = read_key(key_env)
        self._retry = retry or Retry()
        self._breaker = breaker or Breaker()
        self._clock = clock or Clock()
        self._http: Any = None
        self._places: asyncio.Semaphore | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    async def post(
        self,
        path: str,
        body: Any,
        read: Callable[[Any], Result],
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """What `read` makes of the answer to a POST to `url` + `path`, with more `headers`.

        `read` raises `Malformed` for an answer that is not what it should be. Raises `Refused`
        where no retry helps, and `Failed` after the last attempt.
        """
        http, places = self._open()
        async with places:
            waiting = self._breaker.waiting(self._clock.now())
            if waiting is not None:
                raise Failed(
                    f"{self.url} has failed {self._breaker.threshold} calls in a row",
                    f"it is asked again in {waiting:.0f} s",
                    after=waiting,
                )
            attempts = 1 if self._breaker.begin() else self._retry.attempts

            async def attempt() -> Result:
                return await self._attempt(http, self.url + path, body, read, headers)

            try:
                result = await self._persist(self.url + path, attempt, attempts)
            except (Refused, TooLarge):
                self._breaker.succeeded()
                raise
            except Failed as problem:
                if problem.status == 429:
                    self._breaker.left()
                else:
                    self._breaker.failed(self._clock.now())
                raise
            except BaseException:
                self._breaker.left()
                raise
            self._breaker.succeeded()
            return result

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        http, self._http, self._places = self._http, None, None
        if http is not None:
            await http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _open(self) -> tuple[Any, asyncio.Semaphore]:
        if self._http is None or self._places is None:
            self._places = asyncio.Semaphore(self.concurrency)
            self._http = http_client(self.url, self._key, self.timeout)
        return self._http, self._places

    async def _persist(
        self, url: str, once: Callable[[], Awaitable[Result]], attempts: int
    ) -> Result:
        begun, attempt = self._clock.now(), 1
        while True:
            try:
                return await once()
            except Passing as problem:
                pause = self._retry.pause(attempt, problem.after, self._clock.chance())
                late = self._clock.now() + pause - begun > self._retry.seconds
                if attempt >= attempts or late:
                    tries = f" ({attempt} attempts)" if attempt > 1 else ""
                    told = f"{url} {problem.problem}{tries}"
                    raise Failed(
                        told, problem.hint, problem.status, problem.after, problem.body
                    ) from None
                logger.info("%s %s; trying again in %.1f s", url, problem.problem, pause)
            await self._clock.sleep(pause)
            attempt += 1

    async def _attempt(
        self,
        http: Any,
        url: str,
        body: Any,
        read: Callable[[Any], Result],
        headers: Mapping[str, str] | None,
    ) -> Result:
        """One call; raises `Passing` where another may do better."""
        httpx = library()
        sent = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        named = raw(headers or {}, {"content-type": "application/json"})
        try:
            async with (
                asyncio.timeout(self.timeout),
                http.stream("POST", url, content=sent, headers=named) as response,
            ):
                content = await bounded(response, self.largest)
        except TooLarge:
            tell_meter(url, None)
            raise
        except (TimeoutError, httpx.TimeoutException):
            tell_meter(url, None)
            raise Passing(
                f"did not answer within {self.timeout:g} s", "raise timeout, or lower concurrency"
            ) from None
        except httpx.RequestError as problem:
            tell_meter(url, None)
            reason = str(problem) or type(problem).__name__
            raise Passing(f"cannot be reached: {reason}", "is the server running there?") from None
        status: int = response.status_code
        if status >= 300:
            tell_meter(url, None)
            text = content.decode("utf-8", "replace")
            message = said(text, self._key)
            if status < 400:
                message = f"it has moved to {moved(url, response.headers.get('location'))}"
            if not is_passing(status) or is_final(text):
                raise refusal(url, status, message, self.key_env, bool(self._key), text)
            after = retry_after(response.headers.get("retry-after"), self._clock.wall())
            told = f"answered {status}" + (f": {message}" if message else "")
            raise Passing(told, status=status, after=after, body=text)
        try:
            answer = decoded(content)
            tell_meter(url, answer)
            return read(answer)
        except Malformed as problem:
            raise Passing(
                f"answered with {problem}", "check that the URL is of such a server", status
            ) from None


def decoded(content: bytes) -> Any:
    """The JSON of an answer."""
    if not content.strip():
        raise Malformed("an empty body")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Malformed("something that is not JSON") from None


def read_key(name: str) -> str:
    """The key in an environment variable, empty where there is none."""
    key = os.environ.get(name, "").strip() if name else ""
    if not all("!" <= letter <= "~" for letter in key):
        raise InputError(f"the key in {name} has characters that cannot be sent", "set it again")
    return key


def library() -> Any:
    """The HTTP library, which is optional."""
    try:
        import httpx
    except ImportError:
        raise MissingExtra("talking to a server", "remote") from None
    return httpx


def http_client(url: str, key: str, timeout: float) -> Any:
    """A client for many calls at a time to one server; it keeps no cookies for later calls."""
    httpx = library()
    from darc.models.remote.transport import StackedTransport

    return httpx.AsyncClient(
        headers={"authorization": f"Bearer {key}"} if key else {},
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        timeout=httpx.Timeout(timeout, connect=min(CONNECTING, timeout)),
        transport=StackedTransport(),
        follow_redirects=False,
        trust_env=not is_loopback(url),
    )


async def bounded(response: Any, largest: int, *, as_sent: bool = False) -> bytes:
    """The body of a response, decompressed unless `as_sent`; `TooLarge` where it is larger."""
    told = response.headers.get("content-length", "")
    if told.isdecimal() and int(told) > largest:
        raise TooLarge(str(response.url), largest)
    body = bytearray()
    async for part in response.aiter_raw() if as_sent else response.aiter_bytes():
        body += part
        if len(body) > largest:
            raise TooLarge(str(response.url), largest)
    return bytes(body)


def raw(*headers: Mapping[str, str]) -> dict[bytes, bytes]:
    """Headers as they are sent, later ones over earlier ones; names are in lower case."""
    return {
        name.lower().encode("latin-1"): value.encode("latin-1", "replace")
        for some in headers
        for name, value in some.items()
    }


async def together(calls: Iterable[Awaitable[Result]]) -> list[Result]:
    """The results in their order; the first failure cancels the other calls."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
