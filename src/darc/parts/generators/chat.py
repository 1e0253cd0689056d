"""The generators of chat models: in this process, on torch and transformers, on a server."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import wraps
from typing import Any

from darc.errors import InputError
from darc.models.chat_models import ChatUser
from darc.models.completion import ChatModel, Report, Request
from darc.models.embedded import open_installed
from darc.models.remote.address import KEY_ENV
from darc.models.remote.caller import REQUESTED_MODEL
from darc.models.remote.openai import OpenAIModel
from darc.models.transformers import TransformersModel
from darc.parts.generators.base import SamplingParameters, candidate_seeds, make_candidate
from darc.registry import generator
from darc.types import Candidate, Prompt

_MAX_LISTED_MODELS = 5
_PARALLEL_ON_SERVER = 64


class ChatGenerator(ChatUser):
    """Answers by a chat model; candidate i depends on the prompt, the parameters and i alone.

    The candidates of all prompts are requested together, `parallel` of them at a time. A server is
    asked for a prompt's candidates by one call with `n`. If it refuses that, or returns fewer, the
    missing ones come from single calls, each with its candidate's own seed. `Candidate.seed` is the
    seed that gives the candidate again by a single call; of those from one call only the first has
    one.
    """

    continues = True

    def __init__(
        self, model: ChatModel, name: str = "", version: str = "", parallel: int = 1
    ) -> None:
        """Wrap a model.

        Args:
            model: The model that answers.
            name: What the generator is called; empty for the model's name.
            version: What the answers depend on; empty for the model's version.
            parallel: How many answers the model writes at the same time.
        """
        super().__init__(model)
        self.name = name or model.name
        self.parallel = parallel
        self._version = version

    @property
    def version(self) -> str:
        """What the answers depend on: the hash of the weights, or the model and its server."""
        return self._version or str(getattr(self.model, "version", ""))

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """Answer prompts with K candidates each; see `Generator.generate`."""
        if isinstance(self.model, OpenAIModel):
            return self.model.run(self.generate_async(prompts, settings, report))
        seeds_of_prompts = [candidate_seeds(settings, prompt.id) for prompt in prompts]
        requests = [
            replace(request, seed=seed)
            for request, seeds in zip(_requests(prompts, settings), seeds_of_prompts, strict=True)
            for seed in seeds
        ]
        completions = iter(self.model.complete(requests, report))
        return [
            [
                make_candidate(prompt.id, index, seed, next(completions))
                for index, seed in enumerate(seeds)
            ]
            for prompt, seeds in zip(prompts, seeds_of_prompts, strict=True)
        ]

    async def generate_async(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """Answer prompts as `generate` does."""
        if not isinstance(self.model, OpenAIModel):
            return await asyncio.to_thread(self.generate, prompts, settings, report)
        seeds_of_prompts = [candidate_seeds(settings, prompt.id) for prompt in prompts]
        requests = _requests(prompts, settings)
        choices_of_prompts = await self.model.sample(requests, seeds_of_prompts, report)
        return [
            [
                make_candidate(prompt.id, sampled.index, sampled.seed, sampled.choice)
                for sampled in choices
            ]
            for prompt, choices in zip(prompts, choices_of_prompts, strict=True)
        ]


def _requests(prompts: Sequence[Prompt], settings: SamplingParameters) -> list[Request]:
    """One request per prompt, without a seed."""
    return [
        Request(
            messages=prompt.messages,
            max_tokens=settings.tokens(),
            temperature=settings.temperature,
            top_p=settings.top_p,
            top=settings.top,
        )
        for prompt in prompts
    ]


@generator("embedded", "[MODEL]")
def embedded(model: str = "") -> ChatGenerator:
    """Answers by an installed model; the candidates of all prompts share its slots."""
    opened = open_installed(model)
    return ChatGenerator(opened, parallel=opened.slots)


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
    return ChatGenerator(model, f"openai:{model.name}", parallel=_PARALLEL_ON_SERVER)


@generator("http", "//HOST/v1")
def http(rest: str, *, key_env: str = KEY_ENV) -> ChatGenerator:
    """Answers by the only model of a compatible server, written as the server's URL alone."""
    return _only_model(f"http:{rest}", key_env)


@generator("https", "//HOST/v1")
def https(rest: str, *, key_env: str = KEY_ENV) -> ChatGenerator:
    """Answers by the only model of a compatible server over https."""
    return _only_model(f"https:{rest}", key_env)


def _only_model(url: str, key_env: str) -> ChatGenerator:
    """The generator of a server's only model."""
    server = OpenAIModel(f"{REQUESTED_MODEL}@{url}", key_env=key_env)
    try:
        names = server.run(server.models())
    finally:
        server.close()
    if len(names) != 1:
        raise InputError(
            f"{url} lists {_list_models(names)}", f"name the model: openai:MODEL@{url}"
        )
    return openai(f"{names[0]}@{url}", key_env=key_env)


def _list_models(names: Sequence[str]) -> str:
    if not names:
        return "no model"
    text = ", ".join(names[:_MAX_LISTED_MODELS])
    if len(names) > _MAX_LISTED_MODELS:
        text += ", ..."
    return text
