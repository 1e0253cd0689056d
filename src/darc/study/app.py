"""The study as an ASGI application."""

import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from darc.errors import InputError
from darc.study.annotator import AnnotatorPages
from darc.study.lead import LeadPages
from darc.study.settings import TEMPLATES
from darc.study.site import Site
from darc.study.store import Refusal, Store, Unavailable
from darc.views.style_sheet import style_sheet
from darc.web.allowed_hosts import AllowedHosts, host_of_url
from darc.web.bodies import read_body
from darc.web.middleware.errors import json_error
from darc.web.middleware.stack import Protection, protect
from darc.web.problems import Problem
from darc.web.trusted_proxies import TrustedProxies

Handler = Callable[[Request], Response]

LARGEST = 16_384
KINDS = {"study.css": "text/css", "study.js": "text/javascript"}
# Also behind a prefix or with something appended, so that a mistyped link is not logged either.
_SECRET = re.compile(r"(.*?)/(lead/join|join|enrol)/+(.*)", re.DOTALL)


def make_app(
    store: Store,
    root: str = "",
    url: str = "",
    rate: float = 600.0,
    host: str = "127.0.0.1",
    names: Sequence[str] = (),
    proxies: TrustedProxies | None = None,
) -> Any:
    """The application of a store.

    `root` is the path under which a reverse proxy shows it, `url` what lies before that (cookies
    are for TLS only if it is https), `rate` requests per minute and visitor; `proxies` tell the
    addresses of strangers, which are not logged. It answers to `host`, which it listens on, to the
    url's name and to other `names`.
    """
    site = Site(
        store, root.rstrip("/"), url or "http://127.0.0.1:8710", rate, proxies or TrustedProxies()
    )
    hosts = AllowedHosts(host, [host_of_url(site.url), *names])
    # Read now, because within a transaction it would take a second connection.
    _ = store.config, store.unit_ids
    annotator, lead = AnnotatorPages(site), LeadPages(site)
    gets: dict[str, Handler] = {
        "/": annotator.home,
        "/join": annotator.join,
        "/back": annotator.back,
        "/enrol": annotator.enrol,
        "/lead": lead.home,
        "/lead/join": lead.join,
        "/static/{name}": _static,
        "/healthz": partial(_health, site),
    }
    posts: dict[str, Handler] = {
        "/consent": annotator.taking(annotator.consent),
        "/instructions": annotator.taking(annotator.instructions),
        "/groups": annotator.taking(annotator.groups),
        "/comprehension": annotator.taking(annotator.comprehension),
        "/answer": annotator.taking(annotator.answer),
        "/draft": annotator.taking(annotator.draft),
        "/seen": annotator.taking(annotator.seen),
        "/enrol": annotator.take_part,
        "/lead/decide": lead.decide,
        "/lead/links": lead.links,
        "/lead/close": lead.close,
        "/lead/export": lead.export,
    }
    routes = [
        Route(path, _guarded(site, handler), methods=[method])
        for method, pages in (("GET", gets), ("POST", posts))
        for path, handler in pages.items()
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        store.close()

    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        raise Refusal("no_page")

    router = Router(routes, lifespan=lifespan, default=nothing)
    protection = Protection(hosts=hosts, all_linkable=True)
    protected = protect(router, protection, render_error=site.problem)
    return _without_secrets(protected, site.root)


def _guarded(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """The handler in a thread of its own, a form's body read before; problems become pages."""

    def answer(request: Request) -> Response:
        try:
            response = handler(request)
        except Unavailable as problem:
            return site.unavailable(request, problem)
        except InputError as problem:
            raise Problem(400, str(problem)) from None
        if request.method == "POST":
            site.saved()
        return response

    async def serve(request: Request) -> Response:
        request.state.body = await read_body(request, LARGEST)
        return await run_in_threadpool(answer, request)

    return serve


def _without_secrets(app: ASGIApp, root: str) -> ASGIApp:
    """ASGI that takes the secrets out of paths before anything can log them, and the root too.

    `/join/TOKEN` is served as `/join`, with the token in the request's state.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            if root and path.startswith(root + "/"):
                path = path.removeprefix(root)
            state = dict(scope.get("state") or {})
            if found := _SECRET.fullmatch(path):
                path, state["secret"] = f"{found[1]}/{found[2]}", found[3][:200]
            scope = {**scope, "path": path, "raw_path": path.encode(), "state": state}
        await app(scope, receive, send)

    return serve


def _health(site: Site, request: Request) -> Response:
    try:
        site.store.row()
    except Unavailable as problem:
        return json_error(site.failed(problem))
    return PlainTextResponse("ok\n")


def _static(request: Request) -> Response:
    """A file that pages load."""
    name = request.path_params["name"]
    if name not in KINDS:
        raise Problem(404, "There is no such file.")
    path = TEMPLATES / name
    text = style_sheet(path) if path.suffix == ".css" else path.read_text(encoding="utf-8")
    return Response(text, 200, {"cache-control": "public, max-age=300"}, KINDS[name])
