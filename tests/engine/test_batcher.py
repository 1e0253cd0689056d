import asyncio
from collections.abc import Hashable

import pytest

from darc.engine.batcher import Batcher


class Squares:
    """Squares numbers, writes down its batches, and fails on 1313."""

    def __init__(self, pause: float = 0.001) -> None:
        self.batches: list[list[int]] = []
        self.pause = pause

    async def __call__(self, items: list[int], _: Hashable) -> list[int]:
        self.batches.append(items)
        await asyncio.sleep(self.pause)
        if 1313 in items:
            raise ValueError("unlucky")
        return [item * item for item in items]


def test_many_callers_share_full_batches() -> None:
    async def main() -> tuple[list[list[int]], Squares]:
        squares = Squares()
        batcher = Batcher[int, int](squares, size=8)
        asked = (batcher.ask([2 * i, 2 * i + 1], i) for i in range(32))
        return await asyncio.gather(*asked), squares

    answers, squares = asyncio.run(main())
    assert answers == [[(2 * i) ** 2, (2 * i + 1) ** 2] for i in range(32)]
    assert [len(batch) for batch in squares.batches] == [8] * 8


def test_a_failure_is_told_to_its_owner_alone() -> None:
    async def main() -> list[object]:
        batcher = Batcher[int, int](Squares(), size=8)
        asked = [batcher.ask([1, 2], "a"), batcher.ask([12, 1313], "b"), batcher.ask([3], "c")]
        return list(await asyncio.gather(*asked, return_exceptions=True))

    first, failed, last = asyncio.run(main())
    assert first == [1, 4]
    assert last == [9]
    assert isinstance(failed, ValueError)


def test_what_nobody_waits_for_is_not_asked() -> None:
    async def main() -> Squares:
        squares = Squares(0.02)
        batcher = Batcher[int, int](squares, size=4)
        first = asyncio.ensure_future(batcher.ask([1, 2, 3, 4], "a"))
        gone = asyncio.ensure_future(batcher.ask(list(range(100, 200)), "b"))
        await asyncio.sleep(0.005)
        gone.cancel()
        assert await batcher.ask([5], "c") == [25]
        await first
        return squares

    squares = asyncio.run(main())
    assert sum(map(len, squares.batches)) <= 4 + 4 + 1


def test_owners_take_turns() -> None:
    async def main() -> Squares:
        squares = Squares()
        batcher = Batcher[int, int](squares, size=4)
        await asyncio.gather(batcher.ask(list(range(100, 140)), "much"), batcher.ask([1], "little"))
        return squares

    assert any(1 in batch for batch in asyncio.run(main()).batches[:2])


@pytest.mark.parametrize(("most", "sizes"), [(30, [3, 3, 2]), (5, [1] * 8), (1000, [8])])
def test_a_batch_is_not_too_heavy(most: int, sizes: list[int]) -> None:
    async def main() -> Squares:
        squares = Squares()
        batcher = Batcher[int, int](squares, size=8, weigh=lambda item: 10, most=most)
        await batcher.ask(list(range(8)), "a")
        return squares

    assert [len(batch) for batch in asyncio.run(main()).batches] == sizes


def test_what_arrives_as_the_last_call_ends_is_served() -> None:
    async def call(items: list[int], owner: Hashable) -> list[int]:
        await asyncio.sleep(0)
        return items

    async def main() -> list[int]:
        batcher = Batcher[int, int](call, size=1)

        async def twice() -> list[int]:
            await batcher.ask([1], "a")
            return await batcher.ask([2], "a")

        async with asyncio.timeout(5):
            answers, _ = await asyncio.gather(twice(), batcher.ask([3], "b"))
        return answers

    assert asyncio.run(main()) == [2]
