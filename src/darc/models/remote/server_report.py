"""What `darc check` finds out about a server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import BackendError, Rejected
from darc.models.remote.meter import CURRENT_METER, Meter
from darc.models.remote.retry import RetryPolicy

_MAX_LINE_LENGTH = 100


class CheckResult(NamedTuple):
    """What one check has shown."""

    #: What came of it, in a few words.
    result: str
    #: What that means for DARC.
    meaning: str = ""
    #: Whether that is as it should be; None if nothing was learnt.
    fine: bool | None = True


@dataclass(frozen=True)
class Finding:
    """One thing that was tried, and what it has shown; see `CheckResult`."""

    what: str
    result: str
    meaning: str = ""
    fine: bool | None = True


@dataclass
class ServerReport:
    """What is known of a server."""

    url: str
    model: str = ""
    #: "chat", "reward", or empty if it is neither.
    kind: str = ""
    findings: list[Finding] = field(default_factory=list)
    #: The options of the generator or scorer that suit the server.
    options: dict[str, str] = field(default_factory=dict)
    #: Why DARC cannot use the server; empty if it can.
    problem: str = ""
    reachable: bool = True
    #: The HTTP status of the failure that makes the server useless, if it had one.
    status: int | None = None
    #: How many calls were made.
    calls: int = 0
    #: How many tokens the server has counted.
    tokens: int = 0

    def add(self, what: str, result: str, meaning: str = "", fine: bool | None = True) -> None:
        """Add a finding."""
        self.findings.append(Finding(what, result, meaning, fine))

    def add_failure(self, what: str, problem: Rejected | BackendError) -> None:
        """Add what makes the server useless.

        Args:
            what: What was tried.
            problem: Why it failed.
        """
        reason = problem.message
        if isinstance(problem, Rejected):
            reason = problem.server_message
        self.add(what, "no", one_line(reason), fine=False)
        self.problem = str(problem)
        self.status = problem.status
        self.reachable = problem.status is not None

    async def run_check(
        self, what: str, check: Callable[[], Awaitable[CheckResult]], if_rejected: str
    ) -> None:
        """Run a check and add what it shows; if it fails, that is what it shows.

        Args:
            what: What is tried.
            check: The check.
            if_rejected: What it means for DARC if the server rejects the call.
        """
        try:
            result = await check()
        except Rejected as problem:
            words = one_line(f"refused ({problem.status})", problem.server_message)
            result = CheckResult(words, if_rejected, fine=False)
        except BackendError as problem:
            result = CheckResult("not known", one_line(problem.message), fine=None)
        self.add(what, *result)


@asynccontextmanager
async def probing_client(
    report: ServerReport, key_env: str, timeout: float
) -> AsyncIterator[AsyncClient]:
    """Open a client that tries every call once; its calls and tokens are added to a report.

    Args:
        report: The report, which names the URL.
        key_env: The environment variable with the key.
        timeout: The most seconds for a call.

    Yields:
        The client. It gives up on a server that has stopped answering.
    """
    meter = Meter()
    token = CURRENT_METER.set(meter)
    client = AsyncClient(
        report.url,
        key_env=key_env,
        timeout=timeout,
        concurrency=1,
        retry=RetryPolicy(attempts=1),
        breaker=BreakerSettings(threshold=3),
    )
    try:
        async with client:
            yield client
    finally:
        CURRENT_METER.reset(token)
        report.calls += meter.calls
        report.tokens += meter.tokens


def one_line(*parts: str) -> str:
    """Join the parts that are not empty on one line, cut if it is long."""
    lines = [" ".join(part.split()) for part in parts]
    text = ": ".join(line for line in lines if line)
    if len(text) > _MAX_LINE_LENGTH:
        return text[: _MAX_LINE_LENGTH - 1] + "…"
    return text
