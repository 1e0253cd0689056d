"""What a decision costs: time by stage, and texts that were scored."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Adds up how long each stage takes."""

    #: Milliseconds by the name of the stage.
    milliseconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time spent inside the block to a stage."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
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
