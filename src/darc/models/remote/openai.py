"""Chat models on any server that speaks OpenAI's chat completions."""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from darc.background import BackgroundLoop
from darc.closing import Closing
from darc.models.completion import Completion, Report, Request, make_counter
from darc.models.remote.address import CHAT_PATH, MODELS_PATH, parse_address
from darc.models.remote.caller import CURRENT_CALLER, REQUESTED_MODEL, Caller
from darc.models.remote.client import AsyncClient
from darc.models.remote.errors import Rejected
from darc.models.remote.gathering import gather_or_cancel
from darc.models.remote.protocol import (
    RESPONSE_FORMAT,
    adapt_body,
    chat_body,
    read_choices,
    read_models,
    unsupported_field,
)
from darc.models.remote.sampling import ChoiceRequest, SampledChoice, sample_choices

Result = TypeVar("Result")


class OpenAIModel(Closing):
    """A chat model on a server.

    `complete` and `run` are for callers without an event loop: the model has one in a thread of
    its own, may be used from several threads, and an interrupt cancels the calls under way.

    Args:
        address: MODEL@URL.
        n: Whether the server can give several choices in one call.
        client: The client to use.
        options: The options of an `AsyncClient` (concurrency, timeout, retry, ...) if no client is
            given.

    Raises:
        InputError: The address does not name a model on a server.
    """

    remote = True

    def __init__(
        self, address: str, *, n: bool = True, client: AsyncClient | None = None, **options: Any
    ) -> None:
        self.name, self.url = parse_address(address)
        self.version = f"{self.name}@{self.url}"
        #: The fields that the server turned out not to support: n, logprobs, max_tokens,
        #: response_format.
        self.unsupported: frozenset[str] = frozenset()
        #: Whether the server is known to take the JSON schema of an answer, or to refuse it.
        self.knows_schema_support = False
        if not n:
            self.unsupported = frozenset({"n"})
        self.client = client or AsyncClient(self.url, **options)
        self._background = BackgroundLoop(self.client.aclose)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.version!r})"

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Wait for a coroutine that uses the model, and return its result."""
        return self._background.run(coroutine)

    def close(self) -> None:
        """Cancel what runs and close the connections; the next call opens new ones."""
        self._background.close()

    async def aclose(self) -> None:
        """Close the connections, in the loop that used them; the next call opens new ones."""
        await self.client.aclose()

    def complete(
        self, requests: Sequence[Request], report: Report | None = None
    ) -> list[Completion]:
        """Complete conversations.

        Args:
            requests: The conversations.
            report: Called with how many are done, and how many there are.

        Returns:
            One completion per request, in their order.
        """
        return self.run(self.complete_async(requests, report))

    async def complete_async(
        self, requests: Sequence[Request], report: Report | None = None, *, retry: bool = True
    ) -> list[Completion]:
        """`complete`, awaited; the calls are made at once, within the client's concurrency.

        Without `retry` a call that fails is not tried again.
        """
        count = make_counter(report, len(requests))

        async def complete_one(request: Request) -> Completion:
            choices = await self.choices(chat_body(self.name, request), retry=retry)
            count(choices[0])
            return choices[0]

        return await gather_or_cancel([complete_one(request) for request in requests])

    async def sample(
        self,
        requests: Sequence[Request],
        seeds: Sequence[Sequence[int]],
        report: Report | None = None,
    ) -> list[list[SampledChoice[Completion]]]:
        """Complete conversations several times.

        Args:
            requests: The conversations.
            seeds: For each request, one seed per completion.
            report: Called with how many completions are done, and how many there are.

        Returns:
            For each request, as many completions as it has seeds.
        """
        count = make_counter(report, sum(map(len, seeds)))

        async def sample_one(
            request: Request, request_seeds: Sequence[int]
        ) -> list[SampledChoice[Completion]]:
            samples = await sample_choices(
                ChoiceRequest(
                    ask=self.choices,
                    body=chat_body(self.name, request),
                    seeds=request_seeds,
                    identity=lambda completion: completion.text,
                    use_n="n" not in self.unsupported,
                    on_choice=count,
                )
            )
            if not samples.supports_n:
                self.unsupported |= {"n"}
            return samples.choices

        pairs = zip(requests, seeds, strict=True)
        return await gather_or_cancel([sample_one(*pair) for pair in pairs])

    async def choices(self, body: Mapping[str, Any], *, retry: bool = True) -> list[Completion]:
        """Send a body, without the fields that the server does not support.

        Args:
            body: The body of a chat completion.
            retry: Whether a call that fails is tried again.

        Returns:
            At least one completion.

        Raises:
            Rejected: The server will not answer it.
            BackendError: The last attempt failed.
        """
        headers = None
        caller = CURRENT_CALLER.get()
        if self.name == REQUESTED_MODEL and caller is not None and caller.url == self.url:
            body = _with_model_of(caller, body)
            headers = caller.headers
        unsupported = self.unsupported
        while True:
            try:
                completions = await self.client.ask(
                    CHAT_PATH, read_choices, adapt_body(body, unsupported), headers, retry=retry
                )
            except Rejected as problem:
                field = unsupported_field(problem, unsupported)
                if not field and self._may_refuse_schema(problem, body, unsupported):
                    field = RESPONSE_FORMAT
                if not field:
                    raise
                unsupported |= {field}
            else:
                self.unsupported |= unsupported
                self.knows_schema_support |= RESPONSE_FORMAT in body
                return completions

    def _may_refuse_schema(
        self, problem: Rejected, body: Mapping[str, Any], unsupported: frozenset[str]
    ) -> bool:
        """Whether a server refused a request perhaps because of the first schema that it got."""
        is_first_schema = RESPONSE_FORMAT in body and not self.knows_schema_support
        return (
            is_first_schema
            and RESPONSE_FORMAT not in unsupported
            and problem.status in (400, 422, 501)
        )

    async def models(self) -> list[str]:
        """The names of the models that the server lists."""
        models = await self.client.ask(MODELS_PATH, read_models)
        return [str(model["id"]) for model in models]


def _with_model_of(caller: Caller, body: Mapping[str, Any]) -> dict[str, Any]:
    """A body that names the caller's model, or none if the caller names none."""
    changed = {name: value for name, value in body.items() if name != "model"}
    if caller.model:
        return {"model": caller.model, **changed}
    return changed
