import asyncio

import pytest

from darc.engine.turns import Turns


async def work(turns: Turns, owner: str, done: list[str], pause: float = 0.0) -> None:
    async with turns.slot(owner):
        await asyncio.sleep(pause)
        done.append(owner)


def test_an_owner_with_much_work_does_not_keep_another_waiting() -> None:
    async def main() -> list[str]:
        turns, done = Turns(1), list[str]()
        busy = [work(turns, "busy", done) for _ in range(20)]
        await asyncio.gather(*busy, work(turns, "other", done))
        return done

    done = asyncio.run(main())
    assert len(done) == 21
    assert done.index("other") <= 2


def test_no_more_than_the_slots_are_at_work_and_each_has_a_number() -> None:
    async def main() -> tuple[int, set[int]]:
        turns, at_work, most = Turns(3), set[int](), 0

        async def one(owner: int) -> int:
            nonlocal most
            async with turns.slot(owner % 5) as number:
                assert number not in at_work
                at_work.add(number)
                most = max(most, len(at_work))
                await asyncio.sleep(0.001)
                at_work.discard(number)
                return number

        numbers = set(await asyncio.gather(*map(one, range(40))))
        return most, numbers

    most, numbers = asyncio.run(main())
    assert most == 3
    assert numbers == {0, 1, 2}


@pytest.mark.parametrize("late", [False, True])
def test_work_that_is_given_up_leaves_its_slot_to_others(late: bool) -> None:
    async def main() -> None:
        turns, done = Turns(1), list[str]()
        async with turns.slot("first"):
            waiting = [asyncio.ensure_future(work(turns, "gone", done)) for _ in range(5)]
            await asyncio.sleep(0)
            if not late:
                for task in waiting:
                    task.cancel()
        if late:  # the slot was handed over, and nobody took it yet
            for task in waiting:
                task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.wait_for(work(turns, "next", done), 1.0)
        assert done == ["next"]
        assert turns.waiting == 0

    asyncio.run(main())


def test_who_has_had_least_time_is_next() -> None:
    async def main() -> list[str]:
        turns, done = Turns(1), list[str]()
        async with turns.slot("long"):
            await asyncio.sleep(0.02)
        async with turns.slot("other"):
            waiting = [work(turns, "long", done), work(turns, "long", done)]
            tasks = [asyncio.ensure_future(each) for each in waiting]
            await asyncio.sleep(0)
            tasks += [asyncio.ensure_future(work(turns, "new", done)) for _ in range(3)]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return done

    assert asyncio.run(main()) == ["new"] * 3 + ["long"] * 2
