"""How the time of a run is divided among stages."""

import asyncio
from contextlib import ExitStack

import pytest

from darc.engine.cost import Clock, SharedTime


class Watch:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_time_is_divided_among_the_stages_under_way() -> None:
    watch = Watch()
    shared_time = SharedTime(watch)
    first = Clock(shared_time=shared_time)
    second = Clock(shared_time=shared_time)
    with first.stage("generate"):
        watch.seconds += 1.0
        with second.stage("score"):
            watch.seconds += 4.0
        watch.seconds += 2.0
    watch.seconds += 10.0
    assert first.milliseconds == {"generate": pytest.approx(5000)}
    assert second.milliseconds == {"score": pytest.approx(2000)}


def test_a_stage_that_fails_is_counted_and_leaves() -> None:
    watch = Watch()
    shared_time = SharedTime(watch)
    clock = Clock(shared_time=shared_time)

    def fail() -> None:
        with clock.stage("score"):
            watch.seconds += 1.0
            raise ValueError("failed")

    with pytest.raises(ValueError, match="failed"):
        fail()
    with clock.stage("score"):
        watch.seconds += 1.0
    assert clock.milliseconds == {"score": pytest.approx(2000)}


def test_many_prompts_together_take_the_time_that_passed() -> None:
    shared_time = SharedTime()
    clocks = [Clock(shared_time=shared_time) for _ in range(20)]

    async def wait(clock: Clock) -> None:
        with clock.stage("generate"):
            await asyncio.sleep(0.05)

    async def wait_for_all() -> float:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        await asyncio.gather(*(wait(clock) for clock in clocks))
        return loop.time() - begun

    seconds = asyncio.run(wait_for_all())
    total = sum(clock.milliseconds["generate"] for clock in clocks) / 1000
    assert 0.04 < total <= seconds


def test_clocks_of_their_own_count_all_the_time_that_passes() -> None:
    clocks = [Clock(), Clock()]
    with ExitStack() as stack:
        for clock in clocks:
            stack.enter_context(clock.stage("decide"))
    assert all(clock.milliseconds["decide"] >= 0 for clock in clocks)
