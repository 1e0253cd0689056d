"""Adapters that complete a user's scorer, generator or rewriter without writing to it.

A part declares its capabilities by attributes such as `remote = True`, and need only declare those
that differ from the defaults. The rest of DARC uses the adapters, which have all of them.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from darc.errors import InputError
from darc.models.completion import Report
from darc.parts.generators.base import Generator, SamplingParameters
from darc.parts.rewriters.base import Rewriter
from darc.parts.scorers.base import Pair, Scorer
from darc.settings.choices import Acceptance
from darc.types import Candidate, Prompt
from darc.typing import Array


class ReadyPart:
    """A part with every capability: the one that it declares, or the default."""

    #: What is required of the user's object.
    required: tuple[str, ...] = ("name",)

    def __init__(self, part: Any) -> None:
        missing = [name for name in self.required if not hasattr(part, name)]
        if missing:
            raise InputError(
                f"{type(part).__name__} has no {', '.join(missing)}",
                f"it needs {', '.join(self.required)}",
            )
        #: The user's object.
        self.part = part
        #: The licence of the weights.
        self.licence: str = getattr(part, "licence", "")
        #: How many calls may run at the same time; of a generator, how many answers it writes at
        #: the same time.
        self.parallel: int = getattr(part, "parallel", 1)
        #: Whether it waits for a server, so that its calls are awaited and not run in a thread.
        self.remote: bool = getattr(part, "remote", False)
        #: Whether it loads quickly and keeps one processor busy, so that each worker process makes
        #: one of its own.
        self.in_process: bool = getattr(part, "in_process", False)

    @property
    def name(self) -> str:
        """What the part is called in files and messages."""
        name: str = self.part.name
        return name

    @property
    def version(self) -> str:
        """What results depend on besides the input; empty if they must not be kept."""
        version: str = getattr(self.part, "version", "")
        return version

    def close(self) -> None:
        """Release what the part holds."""
        close = getattr(self.part, "close", None)
        if close is not None:
            close()

    async def aclose(self) -> None:
        """Release what the part holds, in the event loop that used it."""
        await close_part(self.part)


class ReadyScorer(ReadyPart):
    """A scorer with every capability."""

    required = ("name", "score", "location", "scale", "bounds")

    def __init__(self, part: Scorer) -> None:
        super().__init__(part)
        #: The number of texts per call; 1 if it makes one call per text anyway.
        self.batch_size: int = getattr(part, "batch_size", 16)
        #: The names of the numbers that it gives each text, if there are several.
        self.criteria: tuple[str, ...] = getattr(part, "criteria", ())
        #: Its stochastic passes: a function from n pairs to an array (n, passes), or None.
        self.samples: Any = getattr(part, "samples", None)
        #: The name of the embeddings that its scores depend on, if there are any.
        self.embeddings: str = getattr(part, "embeddings", "")

    @property
    def location(self) -> float | None:
        """The mean over ordinary answers."""
        location: float | None = self.part.location
        return location

    @property
    def scale(self) -> float | None:
        """The standard deviation over ordinary answers."""
        scale: float | None = self.part.scale
        return scale

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        bounds: tuple[float, float] = self.part.bounds
        return bounds

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs of prompt and answer, with shape (n,) or (n, criteria)."""
        scores: Array = self.part.score(pairs)
        return scores

    async def score_async(self, pairs: Sequence[Pair]) -> Array:
        """Await the part's `score_async`, or run its `score` in a thread."""
        scores: Array = await _call_async(self.part, "score", pairs)
        return scores


