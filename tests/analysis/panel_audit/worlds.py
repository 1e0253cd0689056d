"""Simulated panels whose effective number is known, and people who rate the same answers."""

from dataclasses import dataclass

import numpy as np

from darc.ratings.ratings import Ratings
from darc.typing import Array


@dataclass(frozen=True)
class PanelWorld:
    """How a panel and people rate the same answers."""

    prompts: int = 60
    candidates: int = 6
    raters: int = 8
    #: The correlation of the errors of raters of the same cluster.
    correlation: float = 0.3
    #: The number of clusters; errors of raters of different clusters are independent.
    clusters: int = 1
    people: int = 4
    people_noise: float = 1.5
    #: How far true quality shows in grades.
    quality: float = 1.0

    @property
    def effective(self) -> float:
        """The true effective number of raters."""
        together = self.raters // self.clusters
        mean = self.correlation * (together - 1) / (self.raters - 1)
        return self.raters / (1 + (self.raters - 1) * mean)

    def draw(self, seed: int) -> tuple[Array, Array, Array]:
        """The panel's grades, people's ratings, (P, K, raters) each, and true quality, (P, K)."""
        generator = np.random.default_rng(seed)
        shape = (self.prompts, self.candidates)
        truth = generator.normal(size=shape)
        people = truth[..., None] + self.people_noise * generator.normal(size=(*shape, self.people))
        people = people + generator.normal(0, 0.5, (1, 1, self.people))
        cluster = np.arange(self.raters) % self.clusters
        common = generator.normal(size=(*shape, self.clusters))[:, :, cluster]
        own = generator.normal(size=(*shape, self.raters))
        errors = np.sqrt(self.correlation) * common + np.sqrt(1 - self.correlation) * own
        grades = 5 + 2 * (self.quality * truth[..., None] + errors)
        return grades + generator.normal(size=(1, 1, self.raters)), people, truth


def as_ratings(values: Array, kind: str, prefix: str, name: str = "drawn") -> Ratings:
    """Ratings (P, K, raters) as they are read from a file or a run."""
    prompts, candidates, raters = values.shape
    samples = values[:, None]
    codes = np.where(np.isnan(samples), -1, np.arange(raters))
    return Ratings(
        name=name,
        kind=kind,
        prompt_ids=[f"p{prompt}" for prompt in range(prompts)],
        candidate_ids=[[f"c{place}" for place in range(candidates)]] * prompts,
        scorers=[""],
        samples=samples,
        raters=codes,
        rater_names=[f"{prefix}{place}" for place in range(raters)],
        lengths=np.full((prompts, candidates), np.nan),
    )
