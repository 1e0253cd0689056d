"""Errors that a service answers with."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Problem(Exception):
    """An error for the client, raised anywhere while a request is handled."""

    #: The HTTP status.
    status: int
    #: What is wrong, in a sentence for people.
    message: str
    #: The class of the error, one of OpenAI's error types.
    kind: str = "invalid_request_error"
    #: What is wrong, in a word for programs.
    code: str | None = None
    #: The path of the field that is wrong, if it is one field.
    param: str | None = None
    #: Further headers of the response.
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return the error in the shape that OpenAI's clients read."""
        return {
            "error": {
                "message": self.message,
                "type": self.kind,
                "param": self.param,
                "code": self.code,
            }
        }


def too_many_requests(message: str, code: str, seconds: float) -> Problem:
    """Make an error with status 429 that says in how many seconds to try again."""
    return Problem(429, message, "rate_limit_error", code, headers=retry_after(seconds))


def retry_after(seconds: float | None, minimum: int = 1) -> dict[str, str]:
    """Return the header that says when to try again, none if that is not known.

    Args:
        seconds: The time to wait, rounded up to whole seconds.
        minimum: The smallest number of seconds to say.
    """
    if seconds is None:
        return {}
    whole_seconds = max(minimum, math.ceil(seconds))
    return {"Retry-After": str(whole_seconds)}
