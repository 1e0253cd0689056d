"""K answers to one request, from one call for all or from K calls."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from darc.models.remote.problems import Failed, Refused

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class DrawnChoice(Generic[Choice]):
    """The choice of a place among K, and the seed that makes it again, None where none does."""

    index: int
    seed: int | None
    choice: Choice


@dataclass
class ServerSamples(Generic[Choice]):
    """What has come, in the order of the places, and what has not.

    `late` says that the deadline ended the wait, and `several` whether a later request may ask for
    several choices in one call.
    """

    drawn: list[DrawnChoice[Choice]] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    late: bool = False
    several: bool = True


async def samples(
    ask: Callable[[dict[str, Any]], Awaitable[Sequence[Choice]]],
    body: Mapping[str, Any],
    seeds: Sequence[int],
    *,
    same: Callable[[Choice], Hashable],
    several: bool = True,
    strict: bool = True,
    deadline: float | None = None,
    arrived: Callable[[DrawnChoice[Choice]], None] | None = None,
) -> ServerSamples[Choice]:
    """As many choices as there are seeds, in one call where the server can, else in as many.

    `ask` gives at least one choice for a body. With `several`, one call asks for all, with the
    first seed: that seed belongs to its first choice, and the others have none. Where the server
    refuses that, gives fewer, or at a temperature over 0 the `same` one again and again, single
    calls with seeds of their own make what is missing.

    Where a call fails the others' choices are taken, unless `strict` or the failure is one that
    they will share: then it is raised. At the `deadline`, a time of the loop, what has come is
    taken. Whatever ends the wait cancels the calls that are still under way. `arrived` hears of
    choices as they come.
    """
    found: ServerSamples[Choice] = ServerSamples(several=several)

    def take(index: int, seed: int | None, choice: Choice) -> None:
        drawn = DrawnChoice(index, seed, choice)
        found.drawn.append(drawn)
        if arrived is not None:
            arrived(drawn)

    several = several and len(seeds) > 1
    if several:
        try:
            async with asyncio.timeout_at(deadline):
                choices = await _at_once(ask, body, seeds, same)
        except TimeoutError:
            found.late = True
            return found
        for index, choice in enumerate(choices):
            take(index, None if index else seeds[0], choice)
    there = len(found.drawn)
    calls: dict[asyncio.Future[Sequence[Choice]], int] = {
        asyncio.ensure_future(ask({**body, "seed": seeds[index]})): index
        for index in range(there, len(seeds))
    }
    await _collect(
        calls, lambda index, choice: take(index, seeds[index], choice), found, strict, deadline
    )
    different = len({same(drawn.choice) for drawn in found.drawn}) > 1
    if several and there < len(seeds) and (different or not there) and found.drawn:
        found.several = False
    found.drawn.sort(key=lambda drawn: drawn.index)
    return found


async def _at_once(
    ask: Callable[[dict[str, Any]], Awaitable[Sequence[Choice]]],
    body: Mapping[str, Any],
    seeds: Sequence[int],
    same: Callable[[Choice], Hashable],
) -> Sequence[Choice]:
    """The choices of one call for all; none where the server refuses to give several."""
    try:
        choices = await ask({**body, "n": len(seeds), "seed": seeds[0]})
    except Refused as refused:
        if refused.status not in (400, 422):
            raise
        return []
    copies = body.get("temperature") != 0 and len({same(choice) for choice in choices}) == 1
    return choices[:1] if copies else choices[: len(seeds)]


async def _collect(
    calls: Mapping["asyncio.Future[Sequence[Choice]]", int],
    take: Callable[[int, Choice], None],
    found: ServerSamples[Choice],
    strict: bool,
    deadline: float | None,
) -> None:
    """Take choices as they come, until all are there, the deadline, or a failure that ends it."""
    loop, left = asyncio.get_running_loop(), set(calls)
    try:
        while left:
            wait = None if deadline is None else max(0.0, deadline - loop.time())
            done, left = await asyncio.wait(left, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                found.late = True
                break
            for call in done:
                problem = call.exception()
                if problem is None:
                    take(calls[call], call.result()[0])
                elif strict or not isinstance(problem, Failed):
                    raise problem
                else:
                    found.failures.append(problem)
    finally:
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
