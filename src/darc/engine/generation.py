"""Candidates of a model: all at once, or in waves until more are not worth their cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from darc.engine.batcher import Batcher
from darc.engine.samples import Samples
from darc.engine.stopping import StopRule
from darc.engine.threads import run_in_thread
from darc.engine.waves import WaveDrawing, WaveWriter
from darc.models.completion import Report
from darc.parts.generators.base import SamplingParameters
from darc.parts.generators.inputs import drop_failed, strip_thoughts
from darc.parts.ready import ReadyGenerator
from darc.types import Candidate, Prompt


@dataclass(frozen=True)
class WrittenCandidates:
    """The candidates that a model has written for a prompt."""

    candidates: list[Candidate]
    #: How many candidates could not be written.
    failed: int = 0
    #: How many candidates were not written because they were not worth their cost.
    saved: int = 0
    #: Why fewer were written than asked for.
    flags: Sequence[str] = ()


@dataclass(frozen=True)
class _WriteJob:
    """The candidates that one caller waits for."""

    prompt: Prompt
    sampling: SamplingParameters
    report: Report | None


class CandidateWriter:
    """Writes candidates with a generator.

    Args:
        generator: The generator.
        sampling: How many candidates to write, and how they are sampled.
        stopping: When to stop before all are written; None for never.
    """

    def __init__(
        self, generator: ReadyGenerator, sampling: SamplingParameters, stopping: StopRule | None
    ) -> None:
        self._generator = generator
        self._sampling = sampling
        self._stopping = stopping
        prompts_at_once = -(-int(generator.parallel) // sampling.k)
        self._batcher: Batcher[_WriteJob, list[Candidate]] = Batcher(
            self._write_batch, max_items=max(1, prompts_at_once)
        )

    async def write(
        self, samples: Samples, *, n: int = 1, strict: bool = True, report: Report | None = None
    ) -> WrittenCandidates:
        """Write the candidates of a prompt.

        Args:
            samples: The prompt's samples, which score candidates that are written in waves.
            n: How many different answers are needed.
            strict: Whether a scorer that fails fails the writing.
            report: Told how many candidates are written.

        Returns:
            The candidates that could be written.
        """
        prompt = samples.prompt
        if self._stopping is None or not self._generator.continues:
            results = await self.generate(prompt, self._sampling, report)
            candidates = drop_failed(results)
            return WrittenCandidates(candidates, failed=len(results) - len(candidates))
        writer = WaveWriter(
            partial(self.generate, prompt),
            self._sampling,
            # Each call of a server has a seed of its own, and can be cancelled.
            one_by_one=self._generator.remote,
            report=report,
        )
        drawing = WaveDrawing(
            samples,
            self._sampling.k,
            self._stopping.at_least(n),
            writer.write_wave,
            strict,
            choices=n,
        )
        candidates = drop_failed(await drawing.candidates())
        return WrittenCandidates(
            candidates,
            failed=self._sampling.k - drawing.saved - len(candidates),
            saved=drawing.saved,
            flags=drawing.flags,
        )

    async def generate(
        self, prompt: Prompt, sampling: SamplingParameters, report: Report | None = None
    ) -> list[Candidate | None]:
        """Write the candidates that sampling parameters ask for.

        Args:
            prompt: The conversation to answer.
            sampling: How many candidates to write, and how they are sampled.
            report: Told how many candidates are written.

        Returns:
            The candidates in order, without their reasoning; None for one whose reasoning never
            ends.
        """
        if self._generator.remote:
            (candidates,) = await self._generator.generate_async([prompt], sampling, report)
        else:
            job = _WriteJob(prompt, sampling, report)
            (candidates,) = await self._batcher.process([job], object())
        return [strip_thoughts(candidate) for candidate in candidates]

    async def aclose(self) -> None:
        """Cancel what is being written."""
        await self._batcher.aclose()

    async def _write_batch(self, jobs: list[_WriteJob]) -> list[list[Candidate]]:
        """Write the candidates of several callers, with one call per sampling parameters."""
        results: dict[int, list[Candidate]] = {}
        for sampling in dict.fromkeys(job.sampling for job in jobs):
            places = [place for place, job in enumerate(jobs) if job.sampling == sampling]
            prompts = [jobs[place].prompt for place in places]
            reports = [jobs[place].report for place in places]
            written = await run_in_thread(
                self._generator.generate, prompts, sampling, next(filter(None, reports), None)
            )
            results |= zip(places, written, strict=True)
        return [results[place] for place in range(len(jobs))]


def sampling_for(
    generator: ReadyGenerator | None, sampling: SamplingParameters, default_max_tokens: int
) -> SamplingParameters:
    """Sampling parameters with the generator's limit of tokens where they have none."""
    max_tokens = default_max_tokens
    if generator is not None and generator.max_tokens:
        max_tokens = generator.max_tokens
    return replace(sampling, max_tokens=sampling.tokens(max_tokens))
