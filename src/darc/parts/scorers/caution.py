"""The scorer `caution`: how atypical an answer is, by a model of the Caution baseline."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from darc.errors import InputError
from darc.models.embeddings import Embeddings
from darc.models.file_hash import hash_files
from darc.parts.scorers import caution_features, caution_models
from darc.parts.scorers.base import Embedder, Pair, sigmoid, source_version
from darc.parts.scorers.caution_features import FEATURE_NAMES, PACKAGES, PairFeatures
from darc.parts.scorers.caution_models import (
    CautionModel,
    Classifier,
    EncoderModel,
    Predictor,
    model_file,
    read_model,
)
from darc.parts.scorers.reward import RewardScorer
from darc.registry import scorer
from darc.typing import Array

_OWN_SOURCES = ("caution.py", *caution_models.SOURCES)
SOURCES = (*_OWN_SOURCES, *caution_features.SOURCES)


@scorer("caution", "PATH")
class Caution:
    """The probability that an answer is atypical, 0 to 1; higher is worse, for the rule `caution`.

    It serves as a side input: --side atypicality=caution:PATH. PATH is a file written by
    `darc train caution`, or a folder for its form `encoder`, which needs the extra `hf`.
    """

    name = "caution"
    location = None
    scale = None
    bounds = (0.0, 1.0)

    def __init__(self, path: str, embedder: Embedder | None = None) -> None:
        self._path = Path(path)
        self._embedder = embedder
        self.model: CautionModel = read_model(self._path)
        names = _embedded_features(self.model)
        if names is not None and names != FEATURE_NAMES:
            raise InputError(
                f"{path} was trained on other features", "train it again with this version"
            )

    @cached_property
    def version(self) -> str:
        """A hash of the model's file and of the code that measures; empty if one is unknown."""
        if not isinstance(self._embedder, Embeddings | None):
            return ""
        if isinstance(self.model, EncoderModel):
            code = source_version(*_OWN_SOURCES)
        else:
            code = source_version(*SOURCES, packages=PACKAGES)
        version = f"{hash_files([model_file(self._path)])}-{code}"
        if self._network is None:
            return version
        if not self._network.version:
            return ""
        return f"{version}-{self._network.version}"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Compute the probability of "atypical" of each pair, (pairs,)."""
        if not pairs:
            return np.empty(0)
        network = self._network
        if isinstance(self.model, EncoderModel):
            assert network is not None
            return sigmoid(network.score(pairs))
        if network is None:
            features = self._pair_features.measure(pairs)
        else:
            features = network.hidden(pairs)
        if isinstance(self.model, Classifier):
            return self.model.atypicality(features)
        prompts = self._pair_features.embed([prompt.question for prompt, _ in pairs])
        return self.model.atypicality(prompts, features)

    @cached_property
    def _pair_features(self) -> PairFeatures:
        return PairFeatures(self._embedder or Embeddings())

    @cached_property
    def _network(self) -> RewardScorer | None:
        """The encoder, or the reward model whose features are predicted; None without one."""
        if isinstance(self.model, EncoderModel):
            folder = model_file(self._path).parent / self.model.folder
            return RewardScorer(str(folder), max_length=self.model.max_length, low=-700, high=700)
        if isinstance(self.model, Predictor) and self.model.target:
            return RewardScorer(self.model.target)
        return None


def _embedded_features(model: CautionModel) -> tuple[str, ...] | None:
    """The names of the embedded features that a model uses; None if a network measures."""
    if isinstance(model, EncoderModel):
        return None
    if isinstance(model, Predictor) and model.target:
        return None
    return tuple(model.features)
