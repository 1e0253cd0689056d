"""A reverse proxy on a port of its own that says whom it speaks for, as nginx does."""

import asyncio
import threading
from types import TracebackType


class Proxy:
    """Passes each request on to a port of this machine, with its client in X-Forwarded-For.

    Like nginx's $proxy_add_x_forwarded_for, it appends to what the client sent under that name.
    """

    def __init__(self, port: int) -> None:
        self.port = 0
        self._target = port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Proxy":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
            client = writer.get_extra_info("peername")[0].encode()
            forwarded_headers = []
            earlier_clients = []
            length = 0
            for line in head[1:]:
                name, _, value = line.partition(b":")
                if name.lower() == b"x-forwarded-for":
                    earlier_clients.append(value.strip())
                elif name.lower() != b"connection":
                    forwarded_headers.append(line)
                if name.lower() == b"content-length":
                    length = int(value)
            clients = b"X-Forwarded-For: " + b", ".join((*earlier_clients, client))
            body = await reader.readexactly(length)
            source, target = await asyncio.open_connection("127.0.0.1", self._target)
            lines = (head[0], *forwarded_headers, clients, b"Connection: close", b"", b"")
            target.write(b"\r\n".join(lines) + body)
            writer.write(await source.read())
            await writer.drain()
            target.close()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
