"""What every generator offers, and how candidates are sampled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from darc.decide.statistics.draws import prompt_seeds
from darc.errors import InputError
from darc.models.completion import Completion, Report
from darc.types import Candidate, Prompt

#: The largest number of tokens of an answer, if neither the user nor the generator names one.
MAX_TOKENS = 320
#: How many of the likeliest tokens are asked for where scorers use log-probabilities.
TOP_TOKENS = 20
# Every server takes seeds of so many bits.
_SEED_BITS = 31


@dataclass(frozen=True)
class SamplingParameters:
    """How many candidates a prompt gets, and how they are sampled."""

    #: The number of candidates per prompt.
    k: int = 8
    temperature: float = 0.8
    top_p: float = 0.98
    #: The largest number of tokens of an answer; None for the generator's own limit.
    max_tokens: int | None = None
    seed: int = 0
    #: How many candidates to leave out before the k, for generators that `continue`.
    first: int = 0
    #: How many of the likeliest tokens a server returns at each place.
    top: int = 0

    def __post_init__(self) -> None:
        """Refuse values that nothing can be sampled with."""
        is_valid = {
            "k": self.k >= 1,
            "temperature": self.temperature >= 0,
            "top_p": 0 < self.top_p <= 1,
            "max_tokens": self.max_tokens is None or self.max_tokens >= 1,
        }
        for name, valid in is_valid.items():
            if not valid:
                raise InputError(
                    f"{name} is {getattr(self, name)}",
                    "k and max_tokens are at least 1, temperature at least 0, top_p in (0, 1]",
                )

    def tokens(self, own_limit: int = MAX_TOKENS) -> int:
        """Return the largest number of tokens of an answer.

        Args:
            own_limit: The generator's own limit, which counts if `max_tokens` is None.
        """
        if self.max_tokens is None:
            return own_limit
        return self.max_tokens


@runtime_checkable
class Generator(Protocol):
    """Answers prompts."""

    @property
    def name(self) -> str:
        """What the generator is called in files and messages."""

    @property
    def version(self) -> str:
        """What the answers depend on besides name, prompt and parameters: a hash of weights."""

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """Answer prompts.

        Args:
            prompts: The prompts.
            settings: How many candidates to sample, and how.
            report: Called as report(done, total) while answers come in.

        Returns:
            K candidates per prompt, in the order of the prompts. Equal answers are kept.
        """


def make_candidate(
    prompt_id: str, index: int, seed: int | None, completion: Completion
) -> Candidate:
    """Make a candidate of a completion.

    Args:
        prompt_id: The id of the prompt.
        index: The number of the candidate, from 0.
        seed: The seed that gives this completion again, if there is one.
        completion: What the model wrote.

    Returns:
        The candidate.
    """
    return Candidate(
        prompt_id=prompt_id,
        index=index,
        text=completion.text,
        tokens=completion.tokens,
        truncated=completion.truncated,
        log_likelihood=completion.log_likelihood,
        seed=seed,
        certainty=completion.certainty,
    )


def candidate_seeds(settings: SamplingParameters, prompt_id: str) -> list[int]:
    """Derive one seed per candidate from the seed, the prompt's id and the candidate's number.

    Args:
        settings: The seed, and which candidates there are; a larger K keeps the first seeds.
        prompt_id: The id of the prompt.

    Returns:
        Seeds of 31 bits, (K,).
    """
    (prompt_seed,) = prompt_seeds(settings.seed, [prompt_id])
    numbers = range(settings.first, settings.first + settings.k)
    seeds = prompt_seeds(int(prompt_seed), numbers)
    return [int(seed) >> (64 - _SEED_BITS) for seed in seeds]
