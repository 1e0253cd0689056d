"""Refusing requests that pages of other sites make."""

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from darc.web.allowed_hosts import AllowedHosts
from darc.web.middleware.base import HttpMiddleware
from darc.web.problems import Problem

# Values of Sec-Fetch-Site for a request by the user or by a page of this service.
_OWN_SITES = ("same-origin", "none")
_READING_METHODS = ("GET", "HEAD")


class OriginMiddleware(HttpMiddleware):
    """Refuses a request by a page of another site, except for reading what sites may link to."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: AllowedHosts,
        linkable_paths: Collection[str] = (),
        all_linkable: bool = False,
    ) -> None:
        """Wrap an application.

        Args:
            app: The application.
            hosts: The names of the service, whose pages may make requests.
            linkable_paths: The paths that other sites may link to.
            all_linkable: Whether other sites may link to every path.
        """
        super().__init__(app)
        self._hosts = hosts
        self._linkable_paths = linkable_paths
        self._all_linkable = all_linkable

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request if its origin may make it."""
        if not self._is_allowed_link(scope):
            check_origin(self._hosts, Headers(scope=scope))
        await self.app(scope, receive, send)

    def _is_allowed_link(self, scope: Scope) -> bool:
        linkable = self._all_linkable or scope["path"] in self._linkable_paths
        return linkable and scope["method"] in _READING_METHODS


def check_origin(hosts: AllowedHosts, headers: Headers) -> None:
    """Refuse a request that a page of another site makes.

    Programs send neither Sec-Fetch-Site nor Origin and are accepted. Browsers send Sec-Fetch-Site
    over TLS and on the loopback interface, and otherwise only Origin.

    Raises:
        Problem: With status 403.
    """
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    if site is not None:
        allowed = site in _OWN_SITES
    elif origin is not None:
        allowed = hosts.is_own_origin(origin, headers.get("host", ""))
    else:
        allowed = True
    if not allowed:
        raise Problem(
            403,
            "the request was made by a page of another site, and only this server's own pages may; "
            "if the server has another name, start it with --allowed-host NAME",
            "permission_error",
            "foreign_origin",
        )
