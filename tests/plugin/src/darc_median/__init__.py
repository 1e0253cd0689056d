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

    name, version, bounds = "brevity", "1", (0.0, 1.0)
    location, scale = 0.5, 0.2

    def __init__(self, *, half: int = 40) -> None:
        self._half = half

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """One number a pair: 0.5 at `half` words."""
        words = np.array([len(text.split()) for _, text in pairs], dtype=np.float64)
        return np.asarray(0.5 ** (words / self._half))


@darc.scorer("faulty", "FOLDER")
class Faulty:
    """Brevity that notes what it is asked in a folder, and does what the files there tell it to.

    slow: seconds a call; poison: a prompt that fails; deadly: one that ends the process; once: one
    that does so the first time; limit: the bytes that a file may have.
    """

    name, version, bounds = "faulty", "", (0.0, 1.0)
    location, scale = 0.5, 0.2

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """Half of one at 40 words, unless something is wrong."""
        with (self._folder / "log").open("a") as log:
            log.writelines(f"{os.getpid()} {prompt.id}\n" for prompt, _ in pairs)
        time.sleep(float(self._told("slow") or 0))
        if limit := self._told("limit"):
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), most))
        ids = {prompt.id for prompt, _ in pairs}
        if self._told("poison") in ids:
            raise RuntimeError("poison")
        once = self._told("once") in ids
        if once:
            (self._folder / "once").unlink()
        if once or self._told("deadly") in ids:
            os.kill(os.getpid(), signal.SIGKILL)
        return Brevity().score(pairs)

    def _told(self, name: str) -> str:
        path = self._folder / name
        return path.read_text().strip() if path.exists() else ""


@darc.generator("echo")
class Echo:
    """Says the question back, more often with each candidate."""

    name, version, continues = "echo", "1", True

    def generate(
        self,
        prompts: Sequence[Prompt],
        settings: SamplingParameters,
        report: Callable[[int, int], None] | None = None,
    ) -> list[list[Candidate]]:
        """K echoes a prompt."""
        return [
            [
                Candidate(p.id, i, f"You ask, and I can't tell. {p.question} " * (i + 1), seed=seed)
                for i, seed in enumerate(candidate_seeds(settings, p.id), settings.first)
            ]
            for p in prompts
        ]


@darc.rewriter("openings")
class Openings:
    """Opens the answer in another way."""

    name = "openings"

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        """Up to three proposals."""
        words = ("Well", "Indeed", "So")
        return [f"{word}, {text[:1].lower()}{text[1:]}" for word in words[:count]]
