"""Scorers called with patience: checked, tried again, timed, and not asked twice."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from darc.errors import DarcError, InputError, MissingExtra
from darc.pipeline.score_cache import ScoreCache, keys_of
from darc.scorers.base import Scorer
from darc.types import Prompt

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]

RESUME = "mend it and run again: what is written stays"


@dataclass(frozen=True)
class Patience:
    """How often a scorer is asked for the same texts, how long it may take, and the waits."""

    attempts: int = 3
    seconds: float = 600.0
    wait: float = 1.0
    sleep: Callable[[float], None] = time.sleep


@dataclass
class Scoring:
    """Some scorers, with what they have been asked; a kept score is not asked for again."""

    scorers: Sequence[Scorer]
    cache: ScoreCache | None = None
    patience: Patience = field(default_factory=Patience)
    asked: int = 0
    kept: int = 0

    def score(self, prompt: Prompt, texts: Sequence[str]) -> Array:
        """The scores of texts, (texts, M); equal texts are scored once."""
        unique = list(dict.fromkeys(texts))
        table = np.empty((len(unique), len(self.scorers)))
        for column, scorer in enumerate(self.scorers):
            table[:, column] = self._column(scorer, prompt, unique)
        place = {text: row for row, text in enumerate(unique)}
        return table[[place[text] for text in texts]]

    def _column(self, scorer: Scorer, prompt: Prompt, texts: list[str]) -> Array:
        if self.cache is None or not scorer.version:
            self.asked += len(texts)
            return patient_scores(scorer, prompt, texts, self.patience)
        keys = keys_of(scorer.name, scorer.version, prompt, texts)
        known = self.cache.known(keys)
        missing = [place for place, key in enumerate(keys) if key not in known]
        if missing:
            fresh = patient_scores(scorer, prompt, [texts[i] for i in missing], self.patience)
            made = {keys[i]: float(score) for i, score in zip(missing, fresh, strict=True)}
            self.cache.keep(made)
            known.update(made)
        self.asked += len(missing)
        self.kept += len(texts) - len(missing)
        return np.array([known[key] for key in keys])


def patient_scores(
    scorer: Scorer, prompt: Prompt, texts: Sequence[str], patience: Patience
) -> Array:
    """A scorer's numbers for texts, (texts,), asked for again where it fails.

    The error after the last attempt names the scorer and the text that it fails on; a mistake of
    the user's is not tried again.
    """
    for attempt in range(1, patience.attempts + 1):
        try:
            return _asked(scorer, prompt, texts, patience)
        except (InputError, MissingExtra):
            raise
        except DarcError as problem:
            if attempt == patience.attempts:
                raise _narrowed(scorer, prompt, texts, patience, problem) from problem
            logger.warning("%s; trying again (%d of %d)", problem, attempt, patience.attempts)
            patience.sleep(patience.wait * 4 ** (attempt - 1))
    raise AssertionError("no attempt was made")


class TimedOut(DarcError):
    """A scorer did not answer in time."""


def _asked(scorer: Scorer, prompt: Prompt, texts: Sequence[str], patience: Patience) -> Array:
    """One call, checked."""
    where = f"scorer {scorer.name!r}, prompt {prompt.id!r}"
    answer = _in_time(lambda: scorer.score([(prompt, text) for text in texts]), patience.seconds)
    if isinstance(answer, TimeoutError):
        raise TimedOut(f"{where}: no answer within {patience.seconds:g} s", RESUME)
    if isinstance(answer, DarcError):
        raise answer
    if isinstance(answer, BaseException):
        raise DarcError(f"{where}: it failed ({answer or type(answer).__name__})", RESUME)
    try:
        numbers = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise DarcError(f"{where}: it returned no numbers", "return one a text") from None
    if numbers.shape != (len(texts),):
        raise DarcError(
            f"{where}: it returned an array of shape {numbers.shape} for {len(texts)} texts",
            "a scorer returns one number a text",
        )
    if not np.isfinite(numbers).all():
        text = texts[int(np.argmin(np.isfinite(numbers)))]
        raise DarcError(
            f"{where}: it gave no number for the text {shortened(text)}",
            "a scorer returns finite numbers",
        )
    return numbers


def _in_time(call: Callable[[], object], seconds: float) -> object:
    """What a call returns or raises, or a `TimeoutError`; a call that hangs is left behind."""
    result: list[object] = []

    def work() -> None:
        try:
            result.append(call())
        except BaseException as problem:
            result.append(problem)

    worker = threading.Thread(target=work, name="darc-scorer", daemon=True)
    worker.start()
    worker.join(seconds)
    return result[0] if result else TimeoutError()


def _narrowed(
    scorer: Scorer, prompt: Prompt, texts: Sequence[str], patience: Patience, problem: DarcError
) -> DarcError:
    """The same error, with the text that brings it about where one alone does."""
    if len(texts) > 1 and not isinstance(problem, TimedOut):
        for text in texts:
            try:
                _asked(scorer, prompt, [text], patience)
            except DarcError as narrow:
                message = narrow.message
                if shortened(text) not in message:
                    message = f"{message}, text {shortened(text)}"
                return DarcError(message, RESUME)
    return problem


def shortened(text: str) -> str:
    """The beginning of a text, quoted."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
