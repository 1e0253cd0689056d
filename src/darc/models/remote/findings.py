"""What was tried on a server, and what came of it."""

import asyncio
import json
import os
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from time import monotonic
from typing import Any

from darc.models.remote.address import is_loopback
from darc.models.remote.breaker import Breaker
from darc.models.remote.problems import Failed, Refused, said
from darc.models.remote.retry import Retry
from darc.models.remote.scope import Meter

LARGEST = 1_000_000
LONGEST = 100


@dataclass(frozen=True)
class Finding:
    """One thing that was tried: what came of it, and what that means for DARC.

    `fine` is None where nothing was learnt.
    """

    what: str
    result: str
    meaning: str = ""
    fine: bool | None = True


@dataclass
class ServerReport:
    """What is known of a server; `problem` says why DARC cannot use it, and is empty if it can.

    `kind` is "chat", "reward", or empty where it is neither; `status` is that of the failure then.
    `options` are those of the generator or scorer that suit it.
    """

    url: str
    model: str = ""
    kind: str = ""
    findings: list[Finding] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    reachable: bool = True
    status: int | None = None
    calls: int = 0
    tokens: int = 0

    def add(self, what: str, result: str, meaning: str = "", fine: bool | None = True) -> None:
        """Add a finding."""
        self.findings.append(Finding(what, result, meaning, fine))

    async def attempt(
        self, what: str, check: Callable[[], Awaitable[Finding]], refused: str
    ) -> None:
        """Add what a check finds; one that fails says so, and stops no other."""
        try:
            self.findings.append(await check())
        except Refused as problem:
            self.add(what, shown(f"refused ({problem.status})", problem.said), refused, False)
        except Failed as problem:
            self.add(what, "not known", shown(problem.message), None)


class Counting(Meter):
    """Counts for a report."""

    def __init__(self, report: ServerReport) -> None:
        super().__init__()
        self._report = report

    def begin(self, url: str) -> None:
        """Count a call."""
        self._report.calls += 1

    def add(self, answer: Any) -> None:
        """Count the tokens that an answer speaks of."""
        self._report.tokens += usage(answer, "total_tokens")


def trial_options(key_env: str, timeout: float) -> dict[str, Any]:
    """The options of a client that tries once, and gives up on a server that has gone."""
    return {
        "key_env": key_env,
        "timeout": timeout,
        "concurrency": 1,
        "retry": Retry(attempts=1),
        "breaker": Breaker(threshold=3),
    }


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would carry the key elsewhere."""

    def redirect_request(self, *args: Any) -> None:
        """Nothing to go on with."""


async def fetch(
    report: ServerReport, url: str, key_env: str, timeout: float, body: dict[str, Any] | None = None
) -> tuple[int, str]:
    """The status and text of an answer that need not be JSON; a GET where there is no `body`.

    The text is without the key, should the server repeat it.
    """
    key = os.environ.get(key_env, "").strip()
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    content = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, content, headers)
    proxies = urllib.request.ProxyHandler({} if is_loopback(url) else None)
    opener = urllib.request.build_opener(proxies, _Stay)
    ends = monotonic() + timeout

    def get() -> tuple[int, bytes]:
        try:
            answer = opener.open(asked, timeout=timeout)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        found = b""
        with answer:
            while part := answer.read1(LARGEST):
                found += part
                if len(found) >= LARGEST:
                    break
                if monotonic() > ends:
                    raise TimeoutError
        return answer.status, found

    try:
        status, found = await asyncio.to_thread(get)
    except (OSError, HTTPException, ValueError) as problem:
        reason = getattr(problem, "reason", None) or problem
        if isinstance(reason, TimeoutError):
            raise Failed(f"{url} did not answer within {timeout:g} s", "raise --timeout") from None
        if isinstance(problem, HTTPException):
            raise Failed(f"{url} broke off its answer", "is it a server of this kind?") from None
        told = str(reason) or type(reason).__name__
        raise Failed(f"{url} cannot be reached: {told}", "is the server running there?") from None
    finally:
        report.calls += 1
    text = found.decode("utf-8", "replace")
    if key:
        text = text.replace(key, "***")
    if body is not None and status >= 300:
        raise Refused(f"{url} answered {status}", "", status, said(text))
    return status, text


def usage(answer: Any, name: str) -> int:
    """A count in the usage of an answer, 0 where there is none."""
    counts = answer.get("usage") if isinstance(answer, dict) else None
    found = counts.get(name) if isinstance(counts, dict) else None
    return found if isinstance(found, int) else 0


def shown(*parts: str) -> str:
    """Parts that are not empty on one line, cut where they are long."""
    text = ": ".join(filter(None, (" ".join(part.split()) for part in parts)))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
