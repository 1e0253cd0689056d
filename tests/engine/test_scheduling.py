import asyncio

import pytest

from darc.engine.scheduling import FairScheduler, RequestOwner


async def take_turn(turns: FairScheduler, owner: str, done: list[str], pause: float = 0.0) -> None:
    async with turns.slot(owner):
        await asyncio.sleep(pause)
        done.append(owner)


def test_an_owner_with_much_work_does_not_keep_another_waiting() -> None:
    async def main() -> list[str]:
        turns = FairScheduler(1)
        done = list[str]()
        busy = [take_turn(turns, "busy", done) for _ in range(20)]
        await asyncio.gather(*busy, take_turn(turns, "other", done))
        return done

    done = asyncio.run(main())
    assert len(done) == 21
    assert done.index("other") <= 2


def test_no_more_than_the_slots_are_at_work() -> None:
    async def main() -> tuple[int, int]:
        turns = FairScheduler(3)
        at_work = 0
        most = 0

        async def one(owner: int) -> None:
            nonlocal at_work, most
            async with turns.slot(owner % 5):
                at_work += 1
                most = max(most, at_work)
                await asyncio.sleep(0.001)
                at_work -= 1

        await asyncio.gather(*map(one, range(40)))
        return most, at_work

    assert asyncio.run(main()) == (3, 0)


@pytest.mark.parametrize("late", [False, True])
def test_work_that_is_given_up_leaves_its_slot_to_others(late: bool) -> None:
    async def main() -> None:
        turns = FairScheduler(1)
        done = list[str]()
        async with turns.slot("first"):
            waiting = [asyncio.ensure_future(take_turn(turns, "gone", done)) for _ in range(5)]
            await asyncio.sleep(0)
            if not late:
                for task in waiting:
                    task.cancel()
        if late:  # the slot was handed over, and nobody took it yet
            for task in waiting:
                task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.wait_for(take_turn(turns, "next", done), 1.0)
        assert done == ["next"]
        assert not turns._waiters

    asyncio.run(main())


def test_who_has_had_least_time_is_next() -> None:
    async def main() -> list[str]:
        turns = FairScheduler(1)
        done = list[str]()
        async with turns.slot("long"):
            await asyncio.sleep(0.02)
        async with turns.slot("other"):
            waiting = [take_turn(turns, "long", done), take_turn(turns, "long", done)]
            tasks = [asyncio.ensure_future(each) for each in waiting]
            await asyncio.sleep(0)
            tasks += [asyncio.ensure_future(take_turn(turns, "new", done)) for _ in range(3)]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return done

    assert asyncio.run(main()) == ["new"] * 3 + ["long"] * 2


def test_small_work_goes_before_large_work_that_has_only_come() -> None:
    async def main() -> list[int]:
        turns = FairScheduler(1)
        done = list[int]()

        async def one(owner: RequestOwner) -> None:
            async with turns.slot(owner):
                await asyncio.sleep(0.001)
                done.append(owner.characters)

        small = RequestOwner(1_000)
        large = [RequestOwner(1_000_000) for _ in range(10)]
        async with turns.slot(small):
            await asyncio.sleep(0.02)
            tasks = [asyncio.ensure_future(one(each)) for each in [*large, small, small]]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return done

    assert asyncio.run(main()) == [1_000] * 2 + [1_000_000] * 10
