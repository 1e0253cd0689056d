"""The gateway as an ASGI application."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from darc import __version__
from darc.engine.engine import Engine
from darc.engine.same_answers import same_answers
from darc.engine.scoring import ScorerRetry
from darc.errors import InputError
from darc.models.remote.caller import REQUESTED_MODEL
from darc.models.remote.circuit_breaker import BreakerSettings
from darc.models.remote.openai import OpenAIModel
from darc.models.remote.retry import RetryPolicy
from darc.serve.backends import Backend, EmbeddedBackend, RemoteBackend
from darc.serve.endpoints import ChatEndpoints
from darc.serve.openapi import document
from darc.serve.proxy import anything
from darc.serve.requests import PREFIX, Forms
from darc.serve.service import Gateway
from darc.serve.settings import ServeSettings
from darc.serve.telemetry import TYPE, Tracing, provider_of
from darc.views.style_sheet import style_sheet
from darc.web.allowed_hosts import AllowedHosts
from darc.web.keys import Keys, read_keys
from darc.web.middleware.stack import Protection, protect
from darc.web.problems import Problem
from darc.web.trusted_proxies import TrustedProxies

logger = logging.getLogger(__name__)

PAGE = Path(__file__).parent / "page"
KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
FREE = ("/healthz", "/readyz", "/openapi.json", "/v1")


def make_backend(settings: ServeSettings) -> Backend:
    """The server behind the URL, or the installed model."""
    if settings.backend:
        return RemoteBackend(
            settings.backend,
            max_bytes=settings.max_answer,
            longest_line=settings.max_line,
            **_calling(settings),
        )
    from darc.models.embedded import EmbeddedModel
    from darc.models.installed import require

    return EmbeddedBackend(EmbeddedModel(require().path), settings.max_tokens)


def _calling(settings: ServeSettings) -> dict[str, Any]:
    return {
        "key_env": settings.backend_key_env,
        "timeout": settings.backend_timeout,
        "concurrency": settings.concurrency,
        "retry": RetryPolicy(attempts=settings.attempts, seconds=30.0, first=0.25, longest=8.0),
        "breaker": BreakerSettings(threshold=20, cooldown=5.0),
    }


def make_gateway(settings: ServeSettings, backend: Backend | None = None) -> Gateway:
    """The gateway; whatever is wrong with the settings is told here, before it serves."""
    judge = None
    if settings.backend and settings.parts.panel:
        # Of whatever model a request names.
        judge = OpenAIModel(f"{REQUESTED_MODEL}@{settings.backend}", **_calling(settings))
    try:
        spec = Forms(settings).method({}).spec
    except Problem as problem:
        raise InputError(problem.message) from None
    engine = Engine(
        **dict(settings.parts),
        judge=judge,
        rule=spec,
        normalize=settings.normalize,
        search=settings.search,
        workers=os.cpu_count() or 1 if settings.workers is None else settings.workers,
        retry=ScorerRetry(attempts=1, seconds=settings.wave_timeout),
    )
    tracing = Tracing(provider_of())
    return Gateway(settings, backend or make_backend(settings), engine, tracing)


def make_app(
    settings: ServeSettings, gateway: Gateway | None = None, hosts: AllowedHosts | None = None
) -> ASGIApp:
    """The application with everything around it; without `hosts` its names are the loopback's."""
    keys = Keys() if settings.api_keys is None else read_keys(settings.api_keys)
    gateway = gateway or make_gateway(settings)
    routes = _Routes(gateway)
    app = Router(routes.all(), default=_no_route, lifespan=routes.lifespan)
    free = (*FREE, *routes.files)
    protection = Protection(
        hosts=hosts or AllowedHosts(),
        keys=keys,
        rate=settings.rate,
        proxies=TrustedProxies.parse(settings.trusted_proxies),
        public_paths=free,
    )
    return protect(app, protection, gateway.metrics.observe)


