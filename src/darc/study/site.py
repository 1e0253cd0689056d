"""A study that is served: who is asking, forms and cookies, pages and Markdown in them."""

import hashlib
import hmac
import logging
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any
from urllib.parse import parse_qs

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from darc.study.settings import TEMPLATES
from darc.study.store import Refusal, Store, Unavailable, messages
from darc.views.html import environment
from darc.web.problems import Problem, retry_after
from darc.web.rate_limiter import RateLimiter
from darc.web.trusted_proxies import TrustedProxies

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
DAYS = 60
RETRY_SECONDS = 10
# Links and pictures stay the text that they are written as, so nothing is fetched or followed.
OFF = ("link", "image", "autolink", "reference", "html_block", "html_inline")
PLAIN = ("heading_open", "heading_close", "th_open", "td_open", "fence", "code_block")

PAGES = environment(TEMPLATES)
PAGES.globals["messages"] = messages()
# What people wrote is Markdown, and a study's own texts are prose.
PAGES.filters["markdown"] = lambda text: Markup(render(text))
PAGES.filters["prose"] = lambda text: Markup(render(text, breaks=False))

logger = logging.getLogger("darc.study")


@dataclass
class Site:
    """A study's store, where it lies, and its limits."""

    store: Store
    root: str = ""
    url: str = "http://127.0.0.1:8710"
    rate: float = 600.0
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    rates: RateLimiter = field(default_factory=RateLimiter)
    trouble: str = ""
    hinted: bool = False

    def count(self, client: str) -> None:
        """Count a request of a client; too many are refused with 429."""
        early = self.rates.count_request(client, self.rate)
        if early:
            raise Refusal("rate", retry_after(early))

    def count_stranger(self, request: Request) -> None:
        """Count a request of someone without a link, by their address."""
        peer = request.client.host if request.client else ""
        if "x-forwarded-for" in request.headers and not (self.proxies.networks or self.hinted):
            self.hinted = True
            logger.warning(
                f"{peer} passes requests on, and all are counted as its own; "
                "if it is your reverse proxy, name it with --trusted-proxy"
            )
        self.count(f"stranger {self.proxies.client_address(peer, request.headers)}")

    def failed(self, problem: Unavailable) -> Problem:
        """The database's trouble as a 503, logged when it begins or becomes another."""
        if self.trouble != problem.message:
            self.trouble = problem.message
            logger.error(f"nothing is saved: {problem}")
        wait = retry_after(RETRY_SECONDS)
        return Problem(503, problem.message, "server_error", "database_unavailable", headers=wait)

    def saved(self) -> None:
        """Note that something was saved."""
        if self.trouble:
            self.trouble = ""
            logger.warning("the database can be used again")

    def page(self, name: str, title: str, http: int = 200, **values: Any) -> Response:
        """The page of a template, with the policy that pages with forms need."""
        text = PAGES.get_template(f"{name}.html").render(root=self.root, title=title, **values)
        return HTMLResponse(text, http, {"content-security-policy": POLICY})

    def problem(self, problem: Problem, **form: Any) -> Response:
        """A problem as a page that says one thing; a `form` can be sent again from it."""
        title = messages().get(problem.code or "", {}).get("title", "That did not work")
        values = {"text": problem.message, "again": "", **form}
        response = self.page("message", title, problem.status, **values)
        response.headers.update(problem.headers)
        return response

    def unavailable(self, request: Request, problem: Unavailable) -> Response:
        """A page in plain words where the database is away; what was sent is kept on it."""
        wait = self.failed(problem).headers
        if request.method != "POST":
            return self.problem(Refusal("away", wait))
        fields = read_form(request, "")
        token, again = fields.pop("form_token", ""), request.scope["path"]
        return self.problem(Refusal("unsaved", wait), again=again, token=token, fields=fields)

    def go(self, path: str, cookie: str = "", token: str = "") -> Response:
        """Send the visitor on; the browser remembers a token, out of reach of scripts."""
        response = RedirectResponse(f"{self.root}{path}", 303)
        if cookie:
            secure, place = self.url.startswith("https://"), self.root or "/"
            age = DAYS * 86_400
            response.set_cookie(cookie, token, age, path=place, secure=secure, httponly=True)
        return response


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


def render(text: str, *, breaks: bool = True) -> str:
    """HTML of Markdown in which nothing runs, loads or leads on; the same whoever wrote it.

    With `breaks` the end of a line is one, as chat pages have it; prose wrapped in a file has none.
    """
    return str(_parser(breaks).render(text.replace("\x00", "\ufffd")))


@cache
def _parser(breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable(list(OFF))
    for rule in PLAIN:
        parser.add_render_rule(rule, _plain)
    return parser


def _plain(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Headings below the page's own, cells without style and code without its language's name."""
    token = tokens[index]
    if token.type in ("fence", "code_block"):
        return f"<pre><code>{escape(token.content)}</code></pre>\n"
    tag = f"h{min(6, int(token.tag[1]) + 2)}" if token.tag.startswith("h") else token.tag
    return f"<{'/' if token.nesting < 0 else ''}{tag}>"
