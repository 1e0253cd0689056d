import asyncio
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault

httpx = pytest.importorskip("httpx")

BODY = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def run(server: FakeServer, work: Any) -> Any:
    from darc.models.remote.transport import StackedTransport

    async def main() -> Any:
        async with httpx.AsyncClient(transport=StackedTransport(), timeout=5) as client:

            async def ask(**given: Any) -> Any:
                return await client.post(f"{server.url}/v1/chat/completions", json=BODY, **given)

            return await work(ask)

    return asyncio.run(main())


def test_connections_are_used_again(openai_server: FakeServer) -> None:
    async def work(ask: Any) -> None:
        for _ in range(5):
            assert (await ask()).status_code == 200
        await asyncio.gather(*(ask() for _ in range(3)))
        await asyncio.gather(*(ask() for _ in range(3)))

    run(openai_server, work)
    assert openai_server.connections <= 3


def test_broken_off_calls_leave_nothing_behind(openai_server: FakeServer) -> None:
    async def work(ask: Any) -> None:
        openai_server.faults = [Fault("hang"), Fault("reset"), Fault("hang")]
        with pytest.raises(httpx.TimeoutException):
            await ask(timeout=0.1)
        with pytest.raises(httpx.RequestError):
            await ask()
        task = asyncio.create_task(ask())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(3):
            assert (await ask()).status_code == 200

    run(openai_server, work)
