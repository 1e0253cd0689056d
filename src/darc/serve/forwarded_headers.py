"""Which headers pass between clients and the backend."""

from collections.abc import Iterable, Mapping

_HOP_BY_HOP = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
_NOT_SENT = _HOP_BY_HOP | {
    "host", "content-length", "authorization", "cookie", "expect", "forwarded", "origin",
    "referer", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
}  # fmt: skip
_NOT_RETURNED = {
    name.encode() for name in _HOP_BY_HOP | {"set-cookie", "server", "date", "alt-svc"}
}
# The client that makes all calls sets these itself.
_SET_BY_CLIENT = {"accept", "accept-encoding", "content-type"}


def request_headers(headers: Mapping[str, str], send_key: bool) -> dict[str, str]:
    """Return a client's headers for the backend.

    Args:
        headers: The headers of the request.
        send_key: Whether the client's key is the backend's.
    """
    named_in_connection = {
        name.strip().lower() for name in headers.get("connection", "").split(",")
    }
    dropped = _NOT_SENT | named_in_connection
    if send_key:
        dropped -= {"authorization"}
    return {name.lower(): value for name, value in headers.items() if name.lower() not in dropped}


def call_headers(headers: Mapping[str, str], send_key: bool) -> dict[str, str]:
    """Return a client's headers for calls that are made here, whose form is not the client's."""
    forwarded = request_headers(headers, send_key)
    return {name: value for name, value in forwarded.items() if name not in _SET_BY_CLIENT}


def response_headers(
    headers: Iterable[tuple[bytes, bytes]], changed: Iterable[bytes] = ()
) -> list[tuple[bytes, bytes]]:
    """Return a backend's headers for the client.

    Cookies and cross-origin permissions of another site have no meaning on this one.

    Args:
        headers: The headers of the backend's response.
        changed: Headers that do not hold any more.
    """
    dropped = _NOT_RETURNED.union(changed)
    return [
        (name.lower(), value)
        for name, value in headers
        if name.lower() not in dropped and not name.lower().startswith(b"access-control-")
    ]
