"""The routes of the gateway."""

import asyncio
import logging
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from darc import __version__
from darc.engine.same_answers import same_answers
from darc.serve.body_shares import hold_body
from darc.serve.dialects.messages import MessagesDialect
from darc.serve.dialects.responses import ResponsesDialect
from darc.serve.embedded_backend import EmbeddedBackend
from darc.serve.endpoints import ChatEndpoints
from darc.serve.metrics import CONTENT_TYPE
from darc.serve.openapi import ServerDescription, make_document
from darc.serve.proxy import pass_through
from darc.serve.requests import MODEL_PREFIX
from darc.serve.service import Gateway
from darc.views.style_sheet import style_sheet
from darc.web.problems import Problem

logger = logging.getLogger(__name__)

PAGE_FOLDER = Path(__file__).parent / "page"
MEDIA_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
_ALL_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]


class GatewayRoutes:
    """The endpoints of a gateway."""

    def __init__(self, gateway: Gateway) -> None:
        """Serve a gateway."""
        self._gateway = gateway
        #: Whether everything is loaded.
        self.is_warm = False
        #: The files of the page by their paths, fixed when the service starts.
        self.page_files = _find_page_files()

    def all(self) -> list[Route]:
        """Return all routes; the first that fits serves a request."""
        chat = ChatEndpoints(self._gateway)
        hold = partial(hold_body, self._gateway.lasting.body_memory)
        responses = ResponsesDialect()
        messages = MessagesDialect()
        passed_on = partial(pass_through, self._gateway)
        page_routes = [Route(path, self._page_file, methods=["GET"]) for path in self.page_files]
        return [
            Route("/v1/chat/completions", hold(chat.completions), methods=["POST"]),
            Route("/v1/playground", hold(chat.playground), methods=["POST"]),
            Route("/v1/select", hold(chat.select), methods=["POST"]),
            Route("/v1/models", self._models, methods=["GET"]),
            Route("/healthz", self._health, methods=["GET"]),
            Route("/readyz", self._readiness, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Route("/openapi.json", self._openapi, methods=["GET"]),
            *page_routes,
            Route("/v1", self._redirect_to_page, methods=["GET"]),
            Route("/v1/responses", hold(partial(chat.translated, responses)), methods=["POST"]),
            Route("/v1/messages", hold(partial(chat.translated, messages)), methods=["POST"]),
            Route("/v1/responses/{rest:path}", self._refuse_responses, methods=_ALL_METHODS),
            Route("/v1/{rest:path}", hold(passed_on), methods=_ALL_METHODS),
            Route("/{rest:path}", self._not_found, methods=_ALL_METHODS),
        ]

    async def no_route(self, *_: Any) -> None:
        """Refuse what no route takes: a line break in a path.

        Raises:
            Problem: With status 404.
        """
        raise Problem(404, "there is no such path", code="not_found")

    async def warm(self) -> None:
        """Load what would be loaded at the first use; a part that fails is reported again then."""
        try:
            if isinstance(self._gateway.backend, EmbeddedBackend):
                await asyncio.to_thread(self._gateway.backend.warm)
            await self._gateway.engine.warm()
        except Exception as error:
            logger.warning("a part is not ready: %s", error)
        self.is_warm = True

    async def _models(self, request: Request) -> Response:
        """The backend's models, and each of them again under a name with the server's rule."""
        settings = self._gateway.settings
        caller = self._gateway.caller(request.headers)
        models = await self._gateway.mix.list_models(caller.headers)
        default: dict[str, Any] = {
            "rule": settings.rule,
            "k": settings.k,
            "n_aug": settings.parts.n_aug,
        }
        if settings.parts.panel is not None:
            default["raters"] = list(settings.parts.panel.names)
        rule_name = settings.rule.partition(":")[0]
        plain = [{**model, "darc": default} for model in models]
        prefixed = [{**model, "id": f"{MODEL_PREFIX}-{rule_name}/{model['id']}"} for model in plain]
        return JSONResponse({"object": "list", "data": [*plain, *prefixed]})

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _readiness(self, _: Request) -> Response:
        if self.is_warm and self._gateway.backend_ready:
            return JSONResponse({"status": "ok"})
        reason = "loading"
        if not self._gateway.backend_ready:
            reason = "the backend cannot be reached"
        return JSONResponse({"status": "not ready", "reason": reason}, 503)

    async def _metrics(self, _: Request) -> Response:
        return Response(self._gateway.metrics.text(), headers={"content-type": CONTENT_TYPE})

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        side = self._gateway.engine.side_inputs
        side_inputs = {*side.scorers, *same_answers(())}
        if side.embedder is not None:
            side_inputs.add("similarity")
        return make_document(
            ServerDescription(
                settings=self._gateway.settings,
                default_options=self._gateway.reader.default_options,
                version=__version__,
                side_inputs=side_inputs,
            )
        )

    async def _page_file(self, request: Request) -> Response:
        # Not by the request's URL, which the client's Host header is part of.
        path = self.page_files[request.scope["path"]]
        media_type = MEDIA_TYPES[path.suffix]
        if path.suffix == ".css":
            return Response(style_sheet(path), media_type=media_type)
        return FileResponse(path, media_type=media_type)

    async def _redirect_to_page(self, _: Request) -> Response:
        # Whoever opens the clients' URL in a browser wants to see something.
        return RedirectResponse("/")

    async def _refuse_responses(self, _: Request) -> Response:
        message = "the gateway keeps no responses: there is nothing to read, cancel or delete"
        raise Problem(501, message, code="not_offered")

    async def _not_found(self, request: Request) -> Response:
        raise Problem(404, f"there is no {request.scope['path']}", code="not_found")


def _find_page_files() -> dict[str, Path]:
    files = {"/": PAGE_FOLDER / "index.html"}
    for path in sorted(PAGE_FOLDER.iterdir()):
        if path.suffix in MEDIA_TYPES:
            files[f"/{path.name}"] = path
    return files
