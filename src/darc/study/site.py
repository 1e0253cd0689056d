"""A study that is served: its pages, cookies and limits."""

import logging
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from darc.study.database_files import Unavailable
from darc.study.forms import read_form
from darc.study.markdown import render_markdown
from darc.study.messages import Refusal, messages
from darc.study.settings import TEMPLATES
from darc.study.store import Store
from darc.views.html import environment
from darc.web.addresses import parse_address
from darc.web.problems import Problem, retry_after
from darc.web.rate_limiter import RateLimiter
from darc.web.trusted_proxies import TrustedProxies

logger = logging.getLogger("darc.study")

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_COOKIE_SECONDS = 60 * 86_400
_RETRY_SECONDS = 10


def _make_environment() -> Any:
    pages = environment(TEMPLATES)
    pages.globals["messages"] = messages()
    # What people wrote is Markdown with line breaks, and a study's own texts are prose.
    pages.filters["markdown"] = lambda text: Markup(render_markdown(text))
    pages.filters["prose"] = lambda text: Markup(render_markdown(text, breaks=False))
    return pages


_PAGES = _make_environment()


def _peer_of(request: Request) -> str:
    if request.client is None:
        return ""
    return request.client.host


@dataclass
class Site:
    """A study's store, where its pages are, and its limits."""

    store: Store
    #: The path under which a reverse proxy shows the pages.
    root: str = ""
    #: What comes before the root; cookies are for TLS only if it is https.
    url: str = "http://127.0.0.1:8710"
    #: Requests per minute and visitor.
    rate: float = 600.0
    #: Enrolments per minute and address; 0 for any number.
    enrolment_rate: float = 10.0
    #: The reverse proxies that are believed to say where requests come from.
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    rate_limiter: RateLimiter = field(default_factory=RateLimiter)
    _database_problem: str = field(default="", init=False)
    _warned_of_proxy: bool = field(default=False, init=False)

    def count(self, client: str) -> None:
        """Count a request of a client.

        Args:
            client: Who sends it.

        Raises:
            Refusal: There were too many.
        """
        seconds = self.rate_limiter.count_request(client, self.rate)
        if seconds:
            raise Refusal("rate", retry_after(seconds))

    def count_stranger(self, request: Request) -> None:
        """Count a request of somebody without a link, by their address."""
        peer = _peer_of(request)
        if "x-forwarded-for" in request.headers and not self.proxies.networks:
            self._warn_of_proxy(peer)
        self.count(f"stranger {self.proxies.client_address(peer, request.headers)}")

    def visitor_address(self, request: Request) -> str:
        """The address of a visitor; empty behind a proxy that was not named as trusted."""
        peer = _peer_of(request)
        if "x-forwarded-for" in request.headers and not self.proxies.networks:
            # Everybody would have the address of the proxy, which is next to this machine.
            address = parse_address(peer)
            if address is not None and address.is_private:
                return ""
        return self.proxies.client_address(peer, request.headers)

    def count_enrolment(self, address: str) -> None:
        """Count an enrolment of an address, if it is known.

        Args:
            address: Where it comes from.

        Raises:
            Refusal: There were too many.
        """
        if not address:
            return
        seconds = self.rate_limiter.count_request(f"enrolment {address}", self.enrolment_rate)
        if seconds:
            raise Refusal("rate", retry_after(seconds))

    def _warn_of_proxy(self, peer: str) -> None:
        if self._warned_of_proxy:
            return
        self._warned_of_proxy = True
        logger.warning(
            f"{peer} passes requests on, and all are counted as its own; "
            "if it is your reverse proxy, name it with --trusted-proxy"
        )

    def report_failure(self, problem: Unavailable) -> Problem:
        """Log that the database cannot be used, unless that is known, and return a 503."""
        if self._database_problem != problem.message:
            self._database_problem = problem.message
            logger.error(f"nothing is saved: {problem}")
        return Problem(
            503,
            problem.message,
            "server_error",
            "database_unavailable",
            headers=retry_after(_RETRY_SECONDS),
        )

    def report_success(self) -> None:
        """Note that something was saved."""
        if self._database_problem:
            self._database_problem = ""
            logger.warning("the database can be used again")

    def page(self, name: str, title: str, status: int = 200, /, **values: Any) -> Response:
        """Render a page, with the policy that pages with forms need.

        Args:
            name: The name of the template.
            title: The title of the page.
            status: The HTTP status.
            values: What the template needs.

        Returns:
            The response.
        """
        template = _PAGES.get_template(f"{name}.html")
        text = template.render(root=self.root, title=title, **values)
        return HTMLResponse(text, status, {"content-security-policy": _CONTENT_SECURITY_POLICY})

    def problem(self, problem: Problem, **form: Any) -> Response:
        """Render a problem as a page that says one thing.

        Args:
            problem: The problem.
            form: A form that can be sent again from the page: again (its path), token and fields.

        Returns:
            The response.
        """
        message = messages().get(problem.code or "", {})
        title = message.get("title", "That did not work")
        values = {"text": problem.message, "again": "", **form}
        response = self.page("message", title, problem.status, **values)
        response.headers.update(problem.headers)
        return response

    def unavailable(self, request: Request, problem: Unavailable) -> Response:
        """Say in plain words that the database is away; what was sent is kept on the page."""
        headers = self.report_failure(problem).headers
        if request.method != "POST":
            return self.problem(Refusal("away", headers))
        fields = read_form(request, "")
        token = fields.pop("form_token", "")
        path = request.scope["path"]
        return self.problem(Refusal("unsaved", headers), again=path, token=token, fields=fields)

    def redirect(self, path: str, cookie: str = "", token: str = "") -> Response:
        """Send the visitor to another page.

        Args:
            path: The path of the page.
            cookie: The name of a cookie in which the browser keeps the token, if there is one.
            token: The token, which scripts cannot read.

        Returns:
            The response.
        """
        response = RedirectResponse(f"{self.root}{path}", 303)
        if cookie:
            response.set_cookie(
                cookie,
                token,
                _COOKIE_SECONDS,
                path=self.root or "/",
                secure=self.url.startswith("https://"),
                httponly=True,
            )
        return response
