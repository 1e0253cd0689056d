"""Requests and replies of a study: cookies, forms, and who is asking."""

import hashlib
import hmac
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from darc.study.files import Unavailable
from darc.study.pages import POLICY, message, page
from darc.study.store import Store
from darc.web.clients import Proxies, Rates
from darc.web.problems import Problem

LARGEST = 16_384
ANNOTATOR, LEAD = "darc_study", "darc_lead"
BAD_LINK = "bad_link"
TITLES: dict[str | int, str] = {
    BAD_LINK: "This link does not work",
    404: "There is no such page",
    409: "You have answered this before",
    410: "The study is closed",
    429: "One moment, please",
}
DAYS = 60
RETRY_SECONDS = 10
UNSAVED = "This was NOT saved"
KEPT_HERE = (
    "The study cannot save anything at the moment. What you sent is kept on this page: wait a "
    "minute, then press the button to send it again. If that fails, tell whoever invited you."
)
AWAY = "The study cannot be reached at the moment. Nothing is lost; reload this page in a minute."
# Also behind a prefix or with something appended, so that a mistyped link is not logged either.
_SECRET = re.compile(r"(.*?)/(lead/join|join|enrol)/+(.*)", re.DOTALL)

logger = logging.getLogger("darc.study")

Scope = MutableMapping[str, Any]


@dataclass
class Site:
    """A study that is served: its store, where it lies, and its limits."""

    store: Store
    root: str = ""
    url: str = "http://127.0.0.1:8710"
    rate: float = 600.0
    proxies: Proxies = field(default_factory=Proxies)
    rates: Rates = field(default_factory=Rates)
    trouble: str = ""
    hinted: bool = False

    @property
    def secure(self) -> bool:
        """Whether cookies may travel over TLS only."""
        return self.url.startswith("https://")

    def link(self, path: str) -> str:
        """A whole link to a path."""
        return f"{self.url.rstrip('/')}{self.root}{path}"

    def count(self, client: str) -> None:
        """Count a request of a client; too many are refused with 429."""
        early = self.rates.wait(client, self.rate)
        if early:
            wait = {"Retry-After": str(max(1, int(early + 0.999)))}
            raise Problem(429, "Too many requests at once; wait a moment.", headers=wait)

    def count_stranger(self, request: Request) -> None:
        """Count a request of someone without a link, by their address."""
        peer = request.client.host if request.client else ""
        if "x-forwarded-for" in request.headers and not (self.proxies.trusted or self.hinted):
            self.hinted = True
            logger.warning(
                f"{peer} passes requests on, and all are counted as its own; "
                "if it is your reverse proxy, name it with --trusted-proxy"
            )
        self.count(f"stranger {self.proxies.client(peer, request.headers)}")

    def failed(self, problem: Unavailable) -> Problem:
        """The database's trouble as a 503, logged when it begins or becomes another."""
        if self.trouble != problem.message:
            self.trouble = problem.message
            logger.error(f"nothing is saved: {problem}")
        wait = {"Retry-After": str(RETRY_SECONDS)}
        return Problem(503, problem.message, "server_error", "database_unavailable", headers=wait)

    def saved(self) -> None:
        """Note that something was saved."""
        if self.trouble:
            self.trouble = ""
            logger.warning("the database can be used again")


class HiddenSecrets:
    """ASGI that takes the secrets out of paths before anything can log them, and the root too."""

    def __init__(self, app: Callable[..., Awaitable[None]], root: str) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve with `/join/TOKEN` as `/join` and the token in the request's state."""
        if scope["type"] == "http":
            path = scope["path"]
            if self._root and path.startswith(self._root + "/"):
                path = path[len(self._root) :]
            state = dict(scope.get("state") or {})
            found = _SECRET.fullmatch(path)
            if found:
                path, state["secret"] = f"{found[1]}/{found[2]}", found[3][:200]
            scope = {**scope, "path": path, "raw_path": path.encode(), "state": state}
        await self._app(scope, receive, send)


def secret_of(request: Request) -> str:
    """The secret that a link carried."""
    return str(getattr(request.state, "secret", ""))


def form_token(token: str) -> str:
    """What a form must carry: made from the visitor's own token, so that no other site knows it."""
    return hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()


def read_form(request: Request, token: str) -> dict[str, str]:
    """The fields of a form that this visitor's own page sent; anything else is refused.

    A form is small, was read before its handler runs, and carries what only this site's pages know.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "Forms are sent as application/x-www-form-urlencoded.")
    try:
        text = request.state.body.decode("utf-8")
        found = parse_qs(text, keep_blank_values=True, max_num_fields=40)
    except ValueError:
        raise Problem(400, "The form cannot be read.") from None
    fields = {name: values[0] for name, values in found.items()}
    own = form_token(token).encode()
    if token and not hmac.compare_digest(own, fields.get("form_token", "").encode()):
        raise Problem(403, "The form is too old or not yours; open your link again.")
    return fields


def page_response(text: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A page with the policy that pages with forms need."""
    return HTMLResponse(text, status, {"content-security-policy": POLICY, **(headers or {})})


def go(site: Site, path: str) -> Response:
    """Send the visitor on with a GET."""
    return RedirectResponse(f"{site.root}{path}", 303)


def with_cookie(site: Site, response: Response, name: str, token: str) -> Response:
    """Let the browser remember a visitor's token, out of reach of scripts."""
    response.set_cookie(
        name,
        token,
        max_age=DAYS * 86_400,
        path=site.root or "/",
        secure=site.secure,
        httponly=True,
        samesite="lax",
    )
    return response


def problem_page(site: Site, problem: Problem) -> Response:
    """A problem as a page."""
    title = TITLES.get(problem.code or "", TITLES.get(problem.status, "That did not work"))
    return page_response(
        message(site.root, title, problem.message),
        problem.status,
        dict(problem.headers),
    )


def unavailable_page(site: Site, request: Request, problem: Problem) -> Response:
    """A page in plain words where the database is away; a form can be sent again from it."""
    text = message(site.root, "That did not work", AWAY)
    if request.method == "POST":
        try:
            fields = read_form(request, "")
        except Problem as wrong:
            return problem_page(site, wrong)
        values = {"text": KEPT_HERE, "again": request.scope["path"]}
        values |= {"token": fields.pop("form_token", ""), "fields": fields}
        text = page("message", site.root, UNSAVED, **values)
    return page_response(text, problem.status, dict(problem.headers))
