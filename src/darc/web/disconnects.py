"""Jobs that end when the client of their request leaves."""

import asyncio
from typing import Any

from starlette.requests import Request

from darc.web.problems import Problem


async def cancel_if_disconnected(
    request: Request, job: "asyncio.Task[Any]", timeout: float | None = None
) -> bool:
    """Wait for a job, and cancel it if the client leaves first or the waiting is cancelled.

    Args:
        request: The request, whose body must have been read.
        job: The job to wait for.
        timeout: How many seconds to wait; None for as long as it takes.

    Returns:
        Whether the job is done.

    Raises:
        Problem: With status 499, which nobody receives, if the client has left.
    """
    disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait((job, disconnect), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if job.done():
            return True
        if disconnect.done():
            await cancel_and_wait(job)
            raise Problem(499, "the client has left", code="client_left")
        return False
    except asyncio.CancelledError:
        await cancel_and_wait(job)
        raise
    finally:
        await cancel_and_wait(disconnect)


async def cancel_and_wait(job: "asyncio.Future[Any]") -> None:
    """Cancel a job and wait until it has released everything that it holds."""
    job.cancel()
    await asyncio.gather(job, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return
