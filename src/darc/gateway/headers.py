"""Which headers go on to the backend, and which come back."""

from collections.abc import Iterable, Mapping

HOP = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
        "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
OURS = frozenset(
    {
        "host", "content-length", "authorization", "cookie", "expect", "forwarded", "origin",
        "referer", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
    }
)  # fmt: skip
MADE = frozenset({"accept", "accept-encoding", "content-type"})


def onward(headers: Mapping[str, str], trusted: bool) -> dict[str, str]:
    """A client's headers for the backend; its own key goes along only where it is `trusted`.

    It is where the gateway has no keys of its own and none for the backend: then the key that the
    client sends can only be the backend's.
    """
    named = {part.strip().lower() for part in headers.get("connection", "").split(",")}
    kept = {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() not in HOP | OURS | named
    }
    if trusted and "authorization" in headers:
        kept["authorization"] = headers["authorization"]
    return kept


def for_candidates(headers: Mapping[str, str]) -> dict[str, str]:
    """The same for calls that are made here, whose form is ours."""
    return {name: value for name, value in headers.items() if name not in MADE}


def back(
    headers: Iterable[tuple[bytes, bytes]], changed: Iterable[bytes] = ()
) -> list[tuple[bytes, bytes]]:
    """A backend's headers for the client.

    Where the body is not the one that they were sent with, `changed` names headers that are no
    longer true; the length is one of them.
    """
    left = {name.encode() for name in HOP} | {b"set-cookie", b"server", b"date", b"alt-svc"}
    if changed:
        left |= {b"content-length", *changed}
    # Cookies and cross-origin permissions of another site have no meaning on this one.
    return [
        (name.lower(), value)
        for name, value in headers
        if name.lower() not in left and not name.lower().startswith(b"access-control-")
    ]
