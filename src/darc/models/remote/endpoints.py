"""Where a model is served, and when and where a call is tried again.

A model is served at MODEL@URL, or at MODEL@URL|URL where several servers have it: then a call goes
to the least loaded one that is not left alone.
"""

import asyncio
import itertools
import math
import os
import random
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, urlsplit

from darc.errors import InputError
from darc.models.remote.problems import ErrorStatus, Failed, LeftAlone, OverLimit, Refused, TooLarge

_ADDRESS = re.compile(r"(?P<model>.*?)@(?P<url>https?://.*)", re.IGNORECASE | re.DOTALL)
_VERSION = re.compile(r"v\d\w*\Z")
CHAT = "/chat/completions"
SEVERAL = "|"
BASE_URL, KEY, OPENAI = "OPENAI_BASE_URL", "OPENAI_API_KEY", "https://api.openai.com/v1"
PASSING = frozenset({408, 409, 425, 429})
LASTING = frozenset({501, 505})


def parse_address(text: str) -> tuple[str, str]:
    """The model and the URL, or several, of "MODEL@URL"; the model's name may itself hold an @.

    Without a URL it is OPENAI_BASE_URL's, or OpenAI's own where there is a key for it.
    """
    usual = os.environ.get(BASE_URL) or (OPENAI if os.environ.get(KEY) else "")
    if usual and text.strip() and "@" not in text:
        text = f"{text}@{usual}"
    found = _ADDRESS.fullmatch(text.strip())
    if not found or not found["model"].strip():
        raise InputError(
            f"{text!r} names no model on a server",
            f"write MODEL@URL, such as my-model@http://localhost:8000, or set {BASE_URL}",
        )
    return found["model"].strip(), base_url(found["url"])


def base_url(text: str) -> str:
    """The URL that ends before /chat/completions; /v1 is added where no version stands in it.

    Of several, with | between them, each.
    """
    urls = []
    for parts in map(checked_url, text.split(SEVERAL)):
        path = parts.path.rstrip("/").removesuffix(CHAT)
        if not any(_VERSION.match(segment) for segment in path.split("/")):
            path += "/v1"
        urls.append(parts._replace(path=path, query="", fragment="").geturl())
    return SEVERAL.join(urls)


def checked_url(text: str) -> SplitResult:
    """A URL taken apart; one without a host, or with a password in it, is refused."""
    try:
        parts = urlsplit(text.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(
            f"{text!r} is no URL of a server", "write http://HOST:PORT or https://HOST"
        )
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"the URL of {host} has a name or password in it",
            "put the key into an environment variable and name it with key_env",
        )
    return parts


