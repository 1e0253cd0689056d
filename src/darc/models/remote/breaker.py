"""A circuit breaker: no calls to a server that has failed again and again."""


class Breaker:
    """A state machine without input or output.

    It is closed until `threshold` calls in a row have failed, then open for `cooldown` seconds,
    and then lets one call through: its outcome closes the breaker or opens it again.
    """

    def __init__(self, threshold: int = 5, cooldown: float = 30.0) -> None:
        self.threshold = threshold
        self.cooldown = cooldown
        self._failures = 0
        self._until: float | None = None
        self._probing = False

    def waiting(self, now: float) -> float | None:
        """The seconds until a call may begin, None where one may begin now."""
        if self._until is None:
            return None
        if now < self._until:
            return self._until - now
        return 0.0 if self._probing else None

    def begin(self) -> bool:
        """Count a call that begins; whether it is the one that tries the server out."""
        self._probing = self._until is not None
        return self._probing

    def succeeded(self) -> None:
        """The server answered."""
        self._failures, self._until, self._probing = 0, None, False

    def failed(self, now: float) -> None:
        """The server did not answer, after all attempts."""
        self._failures += 1
        if self._probing or self._failures >= self.threshold:
            self._until = now + self.cooldown
        self._probing = False

    def left(self) -> None:
        """The call ended without saying anything about the server."""
        self._probing = False
