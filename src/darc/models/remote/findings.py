"""What was tried on a server, and what came of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from darc.models.remote.endpoints import Breaker, Retry
from darc.models.remote.problems import Failed, Refused
from darc.models.remote.scope import Meter

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


def usage(answer: Any, name: str) -> int:
    """A count in the usage of an answer, 0 where there is none."""
    counts = answer.get("usage") if isinstance(answer, dict) else None
    found = counts.get(name) if isinstance(counts, dict) else None
    return found if isinstance(found, int) else 0


def shown(*parts: str) -> str:
    """Parts that are not empty on one line, cut where they are long."""
    text = ": ".join(filter(None, (" ".join(part.split()) for part in parts)))
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
