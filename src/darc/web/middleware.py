"""What every request goes through: its host, its key and rate, headers, the log and errors."""

import json
import logging
import re
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from darc.errors import InputError
from darc.web.clients import Keys, Proxies, Rates, read_address
from darc.web.problems import Problem, busy
from darc.web.server import is_loopback, path_without_secrets

logger = logging.getLogger("darc.web")

Observe = Callable[[str, str, int, float], None]
Tell = Callable[[Problem], ASGIApp]

EVERY_ADDRESS = ("", "0.0.0.0", "::")
# What a browser says of a request that its user or a page of this same service made.
OWN_SITE = ("same-origin", "none")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+?)\.?(?::(\d{1,5}))?")
_PORTS = {"http": "80", "https": "443"}
REQUEST_ID = "x-request-id"
_FINE_ID = re.compile(r"[\w.:-]{1,80}")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with no-referrer, forms have no origin
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Hosts:
    """The names of a service: its address, those of the loopback interface, and `given` ones.

    A name is a host, or host:port where a reverse proxy shows it on an unusual port. A service that
    listens on every address goes by any of them. A browser can be made to ask this machine by a
    page of another site, also under a name of that site, so both are looked at.
    """

    def __init__(self, bound: str = "127.0.0.1", given: Iterable[str] = ()) -> None:
        self._given = {name: _split(name) for name in given}
        for name, (host, _) in self._given.items():
            if not host:
                hint = "give a name such as darc.example.org, or NAME:PORT"
                raise InputError(f"--allowed-host is {name!r}", hint)
        self._names = {bound.strip("[]").lower(), *(host for host, _ in self._given.values())}
        self._every_address = bound.strip("[]") in EVERY_ADDRESS

    def check_name(self, headers: Headers) -> None:
        """Refuse a request for another name; one without a name comes from no browser."""
        names = headers.getlist("host")
        if len(names) > 1:
            raise Problem(400, "the request has several Host headers", code="invalid_host")
        if not names:
            return
        name, _ = _split(names[0])
        by_address = self._every_address and read_address(name) is not None
        if not name or not (name in self._names or is_loopback(name) or by_address):
            raise Problem(
                421,
                f"{name or 'the Host of the request'} is not a name of this server; "
                "if it should be, start the server with --allowed-host NAME",
                code="unknown_host",
            )

    def check_site(self, headers: Headers) -> None:
        """Refuse a request that a page of another site made; programs say nothing of a site.

        Browsers say whose page it was over TLS and on the loopback interface, else its origin only.
        """
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            fine = site in OWN_SITE
        else:
            fine = origin is None or self._own(origin, headers.get("host", ""))
        if not fine:
            raise Problem(
                403,
                "the request was made by a page of another site, and only this server's own may; "
                "if it has another name, start the server with --allowed-host NAME",
                "permission_error",
                "foreign_origin",
            )

    def _own(self, origin: str, host: str) -> bool:
        """Whether a page's origin is the name that was asked for, or a given one."""
        scheme, _, rest = origin.lower().partition("://")
        page, usual = _split(rest), _PORTS.get(scheme)
        own = (_split(host), *self._given.values())
        return bool(page[0] and usual) and (page[0], page[1] or usual) in {
            (name, port or usual) for name, port in own
        }


def authority_of(url: str) -> str:
    """The host, and the port if there is one, of a service's public URL."""
    found = urlsplit(url).netloc.rpartition("@")[2]
    if not _split(found)[0]:
        raise InputError(f"--url is {url!r}", "give it as https://NAME")
    return found


def _split(authority: str) -> tuple[str, str]:
    """Name and port, the port empty if there is none, and both for what is neither."""
    found = _AUTHORITY.fullmatch(authority.strip().lower())
    return ("", "") if found is None else (found[1].strip("[]"), found[2] or "")


