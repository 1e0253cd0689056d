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
from darc.study.database_files import Unavailable
from darc.study.lead import LeadPages
from darc.study.messages import Refusal
from darc.study.settings import TEMPLATES
from darc.study.site import Site
from darc.study.store import Store
from darc.views.style_sheet import style_sheet
from darc.web.allowed_hosts import AllowedHosts, host_of_url
from darc.web.bodies import read_body
from darc.web.middleware.errors import json_error
from darc.web.middleware.stack import Protection, protect
from darc.web.problems import Problem
from darc.web.trusted_proxies import TrustedProxies

Handler = Callable[[Request], Response]

_DEFAULT_URL = "http://127.0.0.1:8710"
_MAX_FORM_BYTES = 16_384
_MAX_SECRET_LENGTH = 200
_MEDIA_TYPES = {
    "study.css": "text/css",
    "study.js": "text/javascript",
    "wait.js": "text/javascript",
}
# Also behind a prefix or with something appended, so that a mistyped link is not logged either.
_PATH_WITH_SECRET = re.compile(r"(.*?)/(lead/join|join|enrol)/+(.*)", re.DOTALL)


def make_app(
    store: Store,
    root: str = "",
    url: str = "",
    rate: float = 600.0,
    host: str = "127.0.0.1",
    names: Sequence[str] = (),
    proxies: TrustedProxies | None = None,
    enrolment_rate: float = 10.0,
) -> Any:
    """Make the application of a study.

    Args:
        store: The study.
        root: The path under which a reverse proxy shows it.
        url: What comes before the root; cookies are for TLS only if it is https.
        rate: Requests per minute and visitor.
        host: The host that the application listens on, to whose name it answers.
        names: Other host names to which it answers, beside that of the URL.
        proxies: The reverse proxies that are believed to say where requests come from. Addresses
            of strangers are not logged.
        enrolment_rate: Enrolments per minute and address; 0 for any number.

    Returns:
        An ASGI application, which closes the store when it ends.
    """
    site = Site(
        store=store,
        root=root.rstrip("/"),
        url=url or _DEFAULT_URL,
        rate=rate,
        enrolment_rate=enrolment_rate,
        proxies=proxies or TrustedProxies(),
    )
    # They are read now, because within a transaction they would take a second connection.
    store.config  # noqa: B018
    store.unit_ids  # noqa: B018
    store.item_prompts  # noqa: B018

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        yield
        store.close()

    router = Router(_make_routes(site), lifespan=lifespan, default=_no_page)
    hosts = AllowedHosts(host, [host_of_url(site.url), *names])
    protection = Protection(hosts=hosts, all_linkable=True)
    protected = protect(router, protection, render_error=site.problem)
    return _hide_secrets(protected, site.root)


def _make_routes(site: Site) -> list[Route]:
    annotator = AnnotatorPages(site)
    lead = LeadPages(site)
    pages: dict[str, Handler] = {
        "/": annotator.home,
        "/join": annotator.join,
        "/back": annotator.back,
        "/enrol": annotator.enrol,
        "/lead": lead.home,
        "/lead/join": lead.join,
        "/static/{name}": _static_file,
        "/healthz": partial(_health, site),
    }
    forms: dict[str, Handler] = {
        "/consent": annotator.handle_form(annotator.consent),
        "/instructions": annotator.handle_form(annotator.instructions),
        "/groups": annotator.handle_form(annotator.groups),
        "/comprehension": annotator.handle_form(annotator.comprehension),
        "/answer": annotator.handle_form(annotator.answer),
        "/draft": annotator.handle_form(annotator.draft),
        "/seen": annotator.handle_form(annotator.seen),
        "/finish": annotator.handle_form(annotator.finish),
        "/enrol": annotator.take_part,
        "/lead/decide": lead.decide,
        "/lead/links": lead.links,
        "/lead/close": lead.close,
        "/lead/export": lead.export,
    }
    routes = [Route(path, _in_thread(site, page), methods=["GET"]) for path, page in pages.items()]
    routes += [
        Route(path, _in_thread(site, form), methods=["POST"]) for path, form in forms.items()
    ]
    return routes


async def _no_page(scope: Scope, receive: Receive, send: Send) -> None:
    raise Refusal("no_page")


def _in_thread(site: Site, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Run a handler in a thread, after the body of a form was read; problems become pages."""

    def respond(request: Request) -> Response:
        try:
            response = handler(request)
        except Unavailable as problem:
            return site.unavailable(request, problem)
        except InputError as problem:
            raise Problem(400, str(problem)) from None
        if request.method == "POST":
            site.report_success()
        return response

    async def serve(request: Request) -> Response:
        request.state.body = await read_body(request, _MAX_FORM_BYTES)
        return await run_in_threadpool(respond, request)

    return serve


def _hide_secrets(app: ASGIApp, root: str) -> ASGIApp:
    """Take the secrets, and the root, out of paths before anything can log them.

    `/join/TOKEN` is served as `/join`, with the token in the request's state.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = _without_secret(scope, root)
        await app(scope, receive, send)

    return serve


def _without_secret(scope: Scope, root: str) -> Scope:
    path = scope["path"]
    if root and path.startswith(root + "/"):
        path = path.removeprefix(root)
    state = dict(scope.get("state") or {})
    match = _PATH_WITH_SECRET.fullmatch(path)
    if match is not None:
        path = f"{match[1]}/{match[2]}"
        state["secret"] = match[3][:_MAX_SECRET_LENGTH]
    return {**scope, "path": path, "raw_path": path.encode(), "state": state}


def _health(site: Site, request: Request) -> Response:
    try:
        site.store.row()
    except Unavailable as problem:
        return json_error(site.report_failure(problem))
    return PlainTextResponse("ok\n")


def _static_file(request: Request) -> Response:
    """A file that pages load."""
    name = request.path_params["name"]
    if name not in _MEDIA_TYPES:
        raise Problem(404, "There is no such file.")
    path = TEMPLATES / name
    if path.suffix == ".css":
        text = style_sheet(path)
    else:
        text = path.read_text(encoding="utf-8")
    return Response(text, 200, {"cache-control": "public, max-age=300"}, _MEDIA_TYPES[name])
