"""Responses for requests that fail."""

import asyncio
import json
import logging
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from darc.web.middleware.base import HttpMiddleware
from darc.web.problems import Problem

logger = logging.getLogger("darc.web")

#: Makes the response for a problem, such as a page.
ErrorRenderer = Callable[[Problem], ASGIApp]


def json_error(problem: Problem) -> Response:
    """Return the response for a problem as JSON, in the shape that OpenAI's clients read."""
    content = json.dumps(problem.body(), ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, problem.status, dict(problem.headers), "application/json")


_SHUTTING_DOWN = Problem(503, "the server is shutting down", "server_error", code="shutting_down")


class ErrorMiddleware(HttpMiddleware):
    """Answers with an error if a request raises one.

    A `Problem` is answered as it says. Any other error is logged and answered with status 500, and
    a request that the end of the server interrupts with 503. If the response has begun already, it
    is cut off.
    """

    def __init__(self, app: ASGIApp, render: ErrorRenderer = json_error) -> None:
        """Wrap an application.

        Args:
            app: The application.
            render: Makes the response for a problem.
        """
        super().__init__(app)
        self._render = render

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        response_started = False

        async def send_and_note_start(message: Message) -> None:
            nonlocal response_started
            response_started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note_start)
        except Exception as error:
            problem = _problem_for(error, scope["state"]["request_id"])
            if response_started:
                raise
            await self._render(problem)(scope, receive, send)
        except asyncio.CancelledError:
            # The server has ended, and this is the whole task: nobody waits for the cancellation.
            if not response_started:
                await self._render(_SHUTTING_DOWN)(scope, receive, send)


def _problem_for(error: Exception, request_id: str) -> Problem:
    if isinstance(error, Problem):
        return error
    logger.error("a request failed", exc_info=error, extra={"fields": {"request_id": request_id}})
    return Problem(500, "the server failed", "server_error")
