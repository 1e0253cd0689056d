"""The study as an ASGI application."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route, Router

from darc.study import schema
from darc.study.annotating import Annotating
from darc.study.files import Unavailable
from darc.study.leading import Leading
from darc.study.numbering import numbering
from darc.study.store import Store
from darc.study.visits import HiddenSecrets, Site, told, told_unavailable
from darc.web.limits import Proxies
from darc.web.middleware import Guard, Hosts, Shell, as_json, authority_of
from darc.web.problems import Problem

STATIC = Path(__file__).parent / "pages" / "static"
FILES = {"study.css": "text/css", "study.js": "text/javascript"}

Handler = Callable[[Request], Awaitable[Response]]


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
    are for TLS only if it is https), `rate` requests a minute and visitor; `proxies` tell the
    addresses of strangers, which are not logged. It answers to `host`, which it listens on, to the
    url's name and to other `names`.
    """
    site = Site(store, root.rstrip("/"), url or "http://127.0.0.1:8710", rate, proxies or Proxies())
    hosts = Hosts(host, [authority_of(site.url), *names])
    # Read now, because within a transaction it would take a second connection.
    _ = store.config, numbering(store)
    asking, leading = Annotating(site), Leading(site)
    pages: dict[tuple[str, str], Handler] = {
        ("GET", "/"): asking.home,
        ("GET", "/join"): asking.join,
        ("GET", "/back"): asking.back,
        ("POST", "/consent"): asking.consent,
        ("POST", "/instructions"): asking.instructions,
        ("POST", "/groups"): asking.groups,
        ("POST", "/comprehension"): asking.comprehension,
        ("POST", "/answer"): asking.answer,
        ("POST", "/draft"): asking.draft,
        ("POST", "/seen"): asking.seen,
        ("GET", "/enrol"): asking.enrol,
        ("POST", "/enrol"): asking.take_part,
        ("GET", "/lead"): leading.home,
        ("GET", "/lead/join"): leading.join,
        ("POST", "/lead/decide"): leading.decide,
        ("POST", "/lead/links"): leading.links,
        ("POST", "/lead/close"): leading.close,
        ("POST", "/lead/export"): leading.export,
        ("GET", "/static/{name}"): _static,
    }
    routes = [
        Route(path, _guarded(site, handler), methods=[method])
        for (method, path), handler in pages.items()
    ]
    routes.append(Route("/healthz", _healthz(site), methods=["GET"]))

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        store.close()

    async def nothing(scope: Any, receive: Any, send: Any) -> None:
        await told(site, Problem(404, "Open the link that you were given once more, all of it."))(
            scope, receive, send
        )

    router = Router(routes, lifespan=lifespan, default=nothing)
    shell = Shell(router, Guard(), hosts=hosts, tell=partial(told, site), linked=True)
    return HiddenSecrets(shell, site.root)


def _guarded(site: Site, handler: Handler) -> Handler:
    async def serve(request: Request) -> Response:
        try:
            response = await handler(request)
        except Problem as problem:
            return told(site, problem)
        except Unavailable as problem:
            return await told_unavailable(site, request, site.failed(problem))
        if request.method == "POST":
            site.saved()
        return response

    return serve


def _healthz(site: Site) -> Handler:
    def asked() -> None:
        with site.store.read() as connection:
            connection.execute(select(schema.study.c.id)).scalar_one()

    async def healthz(request: Request) -> Response:
        try:
            await run_in_threadpool(asked)
        except Unavailable as problem:
            return as_json(site.failed(problem))
        return PlainTextResponse("ok\n")

    return healthz


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in FILES:
        raise Problem(404, "There is no such file.")
    headers = {"cache-control": "public, max-age=300"}
    return FileResponse(STATIC / name, media_type=FILES[name], headers=headers)
