"""A backend behind a URL, or several."""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response

from darc.errors import DarcError
from darc.gateway.errors import is_openai_error, told, too_large, unavailable, upstream_problem
from darc.gateway.request import back, for_candidates
from darc.gateway.streaming import BrokeOff, ClosingResponse, error_event
from darc.models.remote import (
    AsyncClient,
    Breaker,
    ErrorStatus,
    Failed,
    Malformed,
    Moved,
    Retry,
    RetryClock,
)
from darc.models.remote.address import base_url
from darc.models.remote.client import LARGEST
from darc.models.remote.endpoints import is_passing
from darc.models.remote.http import Response as Answer
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

CHAT = "/chat/completions"
WHOLE = 1_000_000
LONGEST_LINE = 4_000_000
NOT_MODIFIED = 304


class RemoteBackend:
    """Any server that speaks OpenAI's protocol, or several of the same, with | between their URLs.

    All calls go through the client that all of DARC uses. What is passed through keeps its bytes,
    status and headers. No answer of more than `largest` bytes is held, and no line of a
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
        clock: RetryClock | None = None,
    ) -> None:
        self.url = base_url(url)
        self.name = self.url
        self.several = True
        self._longest_line = longest_line
        self._client = AsyncClient(
            self.url,
            key_env=key_env,
            concurrency=concurrency,
            timeout=timeout,
            largest=largest,
            retry=retry,
            breaker=breaker,
            clock=clock,
        )
        self.key = self._client.key

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """The answer to a chat completion, tried again where that may help."""
        return await self._client.post(CHAT, body, completion, for_candidates(headers))

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The models that the server lists."""
        try:
            return await self._client.get("/models", listed, for_candidates(headers))
        except DarcError as problem:
            raise told(problem) from None

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
        else is read first. What says it is JSON and is not, or breaks off, is asked for again.
        Errors in another shape than OpenAI's are put into it.
        """
        error: Response | Problem | None = None

        async def use(answer: Answer) -> Response | Problem:
            nonlocal error
            result = await self._passed(method, path, answer)
            if is_passing(answer.status):
                error = result
                told_so = f"{answer.url} answered {answer.status}"
                after = self._client.after(answer)
                raise ErrorStatus(told_so, status=answer.status, after=after)
            return result

        target = path + (f"?{query}" if query else "")
        try:
            result = await self._client.call(
                method, target, use, headers=headers, content=content, again=again
            )
        except ErrorStatus as problem:
            result = error or told(problem)
        except DarcError as problem:
            raise told(problem) from None
        if isinstance(result, Problem):
            raise result
        return result

    def ready(self) -> bool:
        """Whether a call may begin at one of the URLs."""
        return self._client.ready()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _passed(self, method: str, path: str, answer: Answer) -> Response | Problem:
        """An answer for the client; raises what makes it none."""
        if 300 <= answer.status < 400 and answer.status != NOT_MODIFIED:
            raise Moved(answer.url, answer.status, answer.headers.get("Location"))
        result: Response
        if method != "HEAD" and _flows(answer, path):
            answer.keep()
            result = ClosingResponse(
                _parts(answer, self._longest_line), answer.aclose, status_code=answer.status
            )
        elif method == "HEAD":
            result = Response(b"", answer.status)
        elif answer.status >= 400:
            return self._error(answer, await answer.read(self._client.largest))
        else:
            body = await answer.read(self._client.largest, as_sent=True)
            if not sound(answer, body, path == CHAT):
                raise Malformed(f"{answer.url} answered with something that is not JSON")
            result = Response(body, answer.status)
        result.raw_headers = back(answer.raw_headers)
        return result

    def _error(self, answer: Answer, body: bytes) -> Response | Problem:
        """An error of the server as it is, or else its words in OpenAI's shape."""
        text = body.decode("utf-8", "replace")
        if "\ufffd" in text and "Content-Encoding" in answer.headers:
            text = ""  # compressed in a way that is not known here
        if not is_openai_error(text):
            return upstream_problem(answer.status, text, self._client.after(answer))
        result = Response(body, answer.status)
        length = [pair for pair in result.raw_headers if pair[0] == b"content-length"]
        result.raw_headers = [*back(answer.raw_headers, (b"content-encoding",)), *length]
        return result


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


def listed(answer: Any) -> list[dict[str, Any]]:
    """The models of an answer that lists some."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list):
        raise Malformed("no list of models")
    return [dict(each) for each in data if isinstance(each, dict) and "id" in each]


def sound(answer: Answer, body: bytes, chat: bool) -> bool:
    """Whether a good answer is JSON, where it claims or, as a chat completion, has to be."""
    kind = answer.headers.get("Content-Type", "")
    if answer.status != 200 or not (chat or kind.startswith("application/json")):
        return True
    if "Content-Encoding" in answer.headers:
        return True
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _flows(answer: Answer, path: str) -> bool:
    """Whether an answer is passed on as it comes."""
    if answer.status >= 300:
        return False
    if _is_events(answer):
        return True
    length = answer.headers.get("Content-Length", "")
    return path != CHAT and not (length.isdecimal() and int(length) <= WHOLE)


def _is_events(answer: Answer) -> bool:
    return answer.headers.get("Content-Type", "").startswith("text/event-stream")


async def _parts(answer: Answer, longest_line: int) -> AsyncIterator[bytes]:
    """The bytes of an answer; one that breaks off ends with an error event, if it is a stream."""
    readable = _is_events(answer) and "Content-Encoding" not in answer.headers
    line = 0
    try:
        async for part in answer.parts():
            if readable:
                first, *others = part.split(b"\n")
                if max(line + len(first), *map(len, others), 0) > longest_line:
                    yield b"\n\n" + error_event(too_large("max_line", longest_line))
                    return
                line = len(others[-1]) if others else line + len(first)
            yield part
    except Failed as lost:
        if not readable:
            raise BrokeOff(str(lost)) from None
        logger.warning("%s", lost)
        problem = unavailable("the backend broke off", "upstream_broke_off")
        yield b"\n\n" + error_event(problem)
