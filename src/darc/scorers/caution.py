"""How atypical an answer is, by a model that `darc train caution` fitted."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from darc.errors import InputError
from darc.models.embeddings import Embeddings
from darc.models.installed import files_hash
from darc.registry import scorer
from darc.scorers import fluency, form, relevance
from darc.scorers.base import Embedder, Pair, source_version
from darc.scorers.caution_model import FILE, EncoderModel, Model, Predictor, read_model
from darc.scorers.pair_features import NAMES, PairFeatures
from darc.scorers.reward import RewardScorer
from darc.typing import Array

OWN = ("caution.py", "caution_model.py")
SOURCES = (*OWN, "pair_features.py", *fluency.SOURCES, *form.SOURCES, *relevance.SOURCES)
PACKAGES = (*fluency.PACKAGES, *relevance.PACKAGES)


@scorer("caution", "PATH")
class Caution:
    """The probability that an answer is atypical, 0 to 1; higher is worse, for the rule `caution`.

    Named for the side input: --side atypicality=caution:PATH. PATH is a file of darc train caution,
    or a folder for its form `encoder`, which needs the extra `hf`.
    """

    name = "caution"
    location = None
    scale = None
    bounds = (0.0, 1.0)

    def __init__(self, path: str, embedder: Embedder | None = None) -> None:
        self._path = Path(path)
        self.model: Model = read_model(self._path)
        if not isinstance(self.model, EncoderModel) and not (
            isinstance(self.model, Predictor) and self.model.target
        ):
            _check_names(self.model.features, self._path)
        self._embedder = embedder

    @cached_property
    def version(self) -> str:
        """A hash of the model's file and of the code that measures; empty where one is unknown."""
        if not isinstance(self._embedder, Embeddings | None):
            return ""
        file = self._path / FILE if self._path.is_dir() else self._path
        alone = isinstance(self.model, EncoderModel)
        code = source_version(*OWN) if alone else source_version(*SOURCES, packages=PACKAGES)
        if self._network is None:
            return f"{files_hash([file])}-{code}"
        inner = self._network.version
        return f"{files_hash([file])}-{code}-{inner}" if inner else ""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One probability of "atypical" a pair, (n,)."""
        if not pairs:
            return np.empty(0)
        if isinstance(self.model, EncoderModel):
            assert self._network is not None
            return np.asarray(1.0 / (1.0 + np.exp(-np.clip(self._network.score(pairs), -700, 700))))
        if isinstance(self.model, Predictor):
            prompts = self._pair_features.embed([prompt.question for prompt, _ in pairs])
            return self.model.atypicality(prompts, self._features(pairs))
        return self.model.atypicality(self._features(pairs))

    def _features(self, pairs: Sequence[Pair]) -> Array:
        if self._network is not None:
            return self._network.hidden(pairs)
        return self._pair_features.measure(pairs)

    @cached_property
    def _pair_features(self) -> PairFeatures:
        return PairFeatures(self._embedder or Embeddings())

    @cached_property
    def _network(self) -> RewardScorer | None:
        """The encoder, or the reward model whose features are predicted."""
        if isinstance(self.model, EncoderModel):
            folder = self._path if self._path.is_dir() else self._path.parent
            return RewardScorer(
                str(folder / self.model.folder),
                max_length=self.model.max_length,
                low=-700,
                high=700,
            )
        if isinstance(self.model, Predictor) and self.model.target:
            return RewardScorer(self.model.target)
        return None


def _check_names(names: Sequence[str], path: Path) -> None:
    if tuple(names) != NAMES:
        raise InputError(
            f"{path} was trained on other features", "train it again with this version"
        )
