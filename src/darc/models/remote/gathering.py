"""Awaiting several calls at once."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")


async def gather_or_cancel(calls: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Await all calls at once; the first failure cancels the others and is raised.

    Args:
        calls: What to await.

    Returns:
        Their results, in their order.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
