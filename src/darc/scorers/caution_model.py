"""What a trained model of atypical answers is: numbers in a JSON file."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from darc.errors import InputError
from darc.files import read_json
from darc.typing import Array

SCHEMA = 1
FILE = "caution.json"


@dataclass(frozen=True)
class Classifier:
    """A logistic model of (x - location) / scale, and its squares, over d features.

    `weights` has 2 d numbers, those of the squares behind.
    """

    features: list[str]
    location: list[float]
    scale: list[float]
    weights: list[float]
    bias: float
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "classifier"

    def atypicality(self, features: Array) -> Array:
        """The probability of "atypical", (n,), of features (n, d)."""
        logit = expanded(features, self.location, self.scale) @ np.array(self.weights) + self.bias
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logit, -700.0, 700.0))))


@dataclass(frozen=True)
class Predictor:
    """A linear prediction of an answer's features from its prompt's embedding.

    Atypical is a large error: e = Phi((log error - centre) / width), where the error is the mean
    square of the residuals in units of `spread`, and centre and width are those of held-out typical
    answers. `weights` is (d_prompt + 1, d); `basis` (d_raw, d) projects the features first, empty
    where they are taken as they are. `target` names the reward model whose features these are,
    empty for the embedded ones.
    """

    features: list[str]
    location: list[float]
    scale: list[float]
    weights: list[list[float]]
    spread: list[float]
    centre: float
    width: float
    target: str = ""
    basis: list[list[float]] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "features"

    def errors(self, prompts: Array, features: Array) -> Array:
        """The mean squared residual of each pair, (n,)."""
        standard = standardised(features, self.location, self.scale)
        if self.basis:
            standard = standard @ np.array(self.basis)
        weights = np.array(self.weights)
        residual = standard - (prompts @ weights[:-1] + weights[-1])
        return np.asarray(np.mean((residual / np.array(self.spread)) ** 2, axis=1))

    def atypicality(self, prompts: Array, features: Array) -> Array:
        """Numbers in [0, 1], (n,), of prompt embeddings (n, d_prompt) and features (n, d)."""
        z = (np.log(self.errors(prompts, features) + 1e-12) - self.centre) / self.width
        return np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in z])


@dataclass(frozen=True)
class EncoderModel:
    """A sequence classifier in a folder beside the file, whose one output is the logit."""

    folder: str = "encoder"
    max_length: int = 512
    report: dict[str, Any] = field(default_factory=dict)
    form: str = "encoder"


Model = Classifier | Predictor | EncoderModel


def standardised(features: Array, location: list[float], scale: list[float]) -> Array:
    """Features in units of the typical ones', cut off at 8 so that none rules alone."""
    return np.clip((features - np.array(location)) / np.array(scale), -8.0, 8.0)


def expanded(features: Array, location: list[float], scale: list[float]) -> Array:
    """The inputs of a classifier, (n, 2 d): features and their squares."""
    standard = standardised(features, location, scale)
    return np.column_stack([standard, standard**2 / 4.0])


def write_model(model: Model, path: Path) -> None:
    """Write a model as JSON."""
    temporary = path.with_name(path.name + ".new")
    text = json.dumps({"schema": SCHEMA, **asdict(model)}, indent=1)
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.replace(path)


def read_model(path: Path) -> Model:
    """The model of a file that `write_model` wrote, or of a folder with one in it."""
    file = path / FILE if path.is_dir() else path
    try:
        data = read_json(file, "train one: darc train caution")
        schema, form = data.pop("schema"), data["form"]
    except (KeyError, AttributeError, TypeError):
        raise InputError(f"{file} is no model of darc train caution", "check the path") from None
    if schema != SCHEMA:
        raise InputError(f"{file} has schema {schema}", "it needs another version of DARC")
    kinds: dict[str, Any] = {
        "classifier": Classifier,
        "features": Predictor,
        "encoder": EncoderModel,
    }
    try:
        return kinds[form](**data)
    except (KeyError, TypeError):
        raise InputError(f"{file} is no model of darc train caution", "check the path") from None
