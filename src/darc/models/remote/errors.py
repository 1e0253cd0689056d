"""What can go wrong with a call to a server.

The exceptions form this tree:

    DarcError
      InputError
        Rejected            the server will not do what the request asks, now or later
          Redirected        the server sends its callers to another URL
      BackendError          the server did not answer, or not sensibly, after all attempts
        Unreachable         there is no connection, or it broke before the answer was complete
        TimedOut            the answer did not come in time
        ErrorStatus         an error status after which a later attempt may succeed
        Malformed           an answer that does not follow the protocol
        TooLarge            an answer above the size limit
        CircuitOpen         nothing was sent because the server has failed too often
        OverLimit           nothing was sent because the request has used up its calls or tokens
"""

from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urljoin, urlsplit

from darc.errors import DarcError, InputError

_MAX_LOCATION_LENGTH = 300


class Rejected(InputError):
    """The server will not do what the request asks, now or later.

    Args:
        message: What happened.
        hint: What the user can do about it.
        status: The HTTP status.
        server_message: The server's own explanation.
        body: The whole body of the answer.
    """

    def __init__(
        self, message: str, hint: str, status: int, server_message: str, body: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.status = status
        self.server_message = server_message
        self.body = body


class Redirected(Rejected):
    """The server sends its callers to another URL, which is not followed.

    Args:
        url: The URL that was called.
        status: The HTTP status.
        location: The header with the other URL; it is repeated without credentials and query.
        body: The whole body of the answer.
    """

    def __init__(self, url: str, status: int, location: str | None, body: str = "") -> None:
        #: The other URL, or "elsewhere" if the server does not name a valid one.
        self.location = _target(url, location)
        server_message = f"it has moved to {self.location}"
        super().__init__(
            f"{url} answered {status}: {server_message}",
            "check the URL",
            status,
            server_message,
            body,
        )


def _target(url: str, location: str | None) -> str:
    """The URL that a redirect names, without what a link may carry along."""
    if not location:
        return "elsewhere"
    with suppress(ValueError):
        parts = urlsplit(urljoin(url, location))
        host = parts.netloc.rpartition("@")[2]
        target = parts._replace(netloc=host, query="", fragment="")
        return target.geturl()[:_MAX_LOCATION_LENGTH]
    return "elsewhere"


class BackendError(DarcError):
    """The server did not answer, or not sensibly, after all attempts; its type says why.

    Args:
        message: What happened.
        hint: What the user can do about it.
        status: The HTTP status, if the server answered with one.
        retry_after: The seconds after which the server says to come back, if it does.
        body: The body of the last answer.
    """

    #: Whether another attempt may succeed.
    retryable = True

    def __init__(
        self,
        message: str,
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        body: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.status = status
        self.retry_after = retry_after
        self.body = body

    def add_attempts(self, urls: Sequence[str]) -> None:
        """Add to the message how often the call was tried, and where if at several URLs.

        Args:
            urls: The URL of each attempt.
        """
        if len(urls) <= 1:
            return
        places = list(dict.fromkeys(urls))
        where = ""
        if len(places) > 1:
            where = f" at {' and '.join(places)}"
        self.message += f" ({len(urls)} attempts{where})"
        self.args = (self.message, self.hint)


class Unreachable(BackendError):
    """There is no connection, or it broke before the answer was complete."""


class TimedOut(BackendError):
    """The answer did not come in time."""


class ErrorStatus(BackendError):
    """The server answered with an error status after which a later attempt may succeed."""


class Malformed(BackendError):
    """The answer does not follow the protocol.

    A function that reads an answer raises it with words that complete "answered with ...".
    """


class TooLarge(BackendError):
    """The answer is larger than allowed.

    Args:
        url: The URL that was called.
        limit: The largest allowed size, in bytes.
    """

    retryable = False

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(f"{url} answered with more than {limit} bytes", "ask it for less")
        self.limit = limit


class CircuitOpen(BackendError):
    """Nothing was sent: the server failed many calls in a row; `retry_after` says when to ask."""

    retryable = False


class OverLimit(BackendError):
    """Nothing was sent: the request has used up the calls or tokens that it may use."""

    retryable = False
