"""Candidates from any chat model: in this process, on torch and transformers, on a server."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from darc.errors import InputError
from darc.models.chat_models import ChatUser
from darc.models.completion import ChatModel, Report, Request
from darc.models.embedded import EmbeddedModel
from darc.models.installed import require
from darc.models.remote.address import KEY_ENV
from darc.models.remote.caller import REQUESTED_MODEL
from darc.models.remote.openai import OpenAIModel
from darc.models.transformers import TransformersModel
from darc.parts.generators.base import SamplingParameters, candidate, candidate_seeds
from darc.registry import generator
from darc.types import Candidate, Prompt

LISTED = 5


class ChatGenerator(ChatUser):
    """Answers by a chat model; candidate i depends on the prompt, the settings and i alone.

    All prompts' candidates are asked for together, `parallel` of them at a time. A server is asked
    for a prompt's candidates by one call with `n`; where it refuses that, or gives fewer, what is
    missing comes from single calls, each with its candidate's own seed. `Candidate.seed` is the
    seed that makes the candidate again by a single call: of those from one call only the first has
    one.
    """

    continues = True

    def __init__(
        self, model: ChatModel, name: str = "", version: str = "", parallel: int = 1
    ) -> None:
        super().__init__(model)
        self.name, self.parallel = name or model.name, parallel
        self._version = version

    @property
    def version(self) -> str:
        """What the answers depend on: the hash of the weights, or the model and its server."""
        return self._version or str(getattr(self.model, "version", ""))

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """K candidates a prompt, in the order of the prompts; `report` counts the answers."""
        if isinstance(self.model, OpenAIModel):
            return self.model.run(self.generate_async(prompts, settings, report))
        seeds = [candidate_seeds(settings, prompt.id) for prompt in prompts]
        requests = [
            replace(request, seed=seed)
            for request, own in zip(_requests(prompts, settings), seeds, strict=True)
            for seed in own
        ]
        completions = iter(self.model.complete(requests, report))
        return [
            [candidate(prompt.id, i, seed, next(completions)) for i, seed in enumerate(own)]
            for prompt, own in zip(prompts, seeds, strict=True)
        ]

    async def generate_async(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """`generate`, awaited."""
        if not isinstance(self.model, OpenAIModel):
            return await asyncio.to_thread(self.generate, prompts, settings, report)
        seeds = [candidate_seeds(settings, prompt.id) for prompt in prompts]
        drawn = await self.model.sample(_requests(prompts, settings), seeds, report)
        return [
            [candidate(prompt.id, one.index, one.seed, one.choice) for one in own]
            for prompt, own in zip(prompts, drawn, strict=True)
        ]


def _requests(prompts: Sequence[Prompt], settings: SamplingParameters) -> list[Request]:
    sampling = settings.tokens(), settings.temperature, settings.top_p
    return [Request(prompt.messages, *sampling) for prompt in prompts]


@generator("embedded")
def embedded() -> ChatGenerator:
    """Answers by the installed model; all prompts' candidates share its slots."""
    found = require()
    return ChatGenerator(EmbeddedModel(found.path), version=found.sha256, parallel=16)


@generator("transformers", "MODEL")
@wraps(TransformersModel, assigned=(), updated=())
def transformers(model: str, **options: Any) -> ChatGenerator:
    """A hub model, a folder, a GGUF file or an adapter, on torch and transformers."""
    return ChatGenerator(TransformersModel(model, **options))


@generator("openai", "MODEL@URL")
def openai(
    address: str,
    *,
    n: bool = True,
    key_env: str = KEY_ENV,
    timeout: float = 120.0,
    concurrency: int = 16,
) -> ChatGenerator:
    """Answers by any compatible server; uses `n`, falls back to parallel calls."""
    model = OpenAIModel(address, n=n, key_env=key_env, timeout=timeout, concurrency=concurrency)
    return ChatGenerator(model, f"openai:{model.name}", parallel=64)


@generator("http", "//HOST/v1")
def http(rest: str, *, key_env: str = KEY_ENV) -> ChatGenerator:
    """Answers by the only model of a compatible server, written as the server's URL alone."""
    return _only_model(f"http:{rest}", key_env)


@generator("https", "//HOST/v1")
def https(rest: str, *, key_env: str = KEY_ENV) -> ChatGenerator:
    """The same over https."""
    return _only_model(f"https:{rest}", key_env)


def _only_model(url: str, key_env: str) -> ChatGenerator:
    listing = OpenAIModel(f"{REQUESTED_MODEL}@{url}", key_env=key_env)
    try:
        names = listing.run(listing.models())
    finally:
        listing.close()
    if len(names) != 1:
        told = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
        raise InputError(f"{url} lists {told or 'no model'}", f"name the model: openai:MODEL@{url}")
    return openai(f"{names[0]}@{url}", key_env=key_env)