class _Routes:
    """The endpoints, and their beginning and end."""

    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self.ready = False
        # The page's own files by their paths, fixed as the service starts.
        own = sorted(each.name for each in PAGE.iterdir() if each.suffix in KINDS)
        self.files = {"/": PAGE / "index.html", **{f"/{name}": PAGE / name for name in own}}

    def all(self) -> list[Route]:
        own = ChatEndpoints(self.gateway)
        everything = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
        return [
            Route("/v1/chat/completions", own.completions, methods=["POST"]),
            Route("/v1/playground", own.playground, methods=["POST"]),
            Route("/v1/select", own.select, methods=["POST"]),
            Route("/v1/models", self.models, methods=["GET"]),
            Route("/healthz", self.health, methods=["GET"]),
            Route("/readyz", self.readiness, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            *(Route(path, self.file, methods=["GET"]) for path in self.files),
            Route("/v1", self.page, methods=["GET"]),
            Route("/v1/responses", self.responses, methods=everything),
            Route("/v1/{rest:path}", partial(anything, self.gateway), methods=everything),
            Route("/{rest:path}", self.nothing, methods=everything),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Any) -> AsyncIterator[None]:
        warming = asyncio.create_task(self._warm())
        try:
            yield
        finally:
            self.ready = False
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)
            await self.gateway.aclose()

    async def models(self, request: Request) -> Response:
        settings, caller = self.gateway.settings, self.gateway.caller(request.headers)
        found = await self.gateway.backend.models(caller.headers)
        default = {"rule": settings.rule, "k": settings.k, "n_aug": settings.parts.n_aug}
        if settings.parts.panel is not None:
            default["raters"] = list(settings.parts.panel.names)
        name = settings.rule.partition(":")[0]
        own = [{**each, "darc": default} for each in found]
        named = [{**each, "id": f"{PREFIX}-{name}/{each['id']}", "darc": default} for each in found]
        return JSONResponse({"object": "list", "data": [*own, *named]})

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readiness(self, _: Request) -> Response:
        fine = self.ready and self.gateway.backend.ready()
        return JSONResponse({"status": "ok" if fine else "not ready"}, 200 if fine else 503)

    async def metrics(self, _: Request) -> Response:
        return Response(self.gateway.metrics.text(), headers={"content-type": TYPE})

    @cached_property
    def _document(self) -> dict[str, Any]:
        side = self.gateway.engine.side_inputs
        similar = () if side.embedder is None else ("similarity",)
        made = {*side.scorers, *same_answers(()), *similar}
        return document(self.gateway.forms, __version__, made)

    async def openapi(self, _: Request) -> Response:
        return JSONResponse(self._document)

    async def file(self, request: Request) -> Response:
        # Not by the URL, which a client's Host header is part of.
        path = self.files[request.scope["path"]]
        if path.suffix == ".css":
            return Response(style_sheet(path), media_type=KINDS[path.suffix])
        return FileResponse(path, media_type=KINDS[path.suffix])

    async def page(self, _: Request) -> Response:
        # Whoever opens the clients' URL in a browser wants to see something.
        return RedirectResponse("/")

    async def responses(self, _: Request) -> Response:
        # Passed on, they would be answered by one sample of which nobody knows that it is one.
        advice = "the gateway chooses among chat completions: use /v1/chat/completions instead"
        raise Problem(501, f"/v1/responses is not offered; {advice}", code="not_offered")

    async def nothing(self, request: Request) -> Response:
        raise Problem(404, f"there is no {request.scope['path']}", code="not_found")

    async def _warm(self) -> None:
        """Load what is loaded at the first use; a part that fails is told again when it is used."""
        try:
            if isinstance(self.gateway.backend, EmbeddedBackend):
                await asyncio.to_thread(self.gateway.backend.warm)
            await self.gateway.engine.warm()
        except Exception as problem:
            logger.warning("a part is not ready: %s", problem)
        self.ready = True


async def _no_route(*_: Any) -> None:
    """Refuse what no route takes: a line break in a path."""
    raise Problem(404, "there is no such path", code="not_found")
