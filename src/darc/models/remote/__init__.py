"""Models behind HTTP: one client for everything that talks to a server."""

from darc.models.remote.client import AsyncClient, together
from darc.models.remote.endpoints import Address, Breaker, Retry, RetryClock, parse_address
from darc.models.remote.http import METER, Meter
from darc.models.remote.openai import AsyncOpenAI, Background, OpenAIModel
from darc.models.remote.problems import (
    ErrorStatus,
    Failed,
    LeftAlone,
    Malformed,
    Moved,
    OverLimit,
    Refused,
    TimedOut,
    TooLarge,
    Unreachable,
)
from darc.models.remote.protocol import HOST, Host, Said

__all__ = [
    "HOST",
    "METER",
    "Address",
    "AsyncClient",
    "AsyncOpenAI",
    "Background",
    "Breaker",
    "ErrorStatus",
    "Failed",
    "Host",
    "LeftAlone",
    "Malformed",
    "Meter",
    "Moved",
    "OpenAIModel",
    "OverLimit",
    "Refused",
    "Retry",
    "RetryClock",
    "Said",
    "TimedOut",
    "TooLarge",
    "Unreachable",
    "parse_address",
    "together",
]
