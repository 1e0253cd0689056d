import asyncio
import concurrent.futures

import pytest

from darc.errors import DarcError
from darc.gateway.hands import Hands
from darc.models.remote import METER, Background, Meter


async def nothing() -> None:
    """Nothing to close."""


def test_calls_of_threads_run_in_the_loop_and_are_metered() -> None:
    counted = Meter()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        background = Background(nothing)

        async def call() -> bool:
            meter = METER.get()
            assert meter is not None
            meter.begin("url")
            return asyncio.get_running_loop() is loop

        def work() -> bool:
            return background.run(call())

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            assert await Hands(pool).do(work, meter=counted)
        assert METER.get() is None

    asyncio.run(main())
    assert counted.calls == 1


def test_cancelling_ends_calls_and_lets_none_begin() -> None:
    async def main() -> None:
        begun, ended = asyncio.Event(), asyncio.Event()
        background = Background(nothing)

        async def call() -> None:
            begun.set()
            try:
                await asyncio.sleep(30)
            finally:
                ended.set()

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            hands = Hands(pool)
            work = asyncio.ensure_future(hands.do(lambda: background.run(call())))
            await begun.wait()
            hands.cancel()
            await asyncio.wait_for(ended.wait(), 2)
            with pytest.raises(DarcError):
                await work
            with pytest.raises(DarcError):
                await hands.do(lambda: background.run(call()))

    asyncio.run(main())
