import asyncio

import pytest

from darc.web.limits import Gate, Rates
from darc.web.problems import Problem


def test_bucket_empties_and_fills_again() -> None:
    now = 0.0
    rates = Rates(lambda: now)
    assert [rates.wait("a", 2) for _ in range(3)] == [0, 0, 30]
    assert rates.wait("b", 2) == 0
    now = 30.0
    assert rates.wait("a", 2) == 0
    assert rates.wait("a", 2) > 0
    assert rates.wait("a", 0) == 0


def test_gate_bounds_what_runs_and_what_waits() -> None:
    async def main() -> None:
        gate = Gate(1, 1)
        order: list[str] = []

        async def work(name: str) -> None:
            async with gate:
                order.append(name)
                await asyncio.sleep(0.01)

        first, second = asyncio.create_task(work("a")), asyncio.create_task(work("b"))
        await asyncio.sleep(0)
        with pytest.raises(Problem) as caught:
            async with gate:
                pass
        assert caught.value.status == 429
        assert caught.value.headers["Retry-After"] == "1"
        await asyncio.gather(first, second)
        assert order == ["a", "b"]
        assert (gate.running, gate.waiting) == (0, 0)

    asyncio.run(main())


def test_gate_forgets_who_gives_up() -> None:
    async def main() -> None:
        gate = Gate(1, 1)
        async with gate:
            waiting = asyncio.create_task(gate.__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert gate.waiting == 0
        async with gate:
            assert gate.running == 1

    asyncio.run(main())
