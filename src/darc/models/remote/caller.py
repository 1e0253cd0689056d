"""The client request on whose behalf a server is called."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

#: As a model's name: the model that the client request in scope names, called with its headers.
REQUESTED_MODEL = "*"


@dataclass(frozen=True)
class Caller:
    """The model and headers of a client request, meant for one server and no other."""

    #: The server.
    url: str
    #: The model that the request names; empty if it names none.
    model: str
    #: Headers that are passed on.
    headers: Mapping[str, str] = field(default_factory=dict)


#: The client request in scope, if there is one.
CURRENT_CALLER: ContextVar[Caller | None] = ContextVar("darc_caller", default=None)
