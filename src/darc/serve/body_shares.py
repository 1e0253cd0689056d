"""Counts the body of a request as held until the request is answered."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from darc.serve.closing_response import ClosingResponse
from darc.web.body_memory import BodyMemory

Endpoint = Callable[[Request], Awaitable[Response]]


def hold_body(memory: BodyMemory, endpoint: Endpoint) -> Endpoint:
    """Wrap an endpoint so that `request.state.body_share` counts its body.

    Args:
        memory: What all bodies together may take.
        endpoint: The endpoint.

    Returns:
        An endpoint whose share is released when its response has been made, or sent as a stream.
    """

    async def serve(request: Request) -> Response:
        share = memory.share()
        request.state.body_share = share
        try:
            response = await endpoint(request)
        except BaseException:
            await share.release()
            raise
        if isinstance(response, ClosingResponse):
            response.closers.append(share.release)
        else:
            await share.release()
        return response

    return serve
