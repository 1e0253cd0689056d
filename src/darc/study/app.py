"""The study as an ASGI application."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import cache, partial
from typing import Any

from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from darc.study import schema
from darc.study.annotator import AnnotatorPages
from darc.study.claims import numbering
from darc.study.files import Unavailable
from darc.study.lead import LeadPages
from darc.study.requests import LARGEST, HiddenSecrets, Site, problem_page, unavailable_page
from darc.study.settings import TEMPLATES
from darc.study.store import Store
from darc.views.palette import style_sheet
from darc.web.bodies import read_body
from darc.web.clients import Proxies
from darc.web.middleware import Guard, Hosts, Shell, as_json, authority_of
from darc.web.problems import Problem

Handler = Callable[[Request], Response]


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
    _ = store.config, numbering(store)
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
    }
    routes = [
        Route(path, _guarded(site, handler), methods=[method])
        for (method, path), handler in pages.items()
    ]
    routes.append(Route("/healthz", _health(site), methods=["GET"]))

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        store.close()

    async def nothing(scope: Any, receive: Any, send: Any) -> None:
        await problem_page(
            site, Problem(404, "Open the link that you were given once more, all of it.")
        )(scope, receive, send)

    router = Router(routes, lifespan=lifespan, default=nothing)
    shell = Shell(router, Guard(), hosts=hosts, tell=partial(problem_page, site), linked=True)
    return HiddenSecrets(shell, site.root)


def _guarded(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """The handler in a thread of its own, a form's body read before; problems become pages."""

    def answer(request: Request) -> Response:
        try:
            response = handler(request)
        except Problem as problem:
            return problem_page(site, problem)
        except Unavailable as problem:
            return unavailable_page(site, request, site.failed(problem))
        if request.method == "POST":
            site.saved()
        return response

    async def serve(request: Request) -> Response:
        try:
            request.state.body = await read_body(request, LARGEST)
        except Problem as problem:
            return problem_page(site, problem)
        return await run_in_threadpool(answer, request)

    return serve


def _health(site: Site) -> Handler:
    def healthz(request: Request) -> Response:
        try:
            with site.store.read() as connection:
                connection.execute(select(schema.study.c.id)).scalar_one()
        except Unavailable as problem:
            return as_json(site.failed(problem))
        return PlainTextResponse("ok\n")

    return healthz


@cache
def _files() -> dict[str, tuple[str, str]]:
    """What pages load, with its type."""
    script = (TEMPLATES / "study.js").read_text(encoding="utf-8")
    return {
        "study.css": (style_sheet(TEMPLATES / "study.css"), "text/css"),
        "study.js": (script, "text/javascript"),
    }


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _files():
        raise Problem(404, "There is no such file.")
    text, kind = _files()[name]
    return Response(text, headers={"cache-control": "public, max-age=300"}, media_type=kind)
