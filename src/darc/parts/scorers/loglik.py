"""The scorer `loglik`: how likely a language model finds an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from darc.models.transformers.batching import prompt_ids, tokenize
from darc.parts.scorers import model_scorer
from darc.parts.scorers.base import Pair, require_finite
from darc.parts.scorers.model_scorer import ModelScorer
from darc.registry import scorer
from darc.typing import Array

SOURCES = ("loglik.py", *model_scorer.SOURCES)
# The lower bound of the mean log-probability of a token.
_MIN_LOG_PROBABILITY = -20.0


@scorer("loglik", "MODEL")
@dataclass(eq=False, repr=False, kw_only=True)
class LogLikelihood(ModelScorer):
    """The mean log-probability of an answer's tokens given the prompt, in nats; or their sum.

    The end of the answer, as a token, is not counted. At most `max_length` tokens are read: a
    longer prompt loses its beginning, but keeps half of them; a longer answer loses its end. An
    answer without tokens gets the lower bound.
    """

    #: Whether the score is the sum of the log-probabilities instead of their mean.
    sum: bool = False

    prefix = "loglik"
    sources = SOURCES

    def __post_init__(self) -> None:
        super().__post_init__()
        lowest = _MIN_LOG_PROBABILITY
        if self.sum:
            lowest *= self.max_length
        self.bounds = (lowest, 0.0)

    def _version_options(self) -> tuple[object, ...]:
        return self.sum, "prefix"

    def score(self, pairs: Sequence[Pair]) -> Array:
        """Score pairs with numbers of at most 0, (pairs,).

        Rows of similar length share a forward pass, and a prompt is read once for all its answers.
        """
        from darc.models.transformers.scoring import fit_to_limit, token_sums

        if not pairs:
            return np.empty(0)
        loaded = self.checkpoint.loaded
        tokenizer = loaded.tokenizer
        limit = self.row_limit(loaded)
        rows = [
            fit_to_limit(prompt_ids(tokenizer, prompt.messages), tokenize(tokenizer, answer), limit)
            for prompt, answer in pairs
        ]
        sums = np.array(token_sums(loaded, rows, self.batch_tokens(loaded)))
        counts = np.array([len(answer) for _, answer in rows])
        scores = sums
        if not self.sum:
            scores = sums / np.maximum(counts, 1)
        return require_finite(np.where(counts == 0, self.bounds[0], scores), self.name)
