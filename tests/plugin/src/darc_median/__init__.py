"""A rule, a scorer, a generator and a rewriter for DARC, in a package of their own."""

import os
import resource
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import darc
from darc.parts.generators import SamplingParameters, candidate_seeds
from darc.types import Candidate, Prompt


@darc.rule("median", explanation="the largest median of its samples, over the worst scorer")
def median(pools: darc.Pools, *, bonus: float = 0.0) -> darc.Choice:
    """Largest median of the samples, the least over scorers, plus a bonus times the mean."""
    samples = pools.normalized(pools.samples)
    filled = np.where(pools.present[:, None, :, None], samples, 0.0)
    medians = np.nanmedian(filled, axis=3).min(axis=1)
    return darc.largest(pools, medians + bonus * pools.statistics.mean)


@darc.scorer("brevity")
class Brevity:
    """How short an answer is, 0 to 1."""

    name = "brevity"
    version = "1"
    bounds = (0.0, 1.0)
    location = 0.5
    scale = 0.2

    def __init__(self, *, half: int = 40) -> None:
        self._half = half

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """One number per pair: 0.5 at `half` words."""
        words = np.array([len(text.split()) for _, text in pairs], dtype=np.float64)
        return np.asarray(0.5 ** (words / self._half))


@darc.scorer("faulty", "FOLDER")
class Faulty:
    """Brevity that logs its prompts in a folder, and fails in the ways that the files there say.

    slow: seconds per call; poison: a prompt that fails; deadly: one that ends the process;
    once: one that does so the first time; limit: the bytes that a file may have.
    """

    name = "faulty"
    version = ""
    bounds = (0.0, 1.0)
    location = 0.5
    scale = 0.2

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """Half of one at 40 words, unless something is wrong."""
        with (self._folder / "log").open("a") as log:
            log.writelines(f"{os.getpid()} {prompt.id}\n" for prompt, _ in pairs)
        time.sleep(float(self._setting("slow") or 0))
        limit = self._setting("limit")
        if limit:
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), most))
        ids = {prompt.id for prompt, _ in pairs}
        if self._setting("poison") in ids:
            raise RuntimeError("poison")
        once = self._setting("once") in ids
        if once:
            (self._folder / "once").unlink()
        if once or self._setting("deadly") in ids:
            os.kill(os.getpid(), signal.SIGKILL)
        return Brevity().score(pairs)

    def _setting(self, name: str) -> str:
        path = self._folder / name
        if not path.exists():
            return ""
        return path.read_text().strip()


@darc.generator("echo")
class Echo:
    """Says the question back, more often with each candidate."""

    name = "echo"
    version = "1"
    continues = True

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: SamplingParameters,
        report: Callable[[int, int], None] | None = None,
    ) -> list[list[Candidate]]:
        """K echoes per prompt."""
        return [self._echoes(prompt, settings) for prompt in prompts]

    def _echoes(self, prompt: Prompt, settings: SamplingParameters) -> list[Candidate]:
        sentence = f"You ask, and I can't tell. {prompt.question} "
        seeds = candidate_seeds(settings, prompt.id)
        return [
            Candidate(prompt.id, index, sentence * (index + 1), seed=seed)
            for index, seed in enumerate(seeds, settings.first)
        ]


@darc.rewriter("openings")
class Openings:
    """Opens the answer in another way."""

    name = "openings"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to three proposals."""
        words = ("Well", "Indeed", "So")
        return [f"{word}, {text[:1].lower()}{text[1:]}" for word in words[:count]]
