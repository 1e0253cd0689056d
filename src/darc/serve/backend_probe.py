"""Finds out from time to time whether the backend of a gateway can be reached."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from darc.models.remote.session import proxy_for

logger = logging.getLogger(__name__)

_PROBE_SECONDS = 5.0
_CONNECT_SECONDS = 3.0


class BackendProbe:
    """Opens a connection to the servers of a backend every few seconds.

    Attributes:
        reachable: Whether one of the servers took the last connection; False before the first.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        """Make a probe.

        Args:
            urls: The servers. Without any, as for a model of this process, all is well.
        """
        self.reachable = not urls
        self._urls = urls

    async def check(self) -> None:
        """Try the servers once, and log what has changed."""
        if not self._urls:
            return
        results = await asyncio.gather(*map(_accepts_connection, self._urls))
        reachable = any(results)
        if reachable and not self.reachable:
            logger.info("the backend can be reached")
        self.reachable = reachable

    async def watch(self) -> None:
        """Try the servers for ever, and warn when none can be reached."""
        was_reachable = True
        while True:
            await self.check()
            if was_reachable and not self.reachable:
                logger.warning(
                    "the backend %s cannot be reached; requests fail until it is started",
                    " | ".join(self._urls),
                )
            was_reachable = self.reachable
            await asyncio.sleep(_PROBE_SECONDS)


async def _accepts_connection(url: str) -> bool:
    if proxy_for(url) is not None:
        # Only the proxy knows.
        return True
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
