"""Side inputs: what some rules need to know of candidates besides their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darc.decide.evidence.judgements import PREDICTION
from darc.decide.method import Method
from darc.decide.model.judge_weights import JudgeWeights
from darc.decide.rule import Rule
from darc.decide.side_inputs import SIDE_SCORERS, missing_side_input
from darc.engine.copies import copies_input
from darc.engine.same_answers import same_answers
from darc.errors import InputError, MissingExtra
from darc.models.embeddings import Embeddings, installed
from darc.parts.scorers.base import Embedder, Scorer
from darc.ratings.text_judgements import TEXT_PREFIX, judgements_of_texts
from darc.registry import scorers
from darc.types import Candidate, Prompt


@dataclass(frozen=True)
class SideInputMaker:
    """Computes side inputs from candidates, an embedder and scorers that are named for them."""

    #: The scorers of log_likelihood, atypicality and dropout. One for dropout has a method
    #: `samples(pairs)` that returns an array (pairs, passes).
    scorers: Mapping[str, Scorer]
    #: Compares the meaning of answers; None where no embedding model is installed.
    embedder: Embedder | None
    #: The names of arguments that do not count where tool calls are compared.
    ignored_arguments: tuple[str, ...] = ()
    #: How features of the answers' texts predict people's ratings; None where nothing was learnt.
    text_judges: JudgeWeights | None = None

    @property
    def predicts(self) -> bool:
        """Whether the rule is told what the answers' texts predict."""
        return self.text_judges is not None

    def check(self, rule: Rule) -> None:
        """Refuse a rule whose side inputs cannot be computed.

        Raises:
            MissingExtra: If the rule needs similarities and no embedding model is installed.
            InputError: If the rule needs a side input that no scorer is named for.
        """
        for name in rule.required():
            if name == "similarity" and self.embedder is None:
                raise MissingExtra(f"rule {rule.name!r} (similarities of answers)", "embedded")
            if name in ("atypicality", "dropout") and name not in self.scorers:
                raise missing_side_input(f"rule {rule.name!r} needs {name!r}", name)

    def is_needed(self, rule: Rule) -> bool:
        """Whether a rule uses side inputs that have to be computed."""
        takes_prediction = self.predicts and PREDICTION in rule.inputs.takes
        takes_scores = bool(set(rule.inputs.takes) & set(self.scorers))
        return bool(rule.required()) or takes_scores or takes_prediction

    def compute(self, prompt: Prompt, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """Compute all side inputs that can be computed for one prompt's candidates.

        Args:
            prompt: The conversation.
            candidates: The candidates.

        Returns:
            Lists by the name of the side input, with one entry per candidate.

        Raises:
            InputError: If the scorer of dropout has no stochastic passes.
        """
        texts = [candidate.text for candidate in candidates]
        side: dict[str, Any] = {"tokens": [candidate.tokens for candidate in candidates]}
        side |= same_answers(texts, self.ignored_arguments)
        side |= copies_input(candidates)
        log_likelihoods = [candidate.log_likelihood for candidate in candidates]
        if None not in log_likelihoods:
            side["log_likelihood"] = log_likelihoods
        if self.embedder is not None:
            vectors = np.asarray(self.embedder.embed(texts), dtype=np.float64)
            side["similarity"] = np.round(vectors @ vectors.T, 9).tolist()
        pairs = [(prompt, text) for text in texts]
        for name, scorer in self.scorers.items():
            score = scorer.score
            if name == "dropout":
                score = _stochastic_passes(scorer)
            side[name] = np.asarray(score(pairs), dtype=np.float64).tolist()
        if self.text_judges is not None:
            side[PREDICTION] = _prediction(self.text_judges, prompt, texts)
        return side


def text_judges_of(method: Method) -> JudgeWeights | None:
    """The judgements of a method's calibration, if all of them are features of the texts."""
    if method.calibrations is None or len(method.calibrations.by_scorer) != 1:
        return None
    (calibration,) = method.calibrations.by_scorer.values()
    judges = calibration.judges
    if judges is None or not all(name.startswith(TEXT_PREFIX) for name in judges.weights):
        return None
    return judges


def _prediction(judges: JudgeWeights, prompt: Prompt, texts: Sequence[str]) -> list[float]:
    """What the texts of answers predict of their ratings, (K,)."""
    keys = [(prompt.id, str(place)) for place in range(len(texts))]
    by_key = {key: (prompt.question, text) for key, text in zip(keys, texts, strict=True)}
    numbers = judgements_of_texts(by_key).numbers
    features = {
        name: np.array([[numbers[name][key] for key in keys]], dtype=np.float64)
        for name in judges.weights
        if name in numbers
    }
    return [float(value) for value in judges.predict(features)[0]]


def _stochastic_passes(scorer: Scorer) -> Any:
    """The method of a scorer that scores pairs several times with dropout."""
    method = getattr(scorer, "samples", None)
    if method is None:
        raise InputError(
            f"scorer {scorer.name!r} has no stochastic passes", "such as dropout=dropout:MODEL"
        )
    return method


def parse_side_inputs(texts: Mapping[str, str]) -> SideInputMaker:
    """Make the side inputs of what users write after --side.

    Args:
        texts: The scorer of each side input by name; for same_call the text "without:NAME,...",
            which names arguments that do not count.

    Returns:
        What computes the side inputs.

    Raises:
        InputError: If there is no such side input, or its text cannot be used.
    """
    side_scorers: dict[str, Scorer] = {}
    ignored_arguments: tuple[str, ...] = ()
    for name, text in texts.items():
        if name not in SIDE_SCORERS:
            raise InputError(
                f"--side {name}: there is no such side input", f"one of {', '.join(SIDE_SCORERS)}"
            )
        if name == "same_call":
            ignored_arguments = _parse_ignored_arguments(name, text)
        else:
            side_scorers[name] = scorers.make(text)
    embedder = None
    if installed():
        embedder = Embeddings()
    return SideInputMaker(side_scorers, embedder, ignored_arguments)


def _parse_ignored_arguments(name: str, text: str) -> tuple[str, ...]:
    keyword, _, names = text.partition(":")
    if keyword != "without" or not names:
        raise InputError(f"--side {name}={text} cannot be used", "write without:NAME")
    return tuple(argument.strip() for argument in names.split(","))
