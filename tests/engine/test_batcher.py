import asyncio
from contextvars import ContextVar

import pytest

from darc.engine.batcher import Batcher
from darc.engine.scheduling import RequestOwner


class Squares:
    """Squares numbers, writes down its batches, and fails on 1313."""

    def __init__(self, pause: float = 0.001) -> None:
        self.batches: list[list[int]] = []
        self.pause = pause

    async def __call__(self, items: list[int]) -> list[int]:
        self.batches.append(items)
        await asyncio.sleep(self.pause)
        if 1313 in items:
            raise ValueError("unlucky")
        return [item * item for item in items]


def test_many_callers_share_full_batches() -> None:
    async def main() -> tuple[list[list[int]], Squares]:
        squares = Squares()
        batcher = Batcher[int, int](squares, max_items=8)
        asked = (batcher.process([2 * i, 2 * i + 1], i) for i in range(32))
        return await asyncio.gather(*asked), squares

    answers, squares = asyncio.run(main())
    assert answers == [[(2 * i) ** 2, (2 * i + 1) ** 2] for i in range(32)]
    assert [len(batch) for batch in squares.batches] == [8] * 8


def test_a_failure_is_told_to_its_owner_alone() -> None:
    async def main() -> list[object]:
        batcher = Batcher[int, int](Squares(), max_items=8)
        asked = [
            batcher.process([1, 2], "a"),
            batcher.process([12, 1313], "b"),
            batcher.process([3], "c"),
        ]
        return list(await asyncio.gather(*asked, return_exceptions=True))

    first, failed, last = asyncio.run(main())
    assert first == [1, 4]
    assert last == [9]
    assert isinstance(failed, ValueError)


def test_what_nobody_waits_for_is_not_asked() -> None:
    async def main() -> Squares:
        squares = Squares(0.02)
        batcher = Batcher[int, int](squares, max_items=4)
        first = asyncio.ensure_future(batcher.process([1, 2, 3, 4], "a"))
        gone = asyncio.ensure_future(batcher.process(list(range(100, 200)), "b"))
        await asyncio.sleep(0.005)
        gone.cancel()
        assert await batcher.process([5], "c") == [25]
        await first
        return squares

    squares = asyncio.run(main())
    assert sum(map(len, squares.batches)) <= 4 + 4 + 1


def test_owners_take_turns() -> None:
    async def main() -> Squares:
        squares = Squares()
        batcher = Batcher[int, int](squares, max_items=4)
        await asyncio.gather(
            batcher.process(list(range(100, 140)), "much"), batcher.process([1], "little")
        )
        return squares

    assert any(1 in batch for batch in asyncio.run(main()).batches[:2])


@pytest.mark.parametrize(("most", "sizes"), [(30, [3, 3, 2]), (5, [1] * 8), (1000, [8])])
def test_a_batch_is_not_too_heavy(most: int, sizes: list[int]) -> None:
    async def main() -> Squares:
        squares = Squares()
        batcher = Batcher[int, int](
            squares, max_items=8, item_weight=lambda item: 10, max_weight=most
        )
        await batcher.process(list(range(8)), "a")
        return squares

    assert [len(batch) for batch in asyncio.run(main()).batches] == sizes


def test_light_items_do_not_wait_for_heavy_ones() -> None:
    async def main() -> Squares:
        squares = Squares()
        batcher = Batcher[int, int](
            squares, max_items=8, item_weight=lambda item: item, max_weight=200
        )
        heavy = [asyncio.ensure_future(batcher.process([100] * 20, i)) for i in range(10)]
        await asyncio.sleep(0.0005)
        await batcher.process([1] * 8, "light")
        for task in heavy:
            task.cancel()
        await asyncio.gather(*heavy, return_exceptions=True)
        return squares

    batches = asyncio.run(main()).batches
    assert [1] * 8 in batches[:7]


WHO: ContextVar[str] = ContextVar("who", default="nobody")


def test_a_call_is_made_in_the_context_of_the_first_who_asked() -> None:
    heard: list[str] = []

    async def call(items: list[int]) -> list[int]:
        heard.append(WHO.get())
        await asyncio.sleep(0)
        return items

    async def asked(batcher: Batcher[int, int], name: str) -> None:
        WHO.set(name)
        await batcher.process([1, 2], name)

    async def main() -> None:
        batcher = Batcher[int, int](call, max_items=4)
        await asyncio.gather(*(asked(batcher, name) for name in ("a", "b", "c")))

    asyncio.run(main())
    assert heard == ["a", "b"]


@pytest.mark.parametrize("ends", [False, True])
def test_a_call_that_nobody_waits_for_is_ended_where_it_can_be(ends: bool) -> None:
    ended: list[str] = []

    async def call(items: list[int]) -> list[int]:
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        ended.append("finished")
        return items

    async def main() -> None:
        batcher = Batcher[int, int](call, max_items=4, cancellable=ends)
        gone = [asyncio.ensure_future(batcher.process([i], i)) for i in range(2)]
        await asyncio.sleep(0.01)
        gone[0].cancel()
        await asyncio.sleep(0.01)
        assert not ended
        gone[1].cancel()
        assert await batcher.process([7], "next") == [7]

    asyncio.run(main())
    assert ended == ["cancelled" if ends else "finished", "finished"]


@pytest.mark.parametrize("delay", range(20))
def test_nobody_who_asks_as_a_call_ends_is_forgotten(delay: int) -> None:
    async def call(items: list[int]) -> list[int]:
        return items

    async def main() -> None:
        batcher = Batcher[int, int](call)

        async def later() -> list[int]:
            for _ in range(delay):
                await asyncio.sleep(0)
            return await batcher.process([2], "later")

        both = asyncio.gather(later(), batcher.process([1], "first"))
        assert list(await asyncio.wait_for(both, 1)) == [[2], [1]]

    asyncio.run(main())


def test_a_result_too_few_is_told() -> None:
    async def call(items: list[int]) -> list[int]:
        return items[1:]

    async def main() -> None:
        await asyncio.wait_for(Batcher[int, int](call).process([1, 2], "a"), 5)

    with pytest.raises(ValueError, match="1 results for 2 items"):
        asyncio.run(main())


def test_what_arrives_as_the_last_call_ends_is_served() -> None:
    async def call(items: list[int]) -> list[int]:
        await asyncio.sleep(0)
        return items

    async def main() -> list[int]:
        batcher = Batcher[int, int](call, max_items=1)

        async def twice() -> list[int]:
            await batcher.process([1], "a")
            return await batcher.process([2], "a")

        async with asyncio.timeout(5):
            answers, _ = await asyncio.gather(twice(), batcher.process([3], "b"))
        return answers

    assert asyncio.run(main()) == [2]


def test_texts_of_small_work_are_in_the_first_batch() -> None:
    batches: list[list[int]] = []

    async def call(items: list[int]) -> list[int]:
        batches.append(items)
        return items

    async def main() -> None:
        batcher = Batcher[int, int](call, item_weight=lambda item: item, max_weight=100)
        large = [batcher.process([60, 60], RequestOwner(120_000)) for _ in range(5)]
        await asyncio.gather(*large, batcher.process([1, 2], RequestOwner(3)))

    asyncio.run(main())
    assert batches[0] == [1, 2, 60]
