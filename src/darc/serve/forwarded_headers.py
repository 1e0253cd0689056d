"""Which headers pass between clients and the backend."""

from collections.abc import Iterable, Mapping

_HOP_BY_HOP = {
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
}  # fmt: skip
_KEYS = {"authorization", "x-api-key", "api-key", "x-goog-api-key"}
_NOT_SENT = _HOP_BY_HOP | _KEYS | {
    "host", "content-length", "cookie", "expect", "forwarded", "origin",
    "referer", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
}  # fmt: skip
# What a browser would act on, such as policies and cookies of another site, is not returned.
_RETURNED = {
    b"accept-ranges", b"age", b"cache-control", b"content-encoding", b"content-language",
    b"content-length", b"content-range", b"content-type", b"etag", b"expires", b"last-modified",
    b"request-id", b"retry-after", b"retry-after-ms", b"vary", b"x-request-id", b"x-should-retry",
}  # fmt: skip
_RETURNED_PREFIXES = (b"openai-", b"anthropic-", b"x-ratelimit-", b"ratelimit-")
# A response that was passed on is never a page of the gateway.
_PASSED_ON_HEADERS = [
    (b"content-security-policy", b"sandbox; default-src 'none'"),
    (b"x-content-type-options", b"nosniff"),
]
_SHOWN_TYPES = ("application/json", "text/event-stream", "audio/")
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
        dropped -= _KEYS
    return {name.lower(): value for name, value in headers.items() if name.lower() not in dropped}


def call_headers(headers: Mapping[str, str], send_key: bool) -> dict[str, str]:
    """Return a client's headers for calls that are made here, whose form is not the client's."""
    forwarded = request_headers(headers, send_key)
    return {name: value for name, value in forwarded.items() if name not in _SET_BY_CLIENT}


def response_headers(
    headers: Iterable[tuple[bytes, bytes]], changed: Iterable[bytes] = ()
) -> list[tuple[bytes, bytes]]:
    """Return a backend's headers for the client.

    Only headers about the content, limits and ids are returned. A browser neither runs what was
    passed on as a page, nor shows it unless it is JSON, events or sound.

    Args:
        headers: The headers of the backend's response.
        changed: Headers that do not hold any more.
    """
    dropped = set(changed)
    returned = [(name.lower(), value) for name, value in headers]
    returned = [pair for pair in returned if _is_returned(pair[0]) and pair[0] not in dropped]
    content_type = dict(returned).get(b"content-type", b"").decode("latin-1").strip().lower()
    returned += _PASSED_ON_HEADERS
    if not content_type.startswith(_SHOWN_TYPES):
        returned.append((b"content-disposition", b"attachment"))
    return returned


def _is_returned(name: bytes) -> bool:
    return name in _RETURNED or name.startswith(_RETURNED_PREFIXES)
