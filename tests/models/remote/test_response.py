import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.fakes import FakeServer, Fault
from tests.fakes.clock import FakeClock

from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import Malformed, TimedOut, TooLarge, Unreachable
from darc.models.remote.response import Response
from darc.models.remote.retry import RetryPolicy

ONCE = RetryPolicy(attempts=1)


def call(url: str, use: Callable[[Response], Awaitable[Any]], **given: Any) -> Any:
    """What `use` makes of a response to a request with nothing added."""
    client = AsyncClient(
        url, clock=FakeClock().clock, retry=ONCE, timeout=given.pop("timeout", 5.0), concurrency=1
    )

    async def main() -> Any:
        async with client:
            path = given.pop("path", "/plain")
            method = given.pop("method", "POST")
            return await client.call(method, path, use, headers=given.pop("headers", {}), **given)

    return asyncio.run(main())


async def body(response: Response) -> bytes:
    return await response.read(10_000)


def post(server: FakeServer, **options: Any) -> Any:
    async def main() -> Any:
        async with AsyncClient(server.url, clock=FakeClock().clock, **options) as client:
            return await client.ask("/plain", lambda answer: answer, {"pairs": []})

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("coding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda text: zlib.compress(text, wbits=-15)),
    ],
)
def test_compressed_answers_are_read(openai_server: FakeServer, coding: str, pack: Any) -> None:
    coded = {"Content-Encoding": coding}
    openai_server.faults = [Fault("bytes", 200, content=pack(b'{"a": 1}'), headers=coded)]
    assert post(openai_server) == {"a": 1}
    bomb = pack(b" " * 1_000_000)
    openai_server.faults = [Fault("bytes", 200, content=bomb, headers=coded)]
    with pytest.raises(TooLarge, match="more than 20000 bytes"):
        post(openai_server, max_bytes=20_000)
    openai_server.faults = [Fault("bytes", 200, content=b"no such thing", headers=coded)]
    with pytest.raises(Malformed, match="cannot be unpacked"):
        post(openai_server, retry=ONCE)


def test_nothing_is_added_or_unpacked_on_the_way_through(openai_server: FakeServer) -> None:
    packed = gzip.compress(b"{}")
    coded = {"Content-Encoding": "gzip", "X-CaSe": "J\xfc"}
    openai_server.faults = [Fault("bytes", 200, content=packed, headers=coded)]

    async def whole(response: Response) -> tuple[bytes, Any]:
        return await response.read(1000, as_sent=True), response.raw_headers

    got, headers = call(openai_server.url, whole, headers={"x-own": "yes"}, content=b"{}")
    assert got == packed
    assert (b"X-CaSe", b"J\xfc") in headers
    assert openai_server.received[0].headers.keys() == {"host", "x-own", "content-length"}


@pytest.mark.parametrize("path", ["/a%2Fb", "/a//b/", "/%C3%A4?x=%2e%2e/&y=a+b%20c", "/a..b/..."])
def test_paths_are_sent_as_they_are(openai_server: FakeServer, path: str) -> None:
    call(openai_server.url, body, path=path, method="GET")
    call(openai_server.url, body, path="/\xc3\xa4", method="GET")
    assert openai_server.paths == [path, "/%C3%A4"]


def test_large_bodies_are_sent(openai_server: FakeServer) -> None:
    assert call(openai_server.url, body, content=b'{"pairs": []%s}' % (b" " * 3_000_000))
    assert openai_server.received[0].headers["content-length"] == "3000013"


def test_answer_that_breaks_off_gives_what_had_come(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("half", 200, content=b"one")]
    got = bytearray()

    async def use(response: Response) -> None:
        async for part in response.chunks():
            got.extend(part)

    with pytest.raises(Unreachable, match="broke off in the middle"):
        call(openai_server.url, use)
    assert got == b"one"


def test_kept_response_holds_its_place_until_it_is_closed(openai_server: FakeServer) -> None:
    async def keep(response: Response) -> Response:
        response.keep_open = True
        return response

    async def main() -> None:
        async with AsyncClient(openai_server.url, concurrency=1) as client:
            (endpoint,) = client._balancer.endpoints
            for _ in range(3):
                kept = await client.call("GET", "/v1/models", keep, headers={})
                assert endpoint.running == 1
                assert b"fake" in b"".join([part async for part in kept.chunks()])
                for _ in range(2):
                    await kept.aclose()
                assert endpoint.running == 0

    asyncio.run(main())
    assert openai_server.connections == 1


def test_silence_in_the_middle_is_a_time_out(openai_server: FakeServer) -> None:
    openai_server.faults = [Fault("hang")]
    with pytest.raises(TimedOut, match=r"within 0.2 s"):
        call(openai_server.url, body, timeout=0.2)