@dataclass(frozen=True)
class RetryClock:
    """Time and chance, so that neither needs to be waited for in a test; `wall` is the date."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True)
class Retry:
    """At most `attempts` tries, none of them begun later than `seconds` after the first.

    The pause before try i + 1 is uniform between 0 and `first` 2^(i - 1) seconds, at most
    `longest`; a server that names a time to come back is taken at its word.
    """

    attempts: int = 6
    seconds: float = 300.0
    first: float = 0.5
    longest: float = 30.0

    def pause(self, named: Sequence[float | None], chance: float) -> float:
        """The seconds to wait after failed attempts, by the times to come back that they named."""
        if not named:
            return 0.0
        if named[-1] is not None:
            return named[-1] + chance * self.first
        return chance * min(self.longest, self.first * 2.0 ** min(len(named) - 1, 60))


def is_passing(status: int) -> bool:
    """Whether the same call may succeed later."""
    return status in PASSING or (status >= 500 and status not in LASTING)


def retry_after(header: str | None, wall: float) -> float | None:
    """The seconds that a Retry-After header asks for, given in seconds or as a date."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - wall
        except (ValueError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


@dataclass(frozen=True)
class Breaker:
    """When a server is left alone: `threshold` calls in a row have failed, for `cooldown` seconds.

    Then one call is let through: its outcome closes the breaker or opens it again.
    """

    threshold: int = 5
    cooldown: float = 30.0


@dataclass(eq=False)
class Endpoint:
    """A server, how many calls it has under way, and until when it is left alone, if it is.

    `turn` is its latest call; `probed` says that the call which tries it out is under way.
    """

    url: str
    breaker: Breaker = field(default_factory=Breaker)
    running: int = 0
    turn: int = 0
    failures: int = 0
    until: float | None = None
    probed: bool = False

    def waiting(self, now: float) -> float | None:
        """The seconds until a call may begin, None where one may begin now."""
        if self.until is None:
            return None
        if now < self.until:
            return self.until - now
        return 0.0 if self.probed else None

    def judge(self, problem: BaseException | None, probe: bool, now: float) -> None:
        """Note how a call, or the `probe`, has ended; too many requests are not its fault."""
        limited = isinstance(problem, ErrorStatus) and (problem.status or 500) < 500
        if problem is None or isinstance(problem, Refused | TooLarge):
            self.failures, self.until, self.probed = 0, None, False
        elif isinstance(problem, Failed) and not (limited or isinstance(problem, OverLimit)):
            self.failures += 1
            if self.probed or self.failures >= self.breaker.threshold:
                self.until = now + self.breaker.cooldown
            self.probed = False
        elif probe:
            self.probed = False


@dataclass
class Call:
    """A call, the `place` that it has at an endpoint, and its failed attempts.

    Of each: where it failed, and after how many seconds to come back, if the server said so. A
    `probe` is the one call that finds out whether an endpoint is back.
    """

    place: Endpoint | None = None
    probe: bool = False
    failures: list[tuple[Endpoint, float | None]] = field(default_factory=list)

    def failed_at(self, endpoint: Endpoint | None) -> list[float | None]:
        """When an endpoint said to come back, of each attempt that failed there."""
        return [after for where, after in self.failures if where is endpoint]

    def standing(self, endpoint: Endpoint) -> tuple[float, int, bool]:
        """Less is better: no time to come back, few failures, and not the same again."""
        if not self.failures:
            return 0.0, 0, False
        named = self.failed_at(endpoint)
        return (named or [None])[-1] or 0.0, len(named), endpoint is self.failures[-1][0]


class Endpoints:
    """Gives out places, at most `bound` at a time at each endpoint, first come first served.

    An endpoint is judged by how a call leaves it: at its end, or for another endpoint.
    """

    def __init__(
        self, urls: Iterable[str], bound: int, breaker: Breaker, clock: RetryClock
    ) -> None:
        self.all = [Endpoint(url, breaker) for url in urls]
        self._bound, self._clock, self._turns = bound, clock, itertools.count(1)
        self._waiting: deque[tuple[asyncio.Future[Endpoint], Call]] = deque()

    def reset(self) -> None:
        """Forget places that were given out in another event loop."""
        self._waiting.clear()
        for each in self.all:
            each.running = 0

    async def take(self, call: Call) -> Endpoint:
        """A place at the endpoint with the best standing; raises `LeftAlone` where all are."""
        future: asyncio.Future[Endpoint] = asyncio.get_running_loop().create_future()
        self._waiting.append((future, call))
        self._serve()
        try:
            return await future
        except asyncio.CancelledError as problem:
            self.give(call, problem)
            raise

    def better(self, call: Call) -> Endpoint | None:
        """Where a call that has failed goes on: there or elsewhere; None for nowhere."""
        able = [each for each in self.able() if each is not call.place]
        if call.place is not None and not call.probe:
            able.append(call.place)
        return min(able, key=lambda e: (*call.standing(e), e.running, e.turn), default=None)

    def give(self, call: Call, problem: BaseException | None) -> None:
        """Judge the endpoint by how a call ended, and let another call have the place."""
        self.judge(call, problem)
        self.free(call)

    def judge(self, call: Call, problem: BaseException | None) -> None:
        """Tell a call's endpoint, if it has one, how the call ended."""
        if call.place is not None:
            call.place.judge(problem, call.probe, self._clock.now())

    def free(self, call: Call) -> None:
        """Let another call have the place, without a word on its endpoint."""
        if call.place is not None:
            call.place.running -= 1
            call.place = None
            self._serve()

    def _serve(self) -> None:
        """Give places to those who wait, in turn; who wants only some endpoints holds up nobody."""
        kept = []
        while self._waiting:
            future, call = self._waiting.popleft()
            if future.done():
                continue
            try:
                found = self._free(call)
            except LeftAlone as problem:
                future.set_exception(problem)
                continue
            if found is not None:
                future.set_result(found)
                continue
            kept.append((future, call))
            if not call.failures:
                break  # there is no room for anybody
        self._waiting.extendleft(reversed(kept))

    def _free(self, call: Call) -> Endpoint | None:
        """A place where the fewest calls are, of the best that are open; None if these are full."""
        able = self.able()
        best = min(map(call.standing, able), default=None)
        room = [e for e in able if e.running < self._bound and call.standing(e) == best]
        if room:
            found = min(room, key=lambda each: (each.running, each.turn))
            found.turn, found.running = next(self._turns), found.running + 1
            found.probed = found.until is not None
            call.place, call.probe = found, found.probed
            return found
        if able:
            return None
        now = self._clock.now()
        wait = min(each.waiting(now) or 0.0 for each in self.all)
        urls = " and ".join(each.url for each in self.all)
        has = "has" if len(self.all) == 1 else "have"
        raise LeftAlone(
            f"{urls} {has} failed {self.all[0].breaker.threshold} calls in a row",
            f"it is asked again in {wait:.0f} s",
            after=wait,
        )

    def able(self) -> list[Endpoint]:
        """The endpoints that are not left alone."""
        now = self._clock.now()
        return [each for each in self.all if each.waiting(now) is None]
