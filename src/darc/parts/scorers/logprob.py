"""The scorer `logprob`: how certain the model that wrote an answer was of it."""

from collections.abc import Sequence

import numpy as np

from darc.errors import InputError
from darc.parts.scorers.base import Pair, source_version
from darc.parts.scorers.scale import check_scale
from darc.registry import scorer
from darc.types import Written
from darc.typing import Array

SOURCES = ("logprob.py",)
_BOUNDS = (-20.0, 40.0)


@scorer("logprob")
class LogProb:
    """Self-certainty by the log-probabilities that came with an answer; it makes no call.

    Where the server returns the likeliest tokens at each place, the score is the mean over tokens
    of how far their probabilities are from uniform, in nats (arXiv 2502.18581); otherwise it is the
    mean log-probability of the tokens. It needs answers that a model has just written, and no
    rewrites (`--n-aug 0`).
    """

    name = "logprob"
    bounds = _BOUNDS
    batch_size = 64
    version = source_version(*SOURCES)
    #: Whether the generator is asked for the likeliest tokens.
    needs_log_probabilities = True

    def __init__(self, *, location: float | None = None, scale: float | None = None) -> None:
        checked = check_scale(self.name, location, scale, self.bounds)
        self.location = checked.location
        self.scale = checked.scale

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Read the certainty of each answer, (pairs,).

        Raises:
            InputError: If an answer came without log-probabilities.
        """
        return np.array([self._certainty(text) for _, text in pairs])

    def _certainty(self, text: str) -> float:
        certainty = getattr(text, "certainty", None) if isinstance(text, Written) else None
        if certainty is None:
            raise InputError(
                "the scorer logprob found an answer without log-probabilities",
                "let a server that returns them write the answers, and add --n-aug 0",
            )
        return float(np.clip(certainty, *self.bounds))
