"""Whom a request is from: the owner of an API key, or an address."""

from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from darc.web.keys import Key, Keys
from darc.web.middleware.base import HttpMiddleware
from darc.web.problems import Problem
from darc.web.trusted_proxies import TrustedProxies


@dataclass(frozen=True)
class Client:
    """Whom a request is from, and how much the client may do."""

    #: The name of the client's key, or its address.
    name: str
    #: Requests per minute; 0 for the service's own limit.
    rate: float = 0.0
    #: Requests at a time; 0 for no limit.
    max_active: int = 0


class ClientMiddleware(HttpMiddleware):
    """Finds out whom a request is from and refuses it if its key is missing or wrong.

    The `Client` is in `request.state.client`. It is not set for public paths.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        proxies: TrustedProxies,
        public_paths: Collection[str] = (),
    ) -> None:
        """Wrap an application.

        Args:
            app: The application.
            keys: The keys that are accepted. Without any, clients are known by their addresses.
            proxies: The reverse proxies that are believed about addresses.
            public_paths: The paths that need no key and are not counted.
        """
        super().__init__(app)
        self._keys = keys
        self._proxies = proxies
        self._public_paths = public_paths

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request if its client may make it."""
        if scope["path"] not in self._public_paths:
            scope["state"]["client"] = self._find_client(scope)
        await self.app(scope, receive, send)

    def _find_client(self, scope: Scope) -> Client:
        headers = Headers(scope=scope)
        if self._keys:
            key = _require_key(self._keys, headers)
            return Client(key.name, key.rate, key.active)
        peer = "unknown"
        if scope.get("client"):
            peer = scope["client"][0]
        return Client(f"address {self._proxies.client_address(peer, headers)}")


def _require_key(keys: Keys, headers: Headers) -> Key:
    """The key of a request: its bearer token, or its header x-api-key.

    Raises:
        Problem: With status 401.
    """
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    token = headers.get("x-api-key", "").strip()
    if scheme.lower() == "bearer":
        token = credentials.strip()
    key = keys.find(token)
    if key is None:
        raise Problem(
            401,
            "the API key is missing or wrong",
            "authentication_error",
            "invalid_api_key",
            headers={"WWW-Authenticate": "Bearer"},
        )
    return key
