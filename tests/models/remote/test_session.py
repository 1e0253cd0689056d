import asyncio

import pytest
from tests.fakes import FakeServer

from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import Malformed, Rejected
from darc.models.remote.retry import RetryPolicy
from darc.models.remote.session import encode_header, proxy_for

ONCE = RetryPolicy(attempts=1)


def test_what_is_no_http() -> None:
    pytest.importorskip("aiohttp")

    async def main() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with AsyncClient(url, retry=ONCE) as client:
            with pytest.raises(Malformed, match="something that is not HTTP"):
                await client.ask("/", lambda answer: answer)
        server.close()

    asyncio.run(main())


def test_proxies_are_those_of_the_environment(
    openai_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", openai_server.url)
    monkeypatch.setenv("no_proxy", "direct.invalid")
    assert proxy_for("http://127.0.0.1:9/v1") is None
    assert proxy_for("http://[::1]:8000/v1") is None
    assert proxy_for("http://localhost.example/v1") == openai_server.url
    assert proxy_for("http://direct.invalid/v1") is None

    async def main() -> None:
        async with AsyncClient("http://service.invalid/v1") as client:
            await client.ask("/score", lambda answer: answer, {})

    with pytest.raises(Rejected, match=r"http://service\.invalid/v1/score answered 404"):
        asyncio.run(main())
    assert openai_server.received[0].path == "http://service.invalid/v1/score"


def test_values_of_headers() -> None:
    assert encode_header("plain") == "plain"
    assert encode_header("J\xc3\xbcrgen") == "J\xfcrgen"
    assert encode_header("J\xfcrgen") == "J\xfcrgen"
    assert encode_header("\u2192") == "\u2192"
