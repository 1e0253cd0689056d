"""The study as an ASGI application."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from darc.study.annotator import AnnotatorPages
from darc.study.lead import LeadPages
from darc.study.settings import TEMPLATES
from darc.study.site import LARGEST, HiddenSecrets, Site
from darc.study.store import Store, Unavailable
from darc.views.palette import style_sheet
from darc.web.bodies import read_body
from darc.web.clients import Proxies
from darc.web.middleware import Guard, Hosts, Shell, as_json, authority_of
from darc.web.problems import Problem

Handler = Callable[[Request], Response]

KINDS = {"study.css": "text/css", "study.js": "text/javascript"}


def make_app(
    store: Store,
    root: str = "",
    url: str = "",
    rate: float = 600.0,
    host: str = "127.0.0.1",
    names: Sequence[str] = (),
    proxies: Proxies | None = None,
) -> Any:
    """The application of a store.

    `root` is the path under which a reverse proxy shows it, `url` what lies before that (cookies
    are for TLS only if it is https), `rate` requests per minute and visitor; `proxies` tell the
    addresses of strangers, which are not logged. It answers to `host`, which it listens on, to the
    url's name and to other `names`.
    """
    site = Site(store, root.rstrip("/"), url or "http://127.0.0.1:8710", rate, proxies or Proxies())
    hosts = Hosts(host, [authority_of(site.url), *names])
    # Read now, because within a transaction it would take a second connection.
    _ = store.config, store.unit_ids
    annotator, lead = AnnotatorPages(site), LeadPages(site)
    pages: dict[tuple[str, str], Handler] = {
        ("GET", "/"): annotator.home,
        ("GET", "/join"): annotator.join,
        ("GET", "/back"): annotator.back,
        ("POST", "/consent"): annotator.consent,
        ("POST", "/instructions"): annotator.instructions,
        ("POST", "/groups"): annotator.groups,
        ("POST", "/comprehension"): annotator.comprehension,
        ("POST", "/answer"): annotator.answer,
        ("POST", "/draft"): annotator.draft,
        ("POST", "/seen"): annotator.seen,
        ("GET", "/enrol"): annotator.enrol,
        ("POST", "/enrol"): annotator.take_part,
        ("GET", "/lead"): lead.home,
        ("GET", "/lead/join"): lead.join,
        ("POST", "/lead/decide"): lead.decide,
        ("POST", "/lead/links"): lead.links,
        ("POST", "/lead/close"): lead.close,
        ("POST", "/lead/export"): lead.export,
        ("GET", "/static/{name}"): _static,
        ("GET", "/healthz"): partial(_health, site),
    }
    routes = [
        Route(path, _guarded(site, handler), methods=[method])
        for (method, path), handler in pages.items()
    ]

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        store.close()

    async def nothing(scope: Any, receive: Any, send: Any) -> None:
        wrong = Problem(404, "Open the link that you were given once more, all of it.")
        await site.problem(wrong)(scope, receive, send)

    router = Router(routes, lifespan=lifespan, default=nothing)
    shell = Shell(router, Guard(), hosts=hosts, tell=site.problem, linked=True)
    return HiddenSecrets(shell, site.root)


def _guarded(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """The handler in a thread of its own, a form's body read before; problems become pages."""

    def answer(request: Request) -> Response:
        try:
            response = handler(request)
        except Problem as problem:
            return site.problem(problem)
        except Unavailable as problem:
            return site.unavailable(request, site.failed(problem))
        if request.method == "POST":
            site.saved()
        return response

    async def serve(request: Request) -> Response:
        try:
            request.state.body = await read_body(request, LARGEST)
        except Problem as problem:
            return site.problem(problem)
        return await run_in_threadpool(answer, request)

    return serve


def _health(site: Site, request: Request) -> Response:
    try:
        site.store.row()
    except Unavailable as problem:
        return as_json(site.failed(problem))
    return PlainTextResponse("ok\n")


@cache
def _text_of(name: str) -> str:
    if name.endswith(".css"):
        return style_sheet(TEMPLATES / name)
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _static(request: Request) -> Response:
    """A file that pages load."""
    name = request.path_params["name"]
    if name not in KINDS:
        raise Problem(404, "There is no such file.")
    caching = {"cache-control": "public, max-age=300"}
    return Response(_text_of(name), headers=caching, media_type=KINDS[name])
