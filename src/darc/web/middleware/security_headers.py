"""Headers that keep browsers from doing more with a response than they should."""

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from darc.web.middleware.base import HttpMiddleware

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer, browsers would send forms without an origin.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class SecurityHeadersMiddleware(HttpMiddleware):
    """Adds security headers to every response that does not have its own.

    None of them lets a page of another origin read a response.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with further headers in the response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)
