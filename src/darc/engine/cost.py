"""What a decision costs: time by stage, and texts that were scored."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


class SharedTime:
    """Divides the time that passes equally among all stages that are under way.

    Prompts that are worked on side by side wait for each other. If each counted the whole time from
    the begin to the end of a stage, the sum over many prompts would be many times the time that
    passed. With shares, the sum is the time in which anything was under way.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        """Begin with no stage.

        Args:
            now: A clock in seconds.
        """
        self._now = now
        self._last_change = now()
        self._shares: list[list[float]] = []

    @contextmanager
    def share(self) -> Iterator[list[float]]:
        """Take part in the division of time inside the block.

        Yields:
            A list of one number, the seconds that belong to this block; final after the block.
        """
        seconds = [0.0]
        self._divide()
        self._shares.append(seconds)
        try:
            yield seconds
        finally:
            self._divide()
            self._shares = [share for share in self._shares if share is not seconds]

    def _divide(self) -> None:
        """Divide the time since the last change among those who took part."""
        now = self._now()
        for share in self._shares:
            share[0] += (now - self._last_change) / len(self._shares)
        self._last_change = now


@dataclass
class Clock:
    """Adds up how long each stage takes."""

    #: Milliseconds by the name of the stage.
    milliseconds: dict[str, float] = field(default_factory=dict)
    #: Divides time among the stages of several prompts; None counts all the time that passes, with
    #: what is spent waiting for other prompts.
    shared_time: SharedTime | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside the block to a stage."""
        # A clock of its own shares the time with nobody.
        shared_time = self.shared_time or SharedTime()
        seconds = [0.0]
        try:
            with shared_time.share() as seconds:
                yield
        finally:
            spent = seconds[0] * 1000
            self.milliseconds[name] = self.milliseconds.get(name, 0.0) + spent


@dataclass
class CallCounts:
    """Counts what a prompt's samples cost."""

    #: Different texts that were sent to the scorers, or grades that raters were asked for.
    calls: int = 0
    #: Scores that scorers computed, over all scorers.
    scored: int = 0
    #: Scores that came from the score cache, over all scorers.
    from_cache: int = 0
