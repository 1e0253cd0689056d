"""What every generator has in common."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from darc.core.draws import prompt_seeds
from darc.errors import InputError
from darc.models.completion import Completion, Report
from darc.registry import Capabilities
from darc.types import Candidate, Prompt

SEED_BITS = 31
MAX_TOKENS = 320


@dataclass(frozen=True)
class Settings:
    """How many answers a prompt gets, and how they are sampled.

    `max_tokens` is None for the generator's own limit: its `max_tokens`, or else 320. Where a
    generator `continues`, `first` leaves out so many candidates before the k.
    """

    k: int = 16
    temperature: float = 0.8
    top_p: float = 0.98
    max_tokens: int | None = None
    seed: int = 0
    first: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be sampled by."""
        checks = {
            "k": self.k >= 1,
            "temperature": self.temperature >= 0,
            "top_p": 0 < self.top_p <= 1,
            "max_tokens": self.max_tokens is None or self.max_tokens >= 1,
        }
        for name, fine in checks.items():
            if not fine:
                raise InputError(
                    f"{name} is {getattr(self, name)}",
                    "k and max_tokens are at least 1, temperature at least 0, top_p in (0, 1]",
                )

    def tokens(self, own: int = MAX_TOKENS) -> int:
        """How many tokens an answer may have, by a generator's own limit if none was given."""
        return own if self.max_tokens is None else self.max_tokens


@runtime_checkable
class Generator(Protocol):
    """Something that answers prompts."""

    @property
    def name(self) -> str:
        """What the generator is called in files and messages."""
        ...

    @property
    def version(self) -> str:
        """What the answers depend on besides name, prompt and settings: the weights' hash, say."""
        ...

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """K candidates a prompt, in the order of the prompts; duplicates are kept.

        `report(done, total)` counts the answers.
        """
        ...


class ReadyGenerator(Generator, Capabilities, Protocol):
    """A generator that has declared all of its capabilities."""

    async def generate_async(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """`generate`, awaited."""
        ...


def candidate(prompt_id: str, index: int, seed: int | None, completion: Completion) -> Candidate:
    """A completion as the candidate of a prompt."""
    return Candidate(
        prompt_id=prompt_id,
        index=index,
        text=completion.text,
        tokens=completion.tokens,
        truncated=completion.truncated,
        log_likelihood=completion.log_likelihood,
        seed=seed,
    )


def candidate_seeds(settings: Settings, prompt_id: str) -> list[int]:
    """One seed a candidate, (K,), from (seed, prompt_id) and its index alone.

    They fit into 31 bits, which every server takes; a larger K keeps the first seeds.
    """
    (seed,) = prompt_seeds(settings.seed, [prompt_id])
    places = range(settings.first, settings.first + settings.k)
    return [int(each) >> (64 - SEED_BITS) for each in prompt_seeds(int(seed), places)]
