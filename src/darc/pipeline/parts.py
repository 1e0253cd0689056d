"""The generator, rewriter and scorers that a user names, made ready."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from darc.errors import InputError
from darc.models.embeddings import Embeddings
from darc.perturb.families import parts as check_family
from darc.pipeline.engine import Engine
from darc.pipeline.meaning import similarity_of, usable
from darc.pipeline.score_cache import ScoreCache
from darc.pipeline.scoring import Patience
from darc.pipeline.side import SIDE_NAMES, SideMaker
from darc.registry import rewriters, scorers

if TYPE_CHECKING:
    from darc.perturb.filters import Entities
    from darc.scorers.base import Scorer

SCORERS = ("relevance", "fluency", "form")


@dataclass(frozen=True)
class Parts:
    """What turns answers into numbers, as users write it."""

    rewriter: str = "rules"
    scorers: Sequence[str] = SCORERS
    n_aug: int = 8
    family: str = "style"
    seed: int = 0
    guard: bool = True
    entities: str = ""
    side: Mapping[str, str] = field(default_factory=dict)
    seconds: float = Patience.seconds
    include_original: bool = True
    max_attempts: int | None = None

    def engine(self, cache: ScoreCache | None = None) -> Engine:
        """The engine; nothing is loaded that is not needed to know that it can be."""
        check_family(self.family, self.n_aug)
        embedder = Embeddings()
        return Engine(
            rewriter=rewriters.make(self.rewriter),
            scorers=[scorers.make(text) for text in self.scorers],
            n_aug=self.n_aug,
            family=self.family,
            seed=self.seed,
            similarity=similarity_of(embedder) if self.guard and usable(embedder) else None,
            find_entities=self._entity_finder(),
            cache=cache,
            patience=Patience(seconds=self.seconds),
            include_original=self.include_original,
            max_attempts=self.max_attempts,
        )

    def side_maker(self) -> SideMaker:
        """What makes the side inputs of rules."""
        made: dict[str, Scorer] = {}
        for name, text in self.side.items():
            if name not in SIDE_NAMES:
                raise InputError(
                    f"--side {name}: there is no such side input", f"one of {', '.join(SIDE_NAMES)}"
                )
            made[name] = scorers.make(text)
        embedder = Embeddings()
        return SideMaker(made, embedder if usable(embedder) else None)

    def _entity_finder(self) -> "Entities | None":
        if not self.entities:
            return None
        from darc.perturb.filters.ner import entity_finder

        return entity_finder(self.entities)
