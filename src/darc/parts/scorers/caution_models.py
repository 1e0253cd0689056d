"""The three kinds of models of the Caution baseline, and their files."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.files import atomic_writer
from darc.json_files import read_json
from darc.parts.scorers.base import sigmoid
from darc.typing import Array

SOURCES = ("caution_models.py",)
#: The name of the model's file in a folder.
MODEL_FILE = "caution.json"
_SCHEMA = 1
_MAX_DEVIATION = 8.0


@dataclass(frozen=True)
class Classifier:
    """A logistic model of d standardised features and their squares."""

    #: The names of the features.
    features: list[str]
    #: The mean of each feature over typical answers, (d,).
    location: list[float]
    #: The standard deviation of each feature over typical answers, (d,).
    scale: list[float]
    #: The weights of the features, then of their squares, (2 d,).
    weights: list[float]
    bias: float
    #: What training measured.
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "classifier"

    def atypicality(self, features: Array) -> Array:
        """Compute the probability of "atypical", (pairs,), from features (pairs, d)."""
        inputs = with_squares(features, self.location, self.scale)
        return sigmoid(inputs @ np.array(self.weights) + self.bias)


@dataclass(frozen=True)
class Predictor:
    """A linear prediction of an answer's features from its prompt's embedding.

    An answer is atypical if the error is large: e = Phi((log error - centre) / width), where the
    error is the mean square of the residuals in units of `spread`, and centre and width are those
    of held-out typical answers.
    """

    #: The names of the features.
    features: list[str]
    #: The mean of each raw feature over typical answers, (d_raw,).
    location: list[float]
    #: The standard deviation of each raw feature over typical answers, (d_raw,).
    scale: list[float]
    #: The weights of the prediction, (d_prompt + 1, d); the last row is the intercept.
    weights: list[list[float]]
    #: The units of the residuals, (d,).
    spread: list[float]
    centre: float
    width: float
    #: The reward model whose features these are; empty for the embedded features.
    target: str = ""
    #: The projection of the raw features, (d_raw, d); empty if they are taken as they are.
    basis: list[list[float]] = field(default_factory=list)
    #: What training measured.
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "features"

    def errors(self, prompts: Array, features: Array) -> Array:
        """Compute the mean squared residual of each pair, (pairs,)."""
        standardised = standardise(features, self.location, self.scale)
        if self.basis:
            standardised = standardised @ np.array(self.basis)
        weights = np.array(self.weights)
        residual = standardised - (prompts @ weights[:-1] + weights[-1])
        return np.asarray(np.mean((residual / np.array(self.spread)) ** 2, axis=1))

    def atypicality(self, prompts: Array, features: Array) -> Array:
        """Compute how atypical answers are.

        Args:
            prompts: The embeddings of the prompts, (pairs, d_prompt).
            features: The features of the pairs, (pairs, d_raw).

        Returns:
            Numbers from 0 to 1, (pairs,).
        """
        deviations = (np.log(self.errors(prompts, features) + 1e-12) - self.centre) / self.width
        return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in deviations])


@dataclass(frozen=True)
class EncoderModel:
    """A sequence classifier in a folder beside the file; its one output is the logit."""

    folder: str = "encoder"
    max_length: int = 512
    #: What training measured.
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "encoder"


CautionModel = Classifier | Predictor | EncoderModel
_CLASS_OF_FORM: dict[str, type[CautionModel]] = {
    kind.form: kind for kind in (Classifier, Predictor, EncoderModel)
}


def standardise(features: Array, location: list[float], scale: list[float]) -> Array:
    """Express features in deviations of typical answers, clipped at 8 so that none rules alone.

    Args:
        features: Features of shape (pairs, d).
        location: The mean of each feature, (d,).
        scale: The standard deviation of each feature, (d,).

    Returns:
        Standardised features of shape (pairs, d).
    """
    deviations = (features - np.array(location)) / np.array(scale)
    return np.clip(deviations, -_MAX_DEVIATION, _MAX_DEVIATION)


def with_squares(features: Array, location: list[float], scale: list[float]) -> Array:
    """Standardise features and append their squares: the inputs of a classifier, (pairs, 2 d)."""
    standardised = standardise(features, location, scale)
    return np.column_stack([standardised, standardised**2 / 4.0])


def write_model(model: CautionModel, path: Path) -> None:
    """Write a model as JSON."""
    with atomic_writer(path) as file:
        file.write(json.dumps({"schema": _SCHEMA, **asdict(model)}, indent=1) + "\n")


def model_file(path: Path) -> Path:
    """The model's file, by its own path or by its folder's."""
    if path.is_dir():
        return path / MODEL_FILE
    return path


def read_model(path: Path) -> CautionModel:
    """Read a model that `write_model` wrote.

    Args:
        path: The file, or a folder with one in it.

    Returns:
        The model.

    Raises:
        InputError: If there is no model, or it was written by another version.
    """
    file = model_file(path)
    try:
        content = read_json(file, "train one: darc train caution")
        schema = content.pop("schema")
        if schema != _SCHEMA:
            raise InputError(f"{file} has schema {schema}", "it needs another version of DARC")
        return _CLASS_OF_FORM[content["form"]](**content)
    except (KeyError, AttributeError, TypeError):
        raise InputError(f"{file} is not a model of darc train caution", "check the path") from None
