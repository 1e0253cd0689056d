"""`darc view` as an ASGI application."""

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from darc.viewer.index import DecisionIndex
from darc.viewer.pages import Pages
from darc.viewer.query import Query
from darc.views.dots_html import STYLE as DOTS_STYLE
from darc.views.style_sheet import style_sheet
from darc.web.allowed_hosts import AllowedHosts
from darc.web.middleware.stack import Protection, protect
from darc.web.problems import Problem

_FOLDER = Path(__file__).parent / "page"
_MEDIA_TYPES = {".js": "text/javascript", ".svg": "image/svg+xml"}
# As for the other pages, and for a form that is sent to this server.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {"content-security-policy": _CONTENT_SECURITY_POLICY}
_LARGEST_PLACE = 2**31


def make_app(index: DecisionIndex, hosts: AllowedHosts | None = None) -> ASGIApp:
    """Make the application.

    Args:
        index: The decisions.
        hosts: The names that it answers to; None for those of the loopback interface.

    Returns:
        An ASGI application.
    """
    pages = Pages(index)
    # The first page is drawn once ahead, so that nobody waits for templates and a cold disk.
    pages.list_page(Query(), 1)
    views = _Views(pages)
    routes = [
        Route("/", views.list_page, methods=["GET"]),
        Route("/decision/{number:int}", views.decision_page, methods=["GET"]),
        Route("/view.css", views.style, methods=["GET"]),
        Route("/{name}", views.file, methods=["GET"]),
    ]
    router = Router(routes, default=_no_page)
    return protect(
        router, Protection(hosts=hosts or AllowedHosts()), render_error=views.problem_page
    )


class _Views:
    """Answers requests."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._style = style_sheet(DOTS_STYLE, _FOLDER / "view.css")

    def list_page(self, request: Request) -> Response:
        """The list of decisions."""
        page = max(1, _whole_number(request, "page", 1))
        return _page(self._pages.list_page(Query.parse(request.query_params), page))

    def decision_page(self, request: Request) -> Response:
        """One decision, or two side by side."""
        number = request.path_params["number"]
        place = _whole_number(request, "at", -1)
        query = Query.parse(request.query_params)
        html = None
        if number < _LARGEST_PLACE:
            html = self._pages.decision_page(number, query, place)
        if html is None:
            raise Problem(404, "There is no such decision.", code="not_found")
        return _page(html)

    def style(self, _: Request) -> Response:
        """The style sheet."""
        return Response(self._style, media_type="text/css")

    def file(self, request: Request) -> Response:
        """A script or picture of the page."""
        for path in _FOLDER.iterdir():
            if path.name == request.path_params["name"] and path.suffix in _MEDIA_TYPES:
                return FileResponse(path, media_type=_MEDIA_TYPES[path.suffix])
        raise Problem(404, "There is no such page.", code="not_found")

    def problem_page(self, problem: Problem) -> Response:
        """A page that says what is wrong."""
        html = self._pages.message_page(problem.message)
        return HTMLResponse(html, problem.status, {**problem.headers, **_HEADERS})


def _page(html: str) -> Response:
    return HTMLResponse(html, headers=_HEADERS)


def _whole_number(request: Request, name: str, default: int) -> int:
    """A whole number among the parameters of the URL, the default for anything else."""
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdigit()):
        return default
    return min(int(text[:12]), _LARGEST_PLACE)


async def _no_page(scope: Scope, receive: Receive, send: Send) -> Any:
    raise Problem(404, "There is no such page.", code="not_found")
