"""What a service answers where it does not do what it was asked."""

import math
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
    """A 429 that says when to come back."""
    return Problem(429, message, "rate_limit_error", code, headers=come_back(after))


def come_back(after: float | None, least: int = 1) -> dict[str, str]:
    """The header that says when to come back, in whole seconds; none where nobody knows."""
    return {} if after is None else {"Retry-After": str(max(least, math.ceil(after)))}
