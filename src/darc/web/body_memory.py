"""A limit on the memory that the bodies of all requests take at the same time."""

from darc.web.problems import too_many_requests

# Bodies up to this size are always read: there are no more of them than connections.
_SMALL_BODY = 50_000
_RETRY_SECONDS = 1.0


class BodyMemory:
    """Counts the bytes that the bodies of requests take.

    Attributes:
        used: How many bytes are taken now.
    """

    def __init__(self, limit: int) -> None:
        """Make a count.

        Args:
            limit: The most bytes that all bodies together may take.
        """
        self.used = 0
        self._limit = limit

    def share(self) -> "BodyShare":
        """Return the share of one request, which takes nothing yet."""
        return BodyShare(self)

    def take(self, size: int, share_size: int) -> None:
        """Take memory for a share of a size.

        Raises:
            Problem: With status 429 if there is not enough left; a small share always gets it.
        """
        if share_size > _SMALL_BODY and self.used + size > self._limit:
            message = "the server holds as many large requests as it can (max_body_memory)"
            raise too_many_requests(message, "body_memory", _RETRY_SECONDS)
        self.used += size


class BodyShare:
    """What the body of one request takes of a `BodyMemory`."""

    def __init__(self, memory: BodyMemory) -> None:
        """Make an empty share."""
        self._memory = memory
        self._size = 0

    def grow(self, size: int) -> None:
        """Take more memory.

        Args:
            size: How many bytes more.

        Raises:
            Problem: With status 429 if there is not enough left.
        """
        self._memory.take(size, self._size + size)
        self._size += size

    async def release(self) -> None:
        """Give everything back."""
        self._memory.used -= self._size
        self._size = 0
