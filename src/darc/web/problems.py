"""What a service answers where it does not do what it was asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Problem(Exception):
    """An error for the client: a status, words, and a code that programs can go by.

    `kind` is the class of the error and `param` the field that is wrong, where there is one.
    """

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The error in the shape that OpenAI's clients read."""
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }


def busy(message: str, code: str, after: float) -> Problem:
    """A 429 that says when to come back, in whole seconds."""
    wait = max(1, int(after + 0.999))
    return Problem(429, message, "rate_limit_error", code, headers={"Retry-After": str(wait)})
