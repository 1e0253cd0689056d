"""K choices from a server, by one call or by K."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from darc.models.remote.errors import BackendError, Rejected
from darc.models.remote.gathering import gather_or_cancel

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class SampledChoice(Generic[Choice]):
    """One of K choices."""

    #: Its place among the K.
    index: int
    #: The seed that makes it again; None if none does.
    seed: int | None
    choice: Choice


@dataclass
class ServerSamples(Generic[Choice]):
    """The choices that have come, and why others have not."""

    #: In the order of their indices.
    choices: list[SampledChoice[Choice]] = field(default_factory=list)
    #: Why choices are missing.
    failures: list[BackendError] = field(default_factory=list)
    #: Whether the deadline ended the wait.
    deadline_passed: bool = False
    #: Whether later requests may ask for several choices in one call.
    supports_n: bool = True


@dataclass(frozen=True)
class ChoiceRequest(Generic[Choice]):
    """A request for as many choices as there are seeds.

    With `use_n`, one call asks for all choices, with the first seed: that seed belongs to the first
    choice, and the others have none. If the server rejects that call, returns fewer choices, or
    (at a temperature above 0) copies of one, single calls with seeds of their own make the rest.
    """

    #: Sends a body and returns at least one choice.
    ask: Callable[[dict[str, Any]], Awaitable[Sequence[Choice]]]
    #: The body of a request for one choice.
    body: Mapping[str, Any]
    #: One seed per choice.
    seeds: Sequence[int]
    #: What two choices have in common if they are copies.
    identity: Callable[[Choice], Hashable]
    #: Whether to try one call for all choices.
    use_n: bool = True
    #: Whether one failed call fails the request; otherwise the other choices are returned.
    strict: bool = True
    #: The time of the loop at which the choices that have come are returned.
    deadline: float | None = None
    #: Called with each choice as it comes.
    on_choice: Callable[[SampledChoice[Choice]], object] | None = None


async def sample_choices(request: ChoiceRequest[Choice]) -> ServerSamples[Choice]:
    """Collect several choices from a server.

    Whatever ends the wait cancels the calls that are still under way.

    Args:
        request: What to ask, and how.

    Returns:
        The choices that have come.

    Raises:
        Rejected: The server will not answer such requests.
        BackendError: A call failed and the request is strict.
    """
    return await _Sampling(request).run()


class _Sampling(Generic[Choice]):
    """The collection of choices while it is under way."""

    def __init__(self, request: ChoiceRequest[Choice]) -> None:
        self._request = request
        self._samples: ServerSamples[Choice] = ServerSamples(supports_n=request.use_n)

    async def run(self) -> ServerSamples[Choice]:
        request = self._request
        samples = self._samples
        asked_for_several = request.use_n and len(request.seeds) > 1
        from_one_call = 0
        try:
            async with asyncio.timeout_at(request.deadline):
                if asked_for_several:
                    await self._ask_for_all()
                from_one_call = len(samples.choices)
                missing = range(from_one_call, len(request.seeds))
                await gather_or_cancel(self._ask_for_one(index) for index in missing)
        except TimeoutError:
            samples.deadline_passed = True
        if asked_for_several and from_one_call < len(request.seeds):
            samples.supports_n = not self._single_calls_did_better(from_one_call)
        samples.choices.sort(key=lambda sample: sample.index)
        return samples

    async def _ask_for_all(self) -> None:
        """Ask for all choices in one call, and take those that are not copies."""
        request = self._request
        body = {**request.body, "n": len(request.seeds), "seed": request.seeds[0]}
        try:
            choices = await request.ask(body)
        except Rejected as problem:
            if problem.status in (400, 422):
                return
            raise
        distinct = {request.identity(choice) for choice in choices}
        if request.body.get("temperature") != 0 and len(distinct) == 1:
            choices = choices[:1]
        for index, choice in enumerate(choices[: len(request.seeds)]):
            seed = request.seeds[0] if index == 0 else None
            self._add(SampledChoice(index, seed, choice))

    async def _ask_for_one(self, index: int) -> None:
        """Ask for one choice with a seed of its own."""
        request = self._request
        seed = request.seeds[index]
        try:
            choices = await request.ask({**request.body, "seed": seed})
        except BackendError as problem:
            if request.strict:
                raise
            self._samples.failures.append(problem)
        else:
            self._add(SampledChoice(index, seed, choices[0]))

    def _add(self, sample: SampledChoice[Choice]) -> None:
        self._samples.choices.append(sample)
        if self._request.on_choice is not None:
            self._request.on_choice(sample)

    def _single_calls_did_better(self, from_one_call: int) -> bool:
        """Whether single calls gave what the one call did not: any choices, or different ones."""
        choices = self._samples.choices
        if not choices:
            return False
        distinct = {self._request.identity(sample.choice) for sample in choices}
        return from_one_call == 0 or len(distinct) > 1
