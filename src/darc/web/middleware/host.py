"""Refusing requests for other host names."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from darc.web.allowed_hosts import AllowedHosts, host_name
from darc.web.middleware.base import HttpMiddleware
from darc.web.problems import Problem


class HostMiddleware(HttpMiddleware):
    """Refuses a request whose Host header is not a name of the service."""

    def __init__(self, app: ASGIApp, hosts: AllowedHosts) -> None:
        """Wrap an application that answers to these hosts."""
        super().__init__(app)
        self._hosts = hosts

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request if it is for this service."""
        headers = Headers(scope=scope)
        if scope.get("http_version") == "1.1" and "host" not in headers:
            raise Problem(400, "the request has no Host header", code="invalid_host")
        check_host(self._hosts, headers)
        await self.app(scope, receive, send)


def check_host(hosts: AllowedHosts, headers: Headers) -> None:
    """Refuse a request for another host.

    A request of HTTP/1.0 without a Host header is accepted, because browsers always send one.

    Raises:
        Problem: With status 421 for an unknown host, or 400 if there are several Host headers.
    """
    host_headers = headers.getlist("host")
    if len(host_headers) > 1:
        raise Problem(400, "the request has several Host headers", code="invalid_host")
    if not host_headers or hosts.is_own_host(host_headers[0]):
        return
    name = host_name(host_headers[0]) or "the Host header of the request"
    raise Problem(
        421,
        f"{name} is not a name of this server; "
        "if it should be, start the server with --allowed-host NAME",
        code="unknown_host",
    )
