import asyncio

import pytest

from darc.web.problems import Problem
from darc.web.request_gate import RequestGate


def test_gate_bounds_what_runs_and_what_waits() -> None:
    async def main() -> None:
        gate = RequestGate(1, 1)
        order: list[str] = []

        async def run(name: str) -> None:
            async with gate:
                order.append(name)
                await asyncio.sleep(0.01)

        first = asyncio.create_task(run("a"))
        second = asyncio.create_task(run("b"))
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
        gate = RequestGate(1, 1)
        async with gate:
            waiting = asyncio.create_task(gate.__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert gate.waiting == 0
        async with gate:
            assert gate.running == 1

    asyncio.run(main())
