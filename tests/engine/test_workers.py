import asyncio
import multiprocessing
import os
import subprocess
import sys
import threading
from contextvars import ContextVar
from pathlib import Path

import pytest
from tests.engine.makers import ANSWERS, PROMPT, at_once

from darc.engine.batcher import Batcher
from darc.engine.engine import Engine
from darc.engine.scheduling import FairScheduler, RequestOwner
from darc.engine.scoring import ScorerRetry
from darc.engine.threads import run_in_thread


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


async def take_turn(turns: FairScheduler, owner: str, done: list[str], pause: float = 0.0) -> None:
    async with turns.slot(owner):
        await asyncio.sleep(pause)
        done.append(owner)


def test_an_owner_with_much_work_does_not_keep_another_waiting() -> None:
    async def main() -> list[str]:
        turns, done = FairScheduler(1), list[str]()
        busy = [take_turn(turns, "busy", done) for _ in range(20)]
        await asyncio.gather(*busy, take_turn(turns, "other", done))
        return done

    done = asyncio.run(main())
    assert len(done) == 21
    assert done.index("other") <= 2


def test_no_more_than_the_slots_are_at_work() -> None:
    async def main() -> tuple[int, int]:
        turns, at_work, most = FairScheduler(3), 0, 0

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
        turns, done = FairScheduler(1), list[str]()
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
        turns, done = FairScheduler(1), list[str]()
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
        turns, done = FairScheduler(1), list[int]()

        async def one(owner: RequestOwner) -> None:
            async with turns.slot(owner):
                await asyncio.sleep(0.001)
                done.append(owner.characters)

        small, large = RequestOwner(1_000), [RequestOwner(1_000_000) for _ in range(10)]
        async with turns.slot(small):
            await asyncio.sleep(0.02)
            tasks = [asyncio.ensure_future(one(each)) for each in [*large, small, small]]
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return done

    assert asyncio.run(main()) == [1_000] * 2 + [1_000_000] * 10


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


SCRIPT = """
from darc.engine.engine import Engine
with Engine(scorers=["form"], n_aug=0, workers=1) as engine:
    print(engine.choose("Why?", ["Because it is so.", "I do not know."]).answer)
"""


def test_a_script_without_a_main_block_is_told_to_have_one(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("Traceback") == 1
    told = done.stderr.splitlines()[-1]
    assert told.startswith("darc.errors.InputError: no worker process could begin; ")
    assert told.endswith('below a line: if __name__ == "__main__":')


def test_processes_that_were_killed_while_idle_are_replaced() -> None:
    patience = ScorerRetry(sleep=at_once)
    with Engine(scorers=["form"], n_aug=0, workers=1, retry=patience) as engine:
        before = engine.choose(PROMPT, ANSWERS)
        (process,) = multiprocessing.active_children()
        process.kill()
        after = engine.choose(PROMPT, ANSWERS)
    assert before.scores.values.tolist() == after.scores.values.tolist()


def test_threads_are_used_again_and_keep_their_callers_context() -> None:
    told: ContextVar[int] = ContextVar("told", default=0)

    def look() -> tuple[int, threading.Thread]:
        return told.get(), threading.current_thread()

    async def main() -> list[tuple[int, threading.Thread]]:
        found = []
        for number in range(20):
            told.set(number)
            found.append(await run_in_thread(look))
        return found

    found = asyncio.run(main())
    assert [number for number, _ in found] == list(range(20))
    assert len({thread for _, thread in found}) < 10
    assert all(thread.daemon for _, thread in found)


FORKED = """
import asyncio, os, time
from darc.engine.threads import run_in_thread

def once():
    assert asyncio.run(asyncio.wait_for(run_in_thread(len, "four"), 5)) == 4

once()
time.sleep(0.1)
process = os.fork()
once()
if process:
    print(os.waitpid(process, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, check=True)
    assert done.stdout.decode().split() == ["0"]
