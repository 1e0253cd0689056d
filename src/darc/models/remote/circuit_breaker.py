"""Leaving a server alone for a while after it has failed many calls in a row."""

from dataclasses import dataclass

from darc.models.remote.errors import BackendError, ErrorStatus, OverLimit, Rejected, TooLarge


@dataclass(frozen=True)
class BreakerSettings:
    """When a circuit breaker opens, and for how long."""

    #: The number of failures in a row that opens it.
    threshold: int = 5
    #: The seconds until one call, the probe, is let through again.
    cooldown: float = 30.0


class CircuitBreaker:
    """Decides whether a server may be called.

    The breaker is closed as long as calls succeed. It opens after `threshold` failures in a row:
    then no call is let through for `cooldown` seconds. After that a single call, the probe, tries
    the server: its outcome closes the breaker or opens it again.
    """

    def __init__(self, settings: BreakerSettings) -> None:
        self.settings = settings
        self._failures = 0
        self._open_until: float | None = None
        self._probe_running = False

    def seconds_until_ready(self, now: float) -> float | None:
        """Return how long no call may begin.

        Args:
            now: The time, in seconds.

        Returns:
            The seconds left, 0 while a probe is under way, or None if a call may begin now.
        """
        if self._open_until is None:
            return None
        if now < self._open_until:
            return self._open_until - now
        if self._probe_running:
            return 0.0
        return None

    def begin_call(self) -> bool:
        """Note that a call begins, and return whether it is the probe."""
        self._probe_running = self._open_until is not None
        return self._probe_running

    def record(self, problem: BaseException | None, is_probe: bool, now: float) -> None:
        """Note how a call has ended.

        Args:
            problem: What the call raised, or None if it succeeded.
            is_probe: Whether the call was the probe.
            now: The time, in seconds.
        """
        if problem is None or isinstance(problem, Rejected | TooLarge):
            self._close()
        elif _is_servers_fault(problem):
            self._count_failure(now)
        elif is_probe:
            self._probe_running = False

    def _close(self) -> None:
        self._failures = 0
        self._open_until = None
        self._probe_running = False

    def _count_failure(self, now: float) -> None:
        self._failures += 1
        if self._probe_running or self._failures >= self.settings.threshold:
            self._open_until = now + self.settings.cooldown
        self._probe_running = False


def _is_servers_fault(problem: BaseException) -> bool:
    """Whether a problem counts against the server; that it has too many requests does not."""
    if not isinstance(problem, BackendError) or isinstance(problem, OverLimit):
        return False
    if isinstance(problem, ErrorStatus):
        status = problem.status or 500
        return status >= 500
    return True
