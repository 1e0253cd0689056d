"""An application whose settings can be read again while it serves."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from darc.errors import DarcError
from darc.serve.routes import GatewayRoutes
from darc.serve.service import Gateway

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Version:
    """The gateway with one reading of its settings."""

    gateway: Gateway
    routes: GatewayRoutes
    #: The routes with everything around them.
    app: ASGIApp
    #: How many requests it answers now.
    active: int = 0


class ReloadableApp:
    """An ASGI application that answers every request by the settings that it began with."""

    def __init__(self, first: Version, load: Callable[[], Version] | None = None) -> None:
        """Serve a version.

        Args:
            first: The version.
            load: Reads the settings again; None if that cannot be done.
        """
        self._current = first
        self._load = load
        self._reloading = asyncio.Lock()
        self._lifespan = Router(lifespan=self._live)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request by the current settings, to its end."""
        if scope["type"] == "lifespan":
            await self._lifespan(scope, receive, send)
            return
        version = self._current
        version.active += 1
        try:
            await version.app(scope, receive, send)
        finally:
            version.active -= 1
            if version is not self._current and not version.active:
                await version.gateway.retire()

    async def reload(self) -> None:
        """Read the settings again; if they cannot be used everything stays as it was."""
        if self._load is None:
            return
        async with self._reloading:
            metrics = self._current.gateway.metrics
            try:
                version = await asyncio.to_thread(self._load)
            except DarcError as error:
                logger.error("the files were not read again, the old ones stay in use: %s", error)
                metrics.count_reload("failed")
                return
            await version.routes.warm()
            old = self._current
            self._current = version
            logger.info("the files were read again; requests that begin now use them")
            metrics.count_reload("done")
            if not old.active:
                await old.gateway.retire()

    @asynccontextmanager
    async def _live(self, _: Any) -> AsyncIterator[None]:
        """Load everything while the service runs already, and release it at the end."""
        lasting = self._current.gateway.lasting
        tasks = [
            asyncio.create_task(self._current.routes.warm()),
            asyncio.create_task(lasting.probe.watch()),
            asyncio.create_task(lasting.keep_labels()),
            asyncio.create_task(lasting.metrics.keep_gauges()),
        ]
        try:
            yield
        finally:
            self._current.routes.is_warm = False
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._current.gateway.aclose()
