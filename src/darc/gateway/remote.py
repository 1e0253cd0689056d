"""A backend behind a URL."""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response

from darc.gateway.errors import told, unavailable, upstream_problem
from darc.gateway.headers import back, for_candidates
from darc.gateway.leaving import ClosingResponse
from darc.models.remote import AsyncClient, Breaker, Clock, Failed, Malformed, Retry
from darc.models.remote.address import base_url, is_loopback
from darc.models.remote.client import CONNECTING, library, read_key, stacked_transport
from darc.models.remote.retry import is_passing, retry_after
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

CHAT = "/chat/completions"
WHOLE = 1_000_000


class RemoteBackend:
    """Any server that speaks OpenAI's protocol; one breaker for all calls to it.

    Candidates are asked for through the client that all of DARC uses. What is passed through keeps
    its bytes, status and headers.
    """

    passes = True

    def __init__(
        self,
        url: str,
        *,
        key_env: str,
        timeout: float = 120.0,
        concurrency: int = 256,
        retry: Retry | None = None,
        breaker: Breaker | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url = base_url(url)
        self.name = self.url
        self.several = True
        self.key = read_key(key_env)
        self._timeout = timeout
        self._retry = retry or Retry(attempts=3, seconds=30.0, first=0.25, longest=8.0)
        self._breaker = breaker or Breaker()
        self._clock = clock or Clock()
        self._client = AsyncClient(
            self.url,
            key_env=key_env,
            concurrency=concurrency,
            timeout=timeout,
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
        response = await self._persist("GET", f"{self.url}/models", dict(headers), b"", True)
        try:
            content = await response.aread()
        finally:
            await response.aclose()
        if response.status_code != 200:
            raise upstream_problem(response.status_code, content.decode("utf-8", "replace"))
        try:
            data = response.json()["data"]
            return [dict(each) for each in data if isinstance(each, dict) and "id" in each]
        except (ValueError, KeyError, TypeError):
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

        A short answer that says it is JSON and is not, or that breaks off, is asked for once more.
        """
        url = f"{self.url}{path}" + (f"?{query}" if query else "")
        for last in (False, True) if again else (True,):
            response = await self._persist(method, url, dict(headers), content, again)
            length = response.headers.get("content-length", "")
            result: Response
            if not length.isdecimal() or int(length) > WHOLE:
                result = ClosingResponse(
                    _passed(response), response.aclose, status_code=response.status_code
                )
                break
            try:
                body = b"".join([part async for part in response.aiter_raw()])
                if sound(response, body):
                    result = Response(body, response.status_code)
                    break
                problem = told(Failed("", status=200))
            except library().RequestError as lost:
                problem = self._lost(lost)
            finally:
                await response.aclose()
            if last:
                raise problem
        result.raw_headers = back(response.headers.multi_items(), whole=True)
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
            built = http.build_request(method, url, headers=headers, content=content or None)
            return await http.send(built, stream=True), None
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
            httpx = library()
            self._http = httpx.AsyncClient(
                headers={"authorization": f"Bearer {self.key}"} if self.key else {},
                timeout=httpx.Timeout(self._timeout, connect=min(CONNECTING, self._timeout)),
                transport=stacked_transport(),
                follow_redirects=False,
                trust_env=not is_loopback(self.url),
            )
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


def sound(response: Any, body: bytes) -> bool:
    """Whether a good answer that claims to be JSON is; others are not looked at."""
    kind = response.headers.get("content-type", "")
    if response.status_code != 200 or not kind.startswith("application/json"):
        return True
    if "content-encoding" in response.headers:
        return True
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


async def _passed(response: Any) -> AsyncIterator[bytes]:
    """The bytes of a response; one that breaks off ends with an error event, if it is a stream."""
    events = response.headers.get("content-type", "").startswith("text/event-stream")
    try:
        async for part in response.aiter_raw():
            yield part
    except library().RequestError:
        if not events or "content-encoding" in response.headers:
            raise
        from darc.gateway.streaming import error_event

        problem = unavailable("the backend broke off", "upstream_broke_off")
        yield b"\n\n" + error_event(problem)
