"""What scorers that run a model on torch and transformers have in common."""

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
    "../../models/transformers/batching.py",
    "../../models/transformers/loading.py",
    "../../models/transformers/prefix_cache.py",
    "../../models/transformers/scoring.py",
)


@dataclass(eq=False, repr=False)
class ModelScorer(ABC):
    """A model of the hub or a folder, how it is read and run, and the scale of its scores."""

    #: The name of a hub model, or a folder.
    model: str
    _: KW_ONLY
    #: What the scorer is called; empty for a name made of the model's.
    name: str = ""
    #: The largest number of tokens that are read of a pair.
    max_length: int = 1024
    #: How many rows of this length go through the model at a time.
    batch_size: int = 16
    #: The mean score of ordinary answers, if it is known.
    location: float | None = None
    #: The standard deviation of the scores of ordinary answers, if it is known.
    scale: float | None = None
    #: The base model of an adapter, the type of the weights, and the device; see `Checkpoint`.
    base: str = ""
    dtype: str = "auto"
    device: str = "auto"

    #: The kind of model that is loaded.
    kind: ClassVar[str] = CAUSAL
    #: What the scorer's name begins with.
    prefix: ClassVar[str] = ""
    #: Short names of models.
    aliases: ClassVar[Mapping[str, str]] = {}
    #: The files that the scores depend on.
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
        """A hash of the weights and the code, with the options that scores depend on.

        Empty if the weights are unknown.
        """
        weights = self.checkpoint.version
        if not weights:
            return ""
        code = source_version(*self.sources)
        parts = (weights, code, self.max_length, *self._version_options())
        return "-".join(map(str, parts))

    @abstractmethod
    def _version_options(self) -> tuple[object, ...]:
        """The other options that scores depend on.

        "prefix" is one if the beginning that pairs share is read once, which rounds differently.
        """

    def row_limit(self, loaded: Loaded) -> int:
        """Return how many tokens of a pair are read."""
        return min(self.max_length, loaded.context or self.max_length)

    def batch_tokens(self, loaded: Loaded) -> int:
        """Return how many tokens a forward pass may have."""
        full_batch = self.batch_size * self.row_limit(loaded)
        if loaded.device.type == "cpu":
            return min(full_batch, CPU_BATCH_TOKENS)
        return full_batch

    def close(self) -> None:
        """Free the model's memory."""
        self.checkpoint.close()