class ReadyGenerator(ReadyPart):
    """A generator with every capability."""

    required = ("name", "generate")

    def __init__(self, part: Generator) -> None:
        super().__init__(part)
        #: Its own limit for the tokens of an answer; None for the default limit.
        self.max_tokens: int | None = getattr(part, "max_tokens", None)
        #: Whether it heeds `SamplingParameters.first`, and so can write candidates in waves.
        self.continues: bool = getattr(part, "continues", False)

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: SamplingParameters,
        report: Report | None = None,
    ) -> list[list[Candidate]]:
        """Answer each prompt K times."""
        candidates: list[list[Candidate]] = self.part.generate(prompts, settings, report)
        return candidates

    async def generate_async(
        self,
        prompts: Sequence[Prompt],
        settings: SamplingParameters,
        report: Report | None = None,
    ) -> list[list[Candidate]]:
        """Await the part's `generate_async`, or run its `generate` in a thread."""
        candidates: list[list[Candidate]] = await _call_async(
            self.part, "generate", prompts, settings, report
        )
        return candidates


class ReadyRewriter(ReadyPart):
    """A rewriter with every capability."""

    required = ("name", "rewrite")

    def __init__(self, part: Rewriter) -> None:
        super().__init__(part)
        #: Which checks its rewrites must pass, unless the user says otherwise.
        self.acceptance = _acceptance_of(part)

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Propose up to `count` rewrites of a text."""
        proposals: list[str] = self.part.rewrite(prompt, text, count, family, seed)
        return proposals

    async def rewrite_async(
        self, prompt: Prompt, text: str, count: int, family: str, seed: int
    ) -> list[str]:
        """Await the part's `rewrite_async`, or run its `rewrite` in a thread."""
        proposals: list[str] = await _call_async(
            self.part, "rewrite", prompt, text, count, family, seed
        )
        return proposals


def _acceptance_of(rewriter: Rewriter) -> Acceptance:
    level: Acceptance = getattr(rewriter, "acceptance", "strict")
    return level


def as_ready_scorer(scorer: Scorer | ReadyScorer) -> ReadyScorer:
    """Wrap a scorer, unless it is wrapped already.

    Args:
        scorer: Any object with `name`, `score`, `location`, `scale` and `bounds`.

    Returns:
        The adapter; the scorer itself is not changed.

    Raises:
        InputError: If the scorer lacks one of these.
    """
    if isinstance(scorer, ReadyScorer):
        return scorer
    return ReadyScorer(scorer)


def as_ready_generator(generator: Generator | ReadyGenerator) -> ReadyGenerator:
    """Wrap a generator, unless it is wrapped already.

    Args:
        generator: Any object with `name` and `generate`.

    Returns:
        The adapter; the generator itself is not changed.

    Raises:
        InputError: If the generator lacks one of these.
    """
    if isinstance(generator, ReadyGenerator):
        return generator
    return ReadyGenerator(generator)


def as_ready_rewriter(rewriter: Rewriter | ReadyRewriter) -> ReadyRewriter:
    """Wrap a rewriter, unless it is wrapped already.

    Args:
        rewriter: Any object with `name` and `rewrite`.

    Returns:
        The adapter; the rewriter itself is not changed.

    Raises:
        InputError: If the rewriter lacks one of these.
    """
    if isinstance(rewriter, ReadyRewriter):
        return rewriter
    return ReadyRewriter(rewriter)


async def close_part(part: Any) -> None:
    """Release what any part holds, by its `aclose` or else its `close`, if it has one of them."""
    aclose = getattr(part, "aclose", None)
    if aclose is not None:
        await aclose()
        return
    close = getattr(part, "close", None)
    if close is None:
        return
    # A model that is busy may take a while to close, and nothing else needs to wait for it.
    try:
        await asyncio.to_thread(close)
    except RuntimeError:
        # While the interpreter exits, no new thread can be started.
        close()


async def _call_async(part: Any, method: str, *arguments: Any) -> Any:
    """Await METHOD_async of a part, or run METHOD in a thread if the part has no such method."""
    call_async = getattr(part, f"{method}_async", None)
    if call_async is not None:
        return await call_async(*arguments)
    return await asyncio.to_thread(getattr(part, method), *arguments)
