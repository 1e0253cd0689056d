"""An id for every request."""

import re
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from darc.web.middleware.base import HttpMiddleware

HEADER = "x-request-id"
_VALID_ID = re.compile(r"[\w.:-]{1,80}")


class RequestIdMiddleware(HttpMiddleware):
    """Gives every request an id, the client's own if it sends a valid one.

    The id is in `request.state.request_id` and in the header X-Request-Id of the response.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request with its id."""
        request_id = Headers(scope=scope).get(HEADER, "")
        if not _VALID_ID.fullmatch(request_id):
            request_id = uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message.setdefault("headers", [])
                MutableHeaders(scope=message).setdefault(HEADER, request_id)
            await send(message)

        await self.app(scope, receive, send_with_id)
