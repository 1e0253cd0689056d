"""A backend behind a URL."""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response

from darc.gateway.errors import (
    is_openai_error,
    redirected,
    told,
    too_large,
    unavailable,
    upstream_problem,
)
from darc.gateway.headers import back, for_candidates
from darc.gateway.leaving import BrokeOff, ClosingResponse
from darc.gateway.streaming import error_event
from darc.models.remote import AsyncClient, Breaker, Clock, Failed, Malformed, Retry
from darc.models.remote.address import base_url
from darc.models.remote.client import LARGEST, bounded, http_client, library, raw, read_key
from darc.models.remote.problems import TooLarge, moved
from darc.models.remote.retry import is_passing, retry_after
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

CHAT = "/chat/completions"
WHOLE = 1_000_000
LONGEST_LINE = 4_000_000
NOT_MODIFIED = 304
LOST = ("upstream_unreachable", "upstream_timeout")


class RemoteBackend:
    """Any server that speaks OpenAI's protocol; one breaker for all calls to it.

    Candidates are asked for through the client that all of DARC uses. What is passed through keeps
    its bytes, status and headers. No answer of more than `largest` bytes is held, and no line of a
    stream longer than `longest_line` is passed on.
    """

    passes = True

    def __init__(
        self,
        url: str,
        *,
        key_env: str,
        timeout: float = 120.0,
        concurrency: int = 256,
        largest: int = LARGEST,
        longest_line: int = LONGEST_LINE,
        retry: Retry | None = None,
        breaker: Breaker | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url = base_url(url)
        self.name = self.url
        self.several = True
        self.key = read_key(key_env)
        self._timeout = timeout
        self._largest, self._longest_line = largest, longest_line
        self._retry = retry or Retry(attempts=3, seconds=30.0, first=0.25, longest=8.0)
        self._breaker = breaker or Breaker()
        self._clock = clock or Clock()
        self._client = AsyncClient(
            self.url,
            key_env=key_env,
            concurrency=concurrency,
            timeout=timeout,
            largest=largest,
            retry=self._retry,
            breaker=self._breaker,
            clock=self._clock,
        )
        self._http: Any = None

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """The answer to a chat completion, tried again where that may help."""
        return await self._client.post(CHAT, body, completion, for_candidates(headers))

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The models that the server lists."""
        asked = {**headers, "accept-encoding": "identity"}
        response = await self._persist("GET", f"{self.url}/models", asked, b"", True)
        content = await self._held(response, as_sent=False)
        if response.status_code != 200:
            raise upstream_problem(response.status_code, content.decode("utf-8", "replace"))
        try:
            data = json.loads(content)["data"]
            return [dict(each) for each in data if isinstance(each, dict) and "id" in each]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise told(Failed("", status=200)) from None

    async def forward(
        self,
        method: str,
        path: str,
        query: str,
        headers: Mapping[str, str],
        content: bytes,
        again: bool,
    ) -> Response:
        """What the server says to `path` below its URL, byte by byte as it comes.

        Streams, and large answers to anything but chat completions, are passed on as they come; all
        else is read first. What says it is JSON and is not, or breaks off, is asked for once more.
        Errors in another shape than OpenAI's are put into it.
        """
        url = f"{self.url}{path}" + (f"?{query}" if query else "")
        for last in (False, True) if again else (True,):
            response = await self._persist(method, url, dict(headers), content, again)
            result: Response
            if method != "HEAD" and _flows(response, path):
                result = ClosingResponse(
                    _passed(response, self._longest_line),
                    response.aclose,
                    status_code=response.status_code,
                )
                break
            try:
                body = await self._held(response, as_sent=response.status_code < 400)
            except Problem as problem:
                if last or problem.code not in LOST:
                    raise
                continue
            if response.status_code >= 400 and method != "HEAD":
                return self._error(response, body)
            if method == "HEAD" or sound(response, body, path == CHAT):
                result = Response(body, response.status_code)
                break
            if last:
                raise told(Failed("", status=200))
        result.raw_headers = back(response.headers.raw)
        return result

    def ready(self) -> bool:
        """Whether the breaker lets a call through."""
        return self._breaker.waiting(self._clock.now()) is None

    async def aclose(self) -> None:
        """Close the connections."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()
        await self._client.aclose()

    async def _held(self, response: Any, as_sent: bool) -> bytes:
        """The body of a response that is read here; a redirect, which is not followed, is told."""
        status, location = response.status_code, response.headers.get("location")
        try:
            if 300 <= status < 400 and status != NOT_MODIFIED:
                raise redirected(status, moved(str(response.url), location))
            if response.request.method == "HEAD":
                return b""
            return await bounded(response, self._largest, as_sent=as_sent)
        except TooLarge as problem:
            raise told(problem) from None
        except library().RequestError as lost:
            raise self._lost(lost) from None
        finally:
            await response.aclose()

    def _error(self, response: Any, body: bytes) -> Response:
        """An error of the server as it is, or else its words in OpenAI's shape."""
        text = body.decode("utf-8", "replace")
        if "\ufffd" in text and "content-encoding" in response.headers:
            text = ""  # compressed in a way that is not known here
        if not is_openai_error(text):
            header = response.headers.get("retry-after")
            after = retry_after(header, self._clock.wall())
            raise upstream_problem(response.status_code, text, after)
        result = Response(body, response.status_code)
        length = [pair for pair in result.raw_headers if pair[0] == b"content-length"]
        result.raw_headers = [*back(response.headers.raw, (b"content-encoding",)), *length]
        return result

    async def _persist(
        self, method: str, url: str, headers: dict[str, str], content: bytes, again: bool
    ) -> Any:
        """The response, its body not yet read, of the last attempt."""
        waiting = self._breaker.waiting(self._clock.now())
        if waiting is not None:
            raise told(Failed("", after=waiting))
        attempts = 1 if self._breaker.begin() or not again else self._retry.attempts
        begun, attempt = self._clock.now(), 1
        try:
            while True:
                response, problem = await self._attempt(method, url, headers, content)
                passing = response is None or is_passing(response.status_code)
                after = None
                if response is not None:
                    header = response.headers.get("retry-after")
                    after = retry_after(header, self._clock.wall())
                pause = self._retry.pause(attempt, after, self._clock.chance())
                late = self._clock.now() + pause - begun > self._retry.seconds
                if not passing or attempt >= attempts or late:
                    break
                if response is not None:
                    await response.aclose()
                logger.info("%s failed; trying again in %.1f s", url, pause)
                await self._clock.sleep(pause)
                attempt += 1
        except BaseException:
            self._breaker.left()
            raise
        self._note(response)
        if problem is not None:
            raise problem
        return response

    async def _attempt(
        self, method: str, url: str, headers: dict[str, str], content: bytes
    ) -> tuple[Any, Problem | None]:
        httpx, http = library(), self._open()
        try:
            built = http.build_request(method, url, headers=raw(headers), content=content or None)
            return await http.send(built, stream=True), None
        except httpx.InvalidURL as problem:
            raise Problem(400, f"the path cannot be sent on: {problem}", code="bad_path") from None
        except httpx.RequestError as problem:
            return None, self._lost(problem)

    def _lost(self, problem: Exception) -> Problem:
        late = isinstance(problem, library().TimeoutException)
        return told(Failed("did not answer within" if late else ""))

    def _note(self, response: Any) -> None:
        """Tell the breaker how a call ended; too many requests say nothing of the server."""
        if response is None or response.status_code >= 500:
            self._breaker.failed(self._clock.now())
        elif response.status_code == 429:
            self._breaker.left()
        else:
            self._breaker.succeeded()

    def _open(self) -> Any:
        if self._http is None:
            self._http = http_client(self.url, self.key, self._timeout)
            # What the client does not send is not made up for it.
            for name in ("user-agent", "accept", "accept-encoding"):
                self._http.headers.pop(name, None)
        return self._http


def completion(answer: Any) -> dict[str, Any]:
    """An answer that is a chat completion with at least one choice."""
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise Malformed("no chat completion")
    choices = answer["choices"]
    if not choices:
        raise Malformed("no choices")
    if not all(isinstance(c, dict) and isinstance(c.get("message"), dict) for c in choices):
        raise Malformed("choices without a message")
    if not isinstance(answer.get("usage") or {}, dict):
        raise Malformed("a usage that is no object")
    return answer


def sound(response: Any, body: bytes, chat: bool) -> bool:
    """Whether a good answer is JSON, where it claims or, as a chat completion, has to be."""
    kind = response.headers.get("content-type", "")
    if response.status_code != 200 or not (chat or kind.startswith("application/json")):
        return True
    if "content-encoding" in response.headers:
        return True
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _flows(response: Any, path: str) -> bool:
    """Whether an answer is passed on as it comes."""
    if response.status_code >= 300:
        return False
    if _is_events(response):
        return True
    length = response.headers.get("content-length", "")
    return path != CHAT and not (length.isdecimal() and int(length) <= WHOLE)


def _is_events(response: Any) -> bool:
    return bool(response.headers.get("content-type", "").startswith("text/event-stream"))


async def _passed(response: Any, longest_line: int) -> AsyncIterator[bytes]:
    """The bytes of a response; one that breaks off ends with an error event, if it is a stream."""
    readable = _is_events(response) and "content-encoding" not in response.headers
    line = 0
    try:
        async for part in response.aiter_raw():
            if readable:
                first, *others = part.split(b"\n")
                if max(line + len(first), *map(len, others), 0) > longest_line:
                    yield b"\n\n" + error_event(too_large("max_line", longest_line))
                    return
                line = len(others[-1]) if others else line + len(first)
            yield part
    except library().RequestError as lost:
        if not readable:
            raise BrokeOff(str(lost)) from None
        problem = unavailable("the backend broke off", "upstream_broke_off")
        yield b"\n\n" + error_event(problem)
