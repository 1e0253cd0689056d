"""HTTP itself, by aiohttp: connections, a response as it comes, and who counts calls.

A service sets a meter for one of its requests: every call made in that context, in threads that
were given it too, is told to it.
"""

import math
import os
import threading
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from darc.errors import InputError, extra_needed
from darc.models.remote.problems import Malformed, OverLimit, TimedOut, TooLarge, Unreachable

CONNECTING = 10.0
IDLE_SECONDS = 30.0
LONGEST_HEADER = 65536
BUFFER = 2**18
NUMBERS = frozenset({int, float})
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# What a client does not send is not made up for it.
NOT_ADDED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


def library() -> Any:
    """The HTTP library, which is optional."""
    with extra_needed("talking to a server", "remote"):
        import aiohttp
    return aiohttp


def open_session(timeout: float) -> Any:
    """Connections of the running event loop, kept for reuse, as many as there are calls at a time.

    No cookie is kept, no redirect followed, and nothing decompressed unasked. A connection must be
    there within 10 seconds, and no pause between bytes be longer than `timeout`.
    """
    aiohttp = library()
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(connect=min(CONNECTING, timeout), sock_read=timeout),
        auto_decompress=False,
        skip_auto_headers=NOT_ADDED,
        requote_redirect_url=False,
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
        read_bufsize=BUFFER,
    )
    # Attempts are counted by the client, so none may be made behind its back.
    session._retry_connection = False
    return session


class Response:
    """A response whose body comes piece by piece; `closed` is called when it is let go of.

    Whoever sets `kept` closes it; else it is closed as soon as the call that made it ends.
    """

    def __init__(self, raw: Any, url: str, timeout: float) -> None:
        self._raw, self._timeout, self.url = raw, timeout, url
        self.status: int = raw.status
        self.headers: Mapping[str, str] = raw.headers
        self.raw_headers: tuple[tuple[bytes, bytes], ...] = raw.raw_headers
        self.kept = False
        self.closed: Callable[[], None] = lambda: None

    async def parts(self) -> AsyncIterator[bytes]:
        """The body as it comes; raises a `Failed` where it breaks off."""
        while part := await self._next():
            yield part

    async def read(self, largest: int, *, as_sent: bool = False) -> bytes:
        """The whole body, decompressed unless `as_sent`; `TooLarge` where it is larger."""
        told = self.headers.get("Content-Length", "")
        if told.isdecimal() and int(told) > largest:
            raise TooLarge(self.url, largest)
        body = bytearray()
        while part := await self._next():
            body += part
            if len(body) > largest:
                raise TooLarge(self.url, largest)
        coding = self.headers.get("Content-Encoding", "")
        return bytes(body) if as_sent or not coding else self._inflated(body, coding, largest)

    async def aclose(self) -> None:
        """Let go of the connection, for another call where the body was read to its end."""
        self._raw.release()
        self.closed()

    async def _next(self) -> bytes:
        content = self._raw.content
        try:
            part: bytes = await content.readany()
        except Exception as problem:
            # The library would throw away what came together with the end of the connection.
            part = content._read_nowait(-1)
            if not part:
                raise failure(problem, self.url, self._timeout) from None
        return part

    def _inflated(self, body: bytearray, coding: str, largest: int) -> bytes:
        """What was compressed with gzip or deflate; anything else as it is."""
        if coding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
            return bytes(body)
        for bits in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):
            with suppress(zlib.error):
                found = zlib.decompressobj(bits).decompress(body, largest + 1)
                if len(found) > largest:
                    raise TooLarge(self.url, largest)
                return found
        raise Malformed(f"{self.url} answered with {coding} that cannot be unpacked")


