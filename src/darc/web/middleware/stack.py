"""All middleware around an application, in order."""

from collections.abc import Collection
from dataclasses import dataclass, field

from starlette.types import ASGIApp

from darc.web.allowed_hosts import AllowedHosts
from darc.web.client_limits import ClientLimits, LocalClientLimits
from darc.web.keys import Keys
from darc.web.middleware.access_log import AccessLogMiddleware, Observer
from darc.web.middleware.client import ClientMiddleware
from darc.web.middleware.errors import ErrorMiddleware, ErrorRenderer, json_error
from darc.web.middleware.host import HostMiddleware
from darc.web.middleware.method import MethodMiddleware
from darc.web.middleware.origin import OriginMiddleware
from darc.web.middleware.rate_limit import RateLimitMiddleware
from darc.web.middleware.request_id import RequestIdMiddleware
from darc.web.middleware.security_headers import SecurityHeadersMiddleware
from darc.web.trusted_proxies import TrustedProxies


@dataclass(frozen=True)
class Protection:
    """Who may use a service, and how."""

    #: The names that the service answers to.
    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    #: The API keys of clients; without any, everybody may use it.
    keys: Keys = field(default_factory=Keys)
    #: Requests per minute of a client whose key has no limit; 0 for any number.
    rate: float = 0.0
    #: Count the requests of each client.
    limits: ClientLimits = field(default_factory=LocalClientLimits)
    #: The reverse proxies that are believed about the addresses of clients.
    proxies: TrustedProxies = field(default_factory=TrustedProxies)
    #: The paths that need no key, and that other sites may link to.
    public_paths: Collection[str] = ()
    #: Whether other sites may link to every path.
    all_linkable: bool = False


def protect(
    app: ASGIApp,
    protection: Protection,
    observe: Observer | None = None,
    render_error: ErrorRenderer = json_error,
) -> ASGIApp:
    """Wrap an application in everything that a request passes through.

    Args:
        app: The application.
        protection: Who may use it, and how.
        observe: Called with path, status and seconds after every request.
        render_error: Makes the response for a request that fails.

    Returns:
        The application to serve.
    """
    # From the inside out: a request passes through the last one first.
    public_paths = frozenset(protection.public_paths)
    app = RateLimitMiddleware(app, protection.rate, protection.limits)
    app = ClientMiddleware(app, protection.keys, protection.proxies, public_paths)
    app = OriginMiddleware(app, protection.hosts, public_paths, protection.all_linkable)
    app = MethodMiddleware(app)
    app = HostMiddleware(app, protection.hosts)
    app = ErrorMiddleware(app, render_error)
    app = SecurityHeadersMiddleware(app)
    app = AccessLogMiddleware(app, observe)
    return RequestIdMiddleware(app)
