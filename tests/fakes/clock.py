"""A clock that does not need to be waited for."""

from darc.models.remote.retry import RetryClock


class FakeClock:
    """Time passes in sleeps alone; `chance` is always the same."""

    def __init__(self, chance: float = 1.0, wall: float = 0.0) -> None:
        self.time = 0.0
        self.start = wall
        self.slept: list[float] = []
        self.chance = chance

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    @property
    def clock(self) -> RetryClock:
        return RetryClock(
            now=lambda: self.time,
            wall=lambda: self.start + self.time,
            sleep=self.sleep,
            chance=lambda: self.chance,
        )
