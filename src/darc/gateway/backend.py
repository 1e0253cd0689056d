"""Where answers come from."""

from collections.abc import Mapping
from typing import Any, Protocol

from starlette.responses import Response


class Backend(Protocol):
    """Something that answers chat completions.

    `several` says whether it may be asked for several choices in one call; it is set to False once
    it has turned out not to be able to. `passes` says whether requests can be sent through it as
    they came.
    """

    name: str
    several: bool
    passes: bool

    async def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """The answer to a chat completion; raises a `DarcError`, and tells the meter in scope."""
        ...

    async def models(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The models that it has, as OpenAI lists them."""
        ...

    async def forward(
        self,
        method: str,
        path: str,
        query: str,
        headers: Mapping[str, str],
        content: bytes,
        again: bool,
    ) -> Response:
        """What it says to a request, passed on as it comes; `again` allows retries."""
        ...

    def ready(self) -> bool:
        """Whether it can be asked now."""
        ...

    async def aclose(self) -> None:
        """Let go of connections or memory."""
        ...
