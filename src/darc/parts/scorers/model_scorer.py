"""What scorers that run a model by transformers have in common: their options and their life."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from darc.errors import InputError
from darc.models.transformers import Checkpoint, Loaded
from darc.models.transformers.batching import CPU_BATCH_TOKENS
from darc.models.transformers.loading import CAUSAL
from darc.parts.scorers.base import source_version

SOURCES = (
    "model_scorer.py",
    *(
        f"../../models/transformers/{name}.py"
        for name in ("batching", "loading", "prefix_cache", "scoring")
    ),
)


@dataclass(eq=False, repr=False)
class ModelScorer(ABC):
    """A model of the hub or a folder, how it is read and run, and the scale of its scores.

    At most `max_length` tokens are read, `batch_size` such rows at a time. `location` and `scale`
    are None unless given. `base`, `dtype` and `device` are those of `Checkpoint`.
    """

    model: str
    _: KW_ONLY
    name: str = ""
    max_length: int = 1024
    batch_size: int = 16
    location: float | None = None
    scale: float | None = None
    base: str = ""
    dtype: str = "auto"
    device: str = "auto"

    kind: ClassVar[str] = CAUSAL
    prefix: ClassVar[str] = ""
    aliases: ClassVar[Mapping[str, str]] = {}
    sources: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Find the model, which is loaded at the first use."""
        if self.max_length < 8 or self.batch_size < 1:
            raise InputError(
                f"max_length={self.max_length}, batch_size={self.batch_size} cannot be used",
                "at least 8 tokens and 1 row",
            )
        self.name = self.name or f"{self.prefix}:{self.model}"
        text = self.aliases.get(self.model, self.model)
        self.checkpoint = Checkpoint(
            text, self.kind, base=self.base, dtype=self.dtype, device=self.device
        )

    @property
    def version(self) -> str:
        """A hash of the weights and the code, with the length limit and what else counts."""
        weights = self.checkpoint.version
        parts = (weights, source_version(*self.sources), self.max_length, *self._counting())
        return "-".join(map(str, parts)) if weights else ""

    @abstractmethod
    def _counting(self) -> tuple[object, ...]:
        """What else the scores depend on; "prefix" where a beginning is read once, which rounds."""

    def limit(self, loaded: Loaded) -> int:
        """The tokens that are read of a row."""
        return min(self.max_length, loaded.context or self.max_length)

    def most(self, loaded: Loaded) -> int:
        """The tokens of a forward pass."""
        full = self.batch_size * self.limit(loaded)
        return min(full, CPU_BATCH_TOKENS) if loaded.device.type == "cpu" else full

    def close(self) -> None:
        """Free the model's memory."""
        self.checkpoint.close()