def failure(problem: Exception, url: str, timeout: float) -> Exception:
    """What a problem of the library means."""
    aiohttp = library()
    if isinstance(problem, TimeoutError):
        return TimedOut(
            f"{url} did not answer within {timeout:g} s", "raise timeout, or lower concurrency"
        )
    if type(problem) is aiohttp.ClientResponseError:
        return Malformed(f"{url} answered with something that is not HTTP")
    if isinstance(problem, aiohttp.ClientPayloadError):
        return Unreachable(f"{url} broke off in the middle of its answer")
    if isinstance(problem, aiohttp.InvalidURL | ValueError):
        return InputError(f"a request to {url[:200]!r} cannot be sent: {problem}")
    if isinstance(problem, aiohttp.ClientError | OSError):
        cause = getattr(problem, "os_error", None)
        number = getattr(cause, "errno", None)
        reason = os.strerror(number) if number and number > 0 else str(cause or problem)
        reason = reason or type(problem).__name__
        return Unreachable(f"{url} cannot be reached: {reason}", "is the server running there?")
    return problem


def proxy_of(url: str) -> str | None:
    """The proxy that the environment names for a URL; none for addresses of this machine."""
    parts = urlsplit(url)
    direct = parts.hostname in LOOPBACK or proxy_bypass(parts.hostname or "")
    return None if direct else getproxies().get(parts.scheme)


def sendable(value: str) -> str:
    """A header's value such that its bytes, which were read as Latin-1, are sent as they came.

    The library writes UTF-8: bytes that are none become the UTF-8 of the letters they stand for.
    """
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


@dataclass(eq=False)
class Meter:
    """Counts calls and tokens, and refuses calls beyond `max_calls` or `max_tokens`.

    Every attempt is a call, failed ones and retries too. Tokens are those that servers report, so
    what is under way when their limit is reached may go beyond it. A meter with a `whole` counts
    for that one as well, whose limits hold for all its parts together.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    whole: "Meter | None" = None
    calls: int = field(default=0, init=False)
    tokens: int = field(default=0, init=False)
    usage: dict[str, Any] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def limited(self) -> bool:
        """Whether it may refuse calls."""
        own = self.max_calls is not None or self.max_tokens is not None
        return own or (self.whole is not None and self.whole.limited)

    def begin(self, url: str) -> None:
        """Count a call that begins; raises `OverLimit` instead where it is one too many."""
        with self._lock:
            for name, used, most in (
                ("calls", self.calls, self.max_calls),
                ("tokens", self.tokens, self.max_tokens),
            ):
                if most is not None and used >= most:
                    raise OverLimit(
                        f"{url} is not called: the request has used its {most} {name}",
                        f"raise max_{name}, or ask for less",
                    )
            if self.whole is not None:
                self.whole.begin(url)
            self.calls += 1

    def add(self, answer: Any) -> None:
        """Add the usage that an answer reports, if it does."""
        used = answer.get("usage") if isinstance(answer, Mapping) else None
        if not isinstance(used, Mapping):
            return
        with self._lock:
            self.usage = added(self.usage, used)
            self.tokens += tokens_in(used)
        if self.whole is not None:
            self.whole.add(answer)


METER: ContextVar[Meter | None] = ContextVar("darc_meter", default=None)


def begin_call(url: str) -> None:
    """Tell the meter in scope, if any, that a call begins; it may raise `OverLimit`."""
    meter = METER.get()
    if meter is not None:
        meter.begin(url)


def count_usage(answer: Any) -> None:
    """Tell the meter in scope, if any, of an answer."""
    meter = METER.get()
    if meter is not None:
        meter.add(answer)


def added(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """The sum of two usages, number by number; what is no number in both is the later one's."""
    result = dict(left)
    for name, value in right.items():
        known = result.get(name)
        if isinstance(value, Mapping):
            result[name] = added(known if isinstance(known, Mapping) else {}, value)
        elif {type(value), type(known)} <= NUMBERS:
            result[name] = known + value
        elif value is not None or name not in result:
            result[name] = value
    return result


def tokens_in(usage: Mapping[str, Any]) -> int:
    """The tokens of a usage: its total, or else the sum of its prompt's and completion's."""
    total = usage.get("total_tokens")
    names = ("total_tokens",) if type(total) in NUMBERS else ("prompt_tokens", "completion_tokens")
    found = (usage.get(name, 0) for name in names)
    return sum(max(0, int(each)) for each in found if type(each) in NUMBERS and math.isfinite(each))
