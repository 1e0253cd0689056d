import asyncio
from typing import Any

import pytest

pytest.importorskip("starlette")

from tests.web.middleware.asgi import answer_ok, request, send_request

from darc.web.middleware.client import Client
from darc.web.middleware.rate_limit import RateLimitMiddleware
from darc.web.problems import Problem


def test_a_client_may_make_so_many_requests_per_minute() -> None:
    app = RateLimitMiddleware(answer_ok, rate=1)
    for name in ("a", "b"):
        assert request(app, client=Client(name)).status == 200
    with pytest.raises(Problem) as caught:
        request(app, client=Client("a"))
    assert caught.value.status == 429
    assert 1 <= int(caught.value.headers["Retry-After"]) <= 60
    assert [request(app, client=Client("c", rate=60)).status for _ in range(3)] == [200] * 3
    assert [request(app).status for _ in range(3)] == [200] * 3, "public paths are not counted"


def test_a_client_may_have_so_many_requests_at_a_time() -> None:
    release = asyncio.Event()

    async def wait(scope: Any, receive: Any, send: Any) -> None:
        await release.wait()
        await answer_ok(scope, receive, send)

    async def main() -> None:
        app = RateLimitMiddleware(wait)
        client = Client("a", max_active=1)
        first = asyncio.create_task(send_request(app, client=client))
        await asyncio.sleep(0)
        with pytest.raises(Problem, match="more than 1 requests at a time"):
            await send_request(app, client=client)
        release.set()
        assert (await first).status == 200
        assert (await send_request(app, client=client)).status == 200

    asyncio.run(main())
