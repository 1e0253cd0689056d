"""Calls to one service at one or several URLs: pooled, bounded, retried, and broken off in time."""

import asyncio
import io
import json
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

from darc.errors import DarcError, InputError
from darc.models.remote.endpoints import (
    SEVERAL,
    Breaker,
    Call,
    Endpoints,
    Retry,
    RetryClock,
    is_passing,
    retry_after,
)
from darc.models.remote.http import (
    Response,
    begin_call,
    count_usage,
    failure,
    open_session,
    proxy_of,
    sendable,
)
from darc.models.remote.problems import ErrorStatus, Failed, Malformed, Moved, Refused, said

logger = logging.getLogger(__name__)

Result = TypeVar("Result")
Use = Callable[[Response], Awaitable[Result]]

KEY = "OPENAI_API_KEY"
LARGE, LARGEST = 2**20, 32_000_000
PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
HINTS = {
    404: "check the URL and the name of the model",
    405: "check the URL",
    413: "send less at a time",
}
JSON = {
    "user-agent": "darc",
    "accept": "application/json",
    "accept-encoding": "gzip, deflate",
    "content-type": "application/json",
}


class AsyncClient:
    """Calls a service, at most `concurrency` calls at a time at each of its URLs.

    Several URLs, with | between them, are servers of the same: a call goes to the one with the
    fewest calls under way, and where it fails to another. One that fails again and again is left
    alone for a while by its `breaker`.

    An attempt takes at most `timeout` seconds. Connection errors, time-outs, malformed answers and
    the statuses 408, 409, 425, 429 and 5xx are tried again as `retry` says, which counts all
    attempts of a call wherever they go; a call keeps its place while it waits. The key comes from
    the environment variable `key_env`, where that is set, and goes into the request's header only.
    An answer of more than `largest` bytes is not read to its end. Cookies are not kept.

    All calls must be made in one event loop; after `aclose`, or when that loop is closed, the
    client may be used in another.
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
        clock: RetryClock | None = None,
    ) -> None:
        if concurrency < 1 or not timeout > 0:
            raise InputError(
                f"concurrency is {concurrency} and timeout {timeout}", "give at least 1 and over 0"
            )
        self.url, self.timeout, self.largest = url, timeout, largest
        self.key_env, self.key = key_env, os.environ.get(key_env, "").strip() if key_env else ""
        if not all("!" <= letter <= "~" for letter in self.key):
            told = f"the key in {key_env} has characters that cannot be sent"
            raise InputError(told, "set it again")
        self._retry, self.clock = retry or Retry(), clock or RetryClock()
        urls = dict.fromkeys(url.split(SEVERAL))
        self.endpoints = Endpoints(urls, concurrency, breaker or Breaker(), self.clock)
        self._own = {"authorization": f"Bearer {self.key}"} if self.key else {}
        self._session: Any = None
        self._proxies: dict[str, str | None] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def ready(self) -> bool:
        """Whether a server may be asked now."""
        return bool(self.endpoints.able())

    async def ask(
        self,
        path: str,
        read: Callable[[Any], Result],
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """What `read` makes of the JSON that answers a POST to `url` + `path`, with more `headers`.

        It is a GET where there is no `body`. `read` raises `Malformed` for an answer that is not
        what it should be. Raises `Refused` where no retry helps, `Failed` after the last attempt.
        """

        async def use(response: Response) -> Result:
            held = await response.read(self.largest)
            if response.status >= 300:
                raise self.problem_of(response, held)
            try:
                if not held.strip():
                    raise Malformed("an empty body")
                try:
                    answer = json.loads(held)
                except (ValueError, RecursionError):
                    raise Malformed("something that is not JSON") from None
                count_usage(answer)
                return read(answer)
            except Malformed as problem:
                raise Malformed(
                    f"{response.url} answered with {problem.message}",
                    "check that the URL is of such a server",
                    response.status,
                ) from None

        method, content = "GET", b""
        if body is not None:
            text = json.dumps(body, ensure_ascii=False, allow_nan=False)
            method, content = "POST", text.encode("utf-8", "replace")
        named = {**JSON, **(headers or {})}
        return await self.call(
            method, path, use, headers=named, content=content, seconds=self.timeout
        )

    async def call(
        self,
        method: str,
        path: str,
        use: Use[Result],
        *,
        headers: Mapping[str, str],
        content: bytes = b"",
        again: bool = True,
        seconds: float | None = None,
    ) -> Result:
        """What `use` makes of a response; it reads the body, or keeps the response for later.

        What it raises decides: a `Failed` that is passing is tried again where `again` allows it,
        all else is raised. An attempt with `use` takes at most `seconds`. Nothing but the key is
        added to the headers.
        """
        self._open()
        named, begun, call = {**self._own, **headers}, self.clock.now(), Call()
        attempts = self._retry.attempts if again else 1
        here = await self.endpoints.take(call)
        try:
            while True:
                try:
                    response, result = await self._attempt(
                        here.url, method, path, named, content, use, seconds
                    )
                    break
                except Failed as problem:
                    if not problem.passing:
                        raise
                    call.failures.append((here, problem.after))
                    following = self.endpoints.better(call)
                    pause = self._retry.pause(call.failed_at(following), self.clock.chance())
                    late = self.clock.now() + pause - begun > self._retry.seconds
                    if len(call.failures) >= attempts or following is None or late:
                        problem.tried([each.url for each, _ in call.failures])
                        raise
                    logger.info("%s; trying again in %.1f s", problem.message, pause)
                    if following is not here:
                        self.endpoints.give(call, problem)
                        here = await self.endpoints.take(call)
                        pause = self._retry.pause(call.failed_at(here), self.clock.chance())
                if pause:
                    await self.clock.sleep(pause)
        except BaseException as problem:
            self.endpoints.give(call, problem)
            raise
        self.endpoints.judge(call, None)
        response.closed = lambda: self.endpoints.free(call)
        if not response.kept:
            response.closed()
        return result

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        session, self._session, self._loop = self._session, None, None
        if session is not None:
            await session.close()
            # Transports are gone one turn of the loop later.
            await asyncio.sleep(0)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _open(self) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return
        if self._loop is not None and not self._loop.is_closed():
            raise DarcError(
                f"{self.url} is used in two event loops at a time", "close it in the first one"
            )
        self._session, self._loop = open_session(self.timeout), loop
        self._proxies = {each.url: proxy_of(each.url) for each in self.endpoints.all}
        self.endpoints.reset()

    async def _attempt(
        self,
        base: str,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: bytes,
        use: Use[Result],
        seconds: float | None,
    ) -> tuple[Response, Result]:
        """A response, closed unless it is kept, and what `use` makes of it; one request."""
        from yarl import URL

        url = base + path
        begin_call(url)
        target = URL(str(URL(base)).rstrip("/") + quote(path, PRINTABLE, "latin-1"), encoded=True)
        try:
            async with asyncio.timeout(seconds):
                try:
                    raw = await self._session.request(
                        method,
                        target,
                        headers={name: sendable(value) for name, value in headers.items()},
                        # Large bytes as they are make the library warn of a blocked loop.
                        data=io.BytesIO(content) if len(content) > LARGE else content or None,
                        allow_redirects=False,
                        proxy=self._proxies[base],
                    )
                except Exception as problem:
                    raise failure(problem, url, self.timeout) from None
                response = Response(raw, url, self.timeout)
                try:
                    result = await use(response)
                except BaseException:
                    response.kept = False
                    raise
                finally:
                    if not response.kept:
                        await response.aclose()
        except TimeoutError as problem:
            raise failure(problem, url, self.timeout) from None
        return response, result

    def after(self, response: Response) -> float | None:
        """The seconds after which a server says to come back, if it does."""
        return retry_after(response.headers.get("Retry-After"), self.clock.wall())

    def problem_of(self, response: Response, content: bytes) -> DarcError:
        """What an answer that is no success means: a refusal, or an error that may pass."""
        status, url = response.status, response.url
        text = content.decode("utf-8", "replace")
        if status < 400:
            return Moved(url, status, response.headers.get("Location"), text)
        message = said(text, self.key)
        told = f"{url} answered {status}" + (f": {message}" if message else "")
        # No waiting fills an empty account.
        if is_passing(status) and "insufficient_quota" not in text:
            return ErrorStatus(told, status=status, after=self.after(response), body=text)
        hint = HINTS.get(status, "")
        if status in (401, 403):
            state = "is not accepted" if self.key else "is not set"
            hint = f"the key is read from the environment variable {self.key_env}, which {state}"
        return Refused(told, hint, status, message, text)


async def together(calls: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results in their order; the first failure cancels the other calls."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
