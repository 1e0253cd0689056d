"""Candidates from a server."""

from collections.abc import Sequence
from dataclasses import replace

from darc.generators.base import Settings, candidate, candidate_seeds
from darc.models.completion import Report, Request
from darc.models.remote.client import KEY
from darc.models.remote.openai import OpenAIModel
from darc.registry import generator
from darc.types import Candidate, Prompt


@generator("openai", "MODEL@URL")
class OpenAIGenerator:
    """Answers by any compatible server; uses `n`, falls back to parallel calls.

    One call a prompt asks for its K candidates, all prompts at once within `concurrency`. Where
    the server refuses `n`, or gives fewer, what is missing comes from single calls, each with its
    candidate's own seed; with `n` false all do. `Candidate.seed` is the seed that makes the
    candidate again by a single call: of those from one call only the first has one.
    """

    parallel = 64
    remote = True
    continues = True

    def __init__(
        self,
        address: str,
        *,
        n: bool = True,
        key_env: str = KEY,
        timeout: float = 120.0,
        concurrency: int = 16,
    ) -> None:
        self.model = OpenAIModel(
            address, n=n, key_env=key_env, timeout=timeout, concurrency=concurrency
        )

    @property
    def name(self) -> str:
        """The model's name after the kind."""
        return f"openai:{self.model.name}"

    @property
    def version(self) -> str:
        """The model and where it is served."""
        return self.model.version

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """K candidates a prompt, in the order of the prompts; `report` counts the answers."""
        return self.model.run(self.generate_async(prompts, settings, report))

    async def generate_async(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """`generate`, awaited."""
        requests = [
            Request(
                messages=prompt.messages,
                max_tokens=settings.tokens(),
                temperature=settings.temperature,
                top_p=settings.top_p,
            )
            for prompt in prompts
        ]
        seeds = [candidate_seeds(settings, prompt.id) for prompt in prompts]
        samples = await self.model.remote.sample(requests, seeds, report)
        return [
            [
                replace(candidate(prompt.id, index, 0, sample.completion), seed=sample.seed)
                for index, sample in enumerate(own)
            ]
            for prompt, own in zip(prompts, samples, strict=True)
        ]

    def close(self) -> None:
        """Close the connections."""
        self.model.close()

    async def aclose(self) -> None:
        """Close the connections, from the loop that used them."""
        await self.model.remote.aclose()