@dataclass
class Guard:
    """Checks the key of a request and counts it; `rate` is a minute's worth for each client.

    With keys a client is its key, without any its address, which `proxies` may tell.
    """

    keys: Keys = field(default_factory=Keys)
    rate: float = 0.0
    rates: Rates = field(default_factory=Rates)
    proxies: Proxies = field(default_factory=Proxies)
    _active: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def admit(self, headers: Headers, address: str) -> Iterator[str]:
        """The client's name, held while its request runs; raises a `Problem` with 401 or 429."""
        if self.keys:
            kind, _, token = headers.get("authorization", "").partition(" ")
            key = self.keys.find(token.strip() if kind.lower() == "bearer" else "")
            if key is None:
                raise Problem(
                    401,
                    "the API key is missing or wrong",
                    "authentication_error",
                    "invalid_api_key",
                    headers={"WWW-Authenticate": "Bearer"},
                )
            name, rate, most = key.name, key.rate or self.rate, key.active
        else:
            name, rate, most = f"address {self.proxies.client(address, headers)}", self.rate, 0
        if early := self.rates.wait(name, rate):
            raise busy("too many requests", "rate_limit_exceeded", early)
        if most and self._active[name] >= most:
            raise busy(f"more than {most} requests at a time", "rate_limit_exceeded", 1.0)
        self._active[name] += 1
        try:
            yield name
        finally:
            self._active[name] -= 1
            if not self._active[name]:
                del self._active[name]


def as_json(problem: Problem) -> Response:
    """The answer of a problem, in OpenAI's shape."""
    content = json.dumps(problem.body(), ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, problem.status, dict(problem.headers), "application/json")


@dataclass(frozen=True, eq=False)
class Shell:
    """ASGI around ASGI; `free` are the paths that need no key, and that other sites may link to.

    Every answer has a request id, the client's own where it sent a fitting one. `observe(method,
    path, status, seconds)` hears of every request. No origin is allowed to read across sites. A
    request for none of the `hosts` is refused, and so is one from another site's page, except a GET
    of what is free; where a service is `linked`, of anything. `tell` makes the answer of a problem.
    """

    app: ASGIApp
    guard: Guard
    free: Collection[str] = ()
    observe: Observe | None = None
    hosts: Hosts = field(default_factory=Hosts)
    tell: Tell = as_json
    linked: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(REQUEST_ID, "")
        request_id = given if _FINE_ID.fullmatch(given) else uuid.uuid4().hex
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        started, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                kept = list(message.get("headers", ()))
                there = {name.lower() for name, _ in kept}
                added = (*HEADERS, (REQUEST_ID.encode(), request_id.encode()))
                message["headers"] = kept + [pair for pair in added if pair[0] not in there]
            await send(message)

        try:
            await self._served(scope, headers, receive, sending)
        except Exception as problem:
            told = Problem(500, "the server failed", "server_error")
            if isinstance(problem, Problem):
                told = problem
            else:
                logger.exception("a request failed", extra={"fields": {"request_id": request_id}})
            if status:
                raise
            await self.tell(told)(scope, receive, sending)
        finally:
            seconds = time.perf_counter() - started
            if self.observe is not None:
                self.observe(scope["method"], scope["path"], status, seconds)
            if logger.isEnabledFor(logging.INFO):
                fields = {
                    "request_id": request_id,
                    "client": state.get("client", ""),
                    "method": scope["method"],
                    "path": path_without_secrets(scope["path"]),
                    "status": status,
                    "milliseconds": round(seconds * 1000, 1),
                    **state.get("log", {}),
                }
                logger.info("request", extra={"fields": fields})

    async def _served(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        self.hosts.check_name(headers)
        if scope["method"] not in METHODS:
            raise Problem(405, f"{scope['method']} is not served", code="method_not_allowed")
        free = scope["path"] in self.free
        if not ((free or self.linked) and scope["method"] in ("GET", "HEAD")):
            self.hosts.check_site(headers)
        if free:
            await self.app(scope, receive, send)
            return
        address = (scope.get("client") or ("unknown",))[0]
        with self.guard.admit(headers, address) as client:
            scope["state"]["client"] = client
            await self.app(scope, receive, send)
