"""HTTP connections, by aiohttp."""

import os
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from darc.errors import InputError, extra_needed
from darc.models.remote.errors import Malformed, TimedOut, Unreachable

_CONNECT_SECONDS = 10.0
_IDLE_SECONDS = 30.0
_MAX_HEADER_BYTES = 65536
_READ_BUFFER_BYTES = 2**18
_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
# What a client does not send is not made up for it.
_HEADERS_NOT_ADDED = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


def import_aiohttp() -> Any:
    """Import the HTTP library, which is optional.

    Returns:
        The module.

    Raises:
        MissingExtra: It is not installed.
    """
    with extra_needed("talking to a server", "remote"):
        import aiohttp
    return aiohttp


def open_session(timeout: float) -> Any:
    """Open a pool of connections in the running event loop.

    No cookie is kept, no redirect is followed, and nothing is decompressed.

    Args:
        timeout: The longest pause between two pieces of an answer, in seconds. A connection must
            be there within 10 seconds, or `timeout` if that is shorter.

    Returns:
        An `aiohttp.ClientSession` without a limit on the number of connections.
    """
    aiohttp = import_aiohttp()
    session = aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(connect=min(_CONNECT_SECONDS, timeout), sock_read=timeout),
        auto_decompress=False,
        skip_auto_headers=_HEADERS_NOT_ADDED,
        requote_redirect_url=False,
        max_line_size=_MAX_HEADER_BYTES,
        max_field_size=_MAX_HEADER_BYTES,
        read_bufsize=_READ_BUFFER_BYTES,
    )
    # The client counts its attempts, so the library must not make any by itself.
    session._retry_connection = False
    return session


def translate_error(problem: Exception, url: str, timeout: float) -> Exception:
    """Say what an exception of the HTTP library means.

    Args:
        problem: What the library raised.
        url: The URL that was called.
        timeout: The seconds that an attempt may take.

    Returns:
        A `BackendError` or `InputError`, or the same exception if it is of another kind.
    """
    aiohttp = import_aiohttp()
    if isinstance(problem, TimeoutError):
        return TimedOut(
            f"{url} did not answer within {timeout:g} s", "raise timeout, or lower concurrency"
        )
    if type(problem) is aiohttp.ClientResponseError:
        return Malformed(f"{url} answered with something that is not HTTP")
    if isinstance(problem, aiohttp.ClientPayloadError):
        return Unreachable(f"{url} broke off in the middle of its answer")
    if isinstance(problem, aiohttp.InvalidURL | ValueError):
        return InputError(f"a request to {url[:200]!r} cannot be sent: {problem}")
    if isinstance(problem, aiohttp.ClientError | OSError):
        reason = _connection_failure(problem)
        return Unreachable(f"{url} cannot be reached: {reason}", "is the server running there?")
    return problem


def _connection_failure(problem: Exception) -> str:
    """The operating system's words for a failed connection, or the library's if it has none."""
    cause = getattr(problem, "os_error", None)
    number = getattr(cause, "errno", None)
    if number and number > 0:
        return os.strerror(number)
    return str(cause or problem) or type(problem).__name__


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL; None for addresses of this machine."""
    parts = urlsplit(url)
    if parts.hostname in _LOOPBACK_HOSTS or proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)


def encode_header(value: str) -> str:
    """Prepare the value of a header such that the bytes it was read from are sent unchanged.

    Args:
        value: Bytes that were decoded as Latin-1, which is how servers hand over headers.

    Returns:
        The text whose UTF-8, which the library sends, are those bytes. If they are not UTF-8, the
        value itself.
    """
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value
