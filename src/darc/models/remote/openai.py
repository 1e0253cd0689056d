"""Chat models on any server that speaks OpenAI's chat completions."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from darc.models.completion import Completion, Report, Request
from darc.models.remote.address import parse_address
from darc.models.remote.client import KEY, AsyncClient, together
from darc.models.remote.endpoints import Breaker, Retry, RetryClock
from darc.models.remote.problems import Refused
from darc.models.remote.protocol import Dialect, Said, chat_body, read_choices, samples
from darc.models.remote.scope import CALLER, Background
from darc.registry import Closing

Result = TypeVar("Result")

CHAT = "/chat/completions"
# Stands for the model that the request in scope names, asked with its headers.
NAMED = "*"


@dataclass(frozen=True)
class Sample:
    """An answer and the seed that makes it again, None where no seed does."""

    seed: int | None
    completion: Completion


class AsyncOpenAI:
    """The model of a MODEL@URL; what the server turns out not to understand is not sent again.

    `dialect` is what is known so far. See `AsyncClient` for concurrency, time-outs and retries.
    """

    def __init__(
        self,
        address: str,
        *,
        key_env: str = KEY,
        concurrency: int = 16,
        timeout: float = 120.0,
        n: bool = True,
        retry: Retry | None = None,
        breaker: Breaker | None = None,
        clock: RetryClock | None = None,
    ) -> None:
        self.address = parse_address(address)
        self.dialect = Dialect(n=n)
        self._clock = clock or RetryClock()
        self._client = AsyncClient(
            self.address.url,
            key_env=key_env,
            concurrency=concurrency,
            timeout=timeout,
            retry=retry,
            breaker=breaker,
            clock=self._clock,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.address)!r})"

    async def choices(self, body: Mapping[str, Any]) -> list[Said]:
        """At least one answer to a body, from one call that succeeded.

        Log-probabilities are left out, and the token limit is called by its newer name, where an
        error of the server names them.
        """
        dialect, headers = self.dialect, None
        caller = CALLER.get()
        if self.address.model == NAMED and caller is not None and caller.url == self.address.url:
            others = {name: value for name, value in body.items() if name != "model"}
            body = {"model": caller.model, **others} if caller.model else others
            headers = caller.headers
        while True:
            begun = self._clock.now()
            try:
                found = await self._client.post(CHAT, dialect.adapted(body), read_choices, headers)
            except Refused as refused:
                milder = dialect.after(refused)
                if milder is None:
                    raise
                dialect = milder
                continue
            self.dialect = self.dialect.narrowed(dialect)
            milliseconds = (self._clock.now() - begun) * 1000
            return [
                replace(one, completion=replace(one.completion, milliseconds=milliseconds))
                for one in found
            ]

    async def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order, all at once within the bound."""
        return [said.completion for said in await self.say(requests, report=report)]

    async def say(
        self, requests: Sequence[Request], top: int = 0, report: Report | None = None
    ) -> list[Said]:
        """Like `complete`, with the `top` likeliest tokens at each place where they are given."""
        tell = counter(report, len(requests))

        async def one(request: Request) -> Said:
            said = (await self.choices(chat_body(self.address.model, request, top)))[0]
            tell(1)
            return said

        return await together([one(request) for request in requests])

    async def sample(
        self,
        requests: Sequence[Request],
        seeds: Sequence[Sequence[int]],
        report: Report | None = None,
    ) -> list[list[Sample]]:
        """As many answers to each request as it has seeds; see `samples`."""
        tell = counter(report, sum(len(own) for own in seeds))

        async def all_of(request: Request, own: Sequence[int]) -> list[Sample]:
            body = chat_body(self.address.model, request)
            found = await samples(
                self.choices,
                body,
                own,
                same=lambda said: said.completion.text,
                several=self.dialect.n,
                arrived=lambda _: tell(1),
            )
            if not found.several:
                self.dialect = replace(self.dialect, n=False)
            return [Sample(drawn.seed, drawn.choice.completion) for drawn in found.drawn]

        pairs = zip(requests, seeds, strict=True)
        return await together([all_of(request, own) for request, own in pairs])

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self._client.aclose()


class OpenAIModel(Closing):
    """`AsyncOpenAI` for callers without an event loop: it has one in a thread of its own.

    May be used from several threads; an interrupt cancels the calls under way.
    """

    def __init__(self, address: str, **options: Any) -> None:
        self.remote = AsyncOpenAI(address, **options)
        self._background = Background(self.remote.aclose)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.remote.address)!r})"

    @property
    def name(self) -> str:
        """The model's name on its server."""
        return self.remote.address.model

    @property
    def version(self) -> str:
        """The model and where it is served."""
        return str(self.remote.address)

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""
        return self.run(self.remote.complete(requests, report))

    def say(self, requests: Sequence[Request], top: int = 0) -> list[Said]:
        """Like `complete`, with the `top` likeliest tokens at each place where they are given."""
        return self.run(self.remote.say(requests, top))

    def sample(
        self,
        requests: Sequence[Request],
        seeds: Sequence[Sequence[int]],
        report: Report | None = None,
    ) -> list[list[Sample]]:
        """As many answers to each request as it has seeds; see `AsyncOpenAI.sample`."""
        return self.run(self.remote.sample(requests, seeds, report))

    def close(self) -> None:
        """Close the connections and end the thread; the next call begins again."""
        self._background.close()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What a coroutine returns, run in the model's own loop."""
        return self._background.run(work)


def counter(report: Report | None, total: int) -> Callable[[int], None]:
    """A function that adds to what is done and reports it."""
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if report is not None and more:
            report(done, total)

    return tell
