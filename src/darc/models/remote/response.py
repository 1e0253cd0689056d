"""A server's response, whose body arrives piece by piece."""

import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from darc.models.remote.errors import Malformed, TooLarge
from darc.models.remote.session import translate_error

_COMPRESSIONS = ("gzip", "x-gzip", "deflate")
# Values of zlib's `wbits`: with a header of gzip or zlib, and without any header.
_WINDOW_BITS = (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS)


class Response:
    """A response of which the status and headers have come.

    It is closed as soon as the call that made it ends, unless `keep_open` was set: then whoever
    set it must close it.

    Args:
        raw: The `aiohttp.ClientResponse`.
        url: The URL that was called.
        timeout: The seconds that an attempt may take, for error messages.
    """

    def __init__(self, raw: Any, url: str, timeout: float) -> None:
        self._raw = raw
        self._timeout = timeout
        self.url = url
        self.status: int = raw.status
        self.headers: Mapping[str, str] = raw.headers
        #: The headers as they were sent, with repetitions.
        self.raw_headers: tuple[tuple[bytes, bytes], ...] = raw.raw_headers
        self.keep_open = False
        #: Called when the response is closed.
        self.on_close: Callable[[], None] = lambda: None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes; raises a `BackendError` if it breaks off."""
        while True:
            chunk = await self._read_chunk()
            if not chunk:
                return
            yield chunk

    async def read(self, max_bytes: int, *, as_sent: bool = False) -> bytes:
        """Read the whole body.

        Args:
            max_bytes: The largest allowed size, as sent and decompressed.
            as_sent: Do not decompress it.

        Returns:
            The body.

        Raises:
            TooLarge: The body is larger than that.
            BackendError: The body breaks off, or cannot be decompressed.
        """
        announced = self.headers.get("Content-Length", "")
        if announced.isdecimal() and int(announced) > max_bytes:
            raise TooLarge(self.url, max_bytes)
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > max_bytes:
                raise TooLarge(self.url, max_bytes)
        encoding = self.headers.get("Content-Encoding", "")
        if as_sent or encoding.strip().lower() not in _COMPRESSIONS:
            return bytes(body)
        return self._decompress(body, encoding, max_bytes)

    async def aclose(self) -> None:
        """Release the connection, for another call if the body was read to its end."""
        self._raw.release()
        self.on_close()

    async def _read_chunk(self) -> bytes:
        content = self._raw.content
        try:
            chunk: bytes = await content.readany()
        except Exception as problem:
            # The library would throw away what came together with the end of the connection.
            chunk = content._read_nowait(-1)
            if not chunk:
                raise translate_error(problem, self.url, self._timeout) from None
        return chunk

    def _decompress(self, body: bytearray, encoding: str, max_bytes: int) -> bytes:
        for window_bits in _WINDOW_BITS:
            with suppress(zlib.error):
                content = zlib.decompressobj(window_bits).decompress(body, max_bytes + 1)
                if len(content) > max_bytes:
                    raise TooLarge(self.url, max_bytes)
                return content
        raise Malformed(f"{self.url} answered with {encoding} that cannot be unpacked")
