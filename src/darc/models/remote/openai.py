"""Chat models on any server that speaks OpenAI's chat completions."""

from collections.abc import Mapping, Sequence
from typing import Any

from darc.background import BackgroundLoop
from darc.models.completion import Completion, Report, Request, counter
from darc.models.remote.client import AsyncClient, together
from darc.models.remote.endpoints import CHAT, parse_address
from darc.models.remote.problems import Refused
from darc.models.remote.protocol import (
    CALLER,
    DrawnChoice,
    adapted,
    chat_body,
    listed,
    read_choices,
    samples,
    unknown_field,
)

# Stands for the model that the request in scope names, asked with its headers.
NAMED = "*"


class OpenAIModel(BackgroundLoop):
    """The model of a MODEL@URL; what the server turns out not to understand is not sent again.

    `lacks` are such fields: n, logprobs, max_tokens. The `options` (concurrency, time-outs,
    retries) are those of `AsyncClient`, unless there is a `client`.

    `complete` is for callers without an event loop: the model has one in a thread of its own, may
    be used from several threads, and an interrupt cancels the calls under way.
    """

    remote = True

    def __init__(
        self, address: str, *, n: bool = True, client: AsyncClient | None = None, **options: Any
    ) -> None:
        self.name, self.url = parse_address(address)
        self.version = f"{self.name}@{self.url}"
        self.lacks: frozenset[str] = frozenset() if n else frozenset({"n"})
        self.client = client or AsyncClient(self.url, **options)
        super().__init__(self.client.aclose)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.version!r})"

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """One completion a request, in their order; `report(done, total)` counts them."""
        return self.run(self.complete_async(requests, report))

    async def choices(self, body: Mapping[str, Any]) -> list[Completion]:
        """At least one answer to a body, from one call that succeeded.

        Log-probabilities are left out, and the token limit is called by its newer name, where an
        error of the server names them.
        """
        lacks, headers = self.lacks, None
        caller = CALLER.get()
        if self.name == NAMED and caller is not None and caller.url == self.url:
            others = {name: value for name, value in body.items() if name != "model"}
            body = {"model": caller.model, **others} if caller.model else others
            headers = caller.headers
        while True:
            try:
                sent = adapted(body, lacks)
                found = await self.client.ask(CHAT, read_choices, sent, headers)
                break
            except Refused as refused:
                field = unknown_field(refused, lacks)
                if not field:
                    raise
                lacks |= {field}
        self.lacks |= lacks
        return found

    async def models(self) -> list[str]:
        """The names of the models that the server lists."""
        return [str(one["id"]) for one in await self.client.ask("/models", listed)]

    async def complete_async(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """`complete`, awaited: all at once within the bound."""
        tell = counter(report, len(requests))

        async def one(request: Request) -> Completion:
            found = (await self.choices(chat_body(self.name, request)))[0]
            tell(found)
            return found

        return await together([one(request) for request in requests])

    async def sample(
        self,
        requests: Sequence[Request],
        seeds: Sequence[Sequence[int]],
        report: Report | None = None,
    ) -> list[list[DrawnChoice[Completion]]]:
        """As many answers to each request as it has seeds; see `samples`."""
        tell = counter(report, sum(len(own) for own in seeds))

        async def all_of(request: Request, own: Sequence[int]) -> list[DrawnChoice[Completion]]:
            found = await samples(
                self.choices,
                chat_body(self.name, request),
                own,
                same=lambda one: one.text,
                several="n" not in self.lacks,
                arrived=tell,
            )
            if not found.several:
                self.lacks |= {"n"}
            return found.drawn

        pairs = zip(requests, seeds, strict=True)
        return await together([all_of(request, own) for request, own in pairs])

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        await self.client.aclose()
