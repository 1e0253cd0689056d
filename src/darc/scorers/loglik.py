"""How likely a language model finds an answer."""

from collections.abc import Sequence

import numpy as np

from darc.errors import InputError
from darc.models.transformers import Checkpoint
from darc.models.transformers.batching import answer_ids, prompt_ids
from darc.registry import scorer
from darc.scorers.base import Pair, finite, in_transformers, source_version
from darc.typing import Array

SOURCES = ("loglik.py", *in_transformers("batching", "likelihood", "loading", "prefix"))
LEAST = -20.0


@scorer("loglik", "MODEL")
class LogLikelihood:
    """The mean log-probability of an answer's tokens given the prompt, in nats; or their sum.

    The end of the answer, as a token, is not counted. At most `max_length` tokens are read: a
    longer prompt loses its beginning, but keeps half of them; a longer answer loses its end. An
    answer without tokens gets the lower bound.
    """

    def __init__(
        self,
        model: str,
        *,
        name: str = "",
        sum: bool = False,  # noqa: A002 - the option's name
        max_length: int = 1024,
        batch_size: int = 16,
        location: float | None = None,
        scale: float | None = None,
        base: str = "",
        dtype: str = "auto",
        device: str = "auto",
    ) -> None:
        if max_length < 8 or batch_size < 1:
            raise InputError(
                f"max_length={max_length}, batch_size={batch_size} cannot be used",
                "at least 8 tokens and 1 row",
            )
        self.name = name or f"loglik:{model}"
        self.sum = sum
        self.max_length = max_length
        self.batch_size = batch_size
        self.location = location
        self.scale = scale
        self.bounds = (LEAST * (max_length if sum else 1), 0.0)
        self.checkpoint = Checkpoint(model, base=base, dtype=dtype, device=device)

    @property
    def version(self) -> str:
        """A hash of the weights, with everything else that the scores depend on.

        Its ending stands for prompts that are read once, whose scores round differently.
        """
        weights = self.checkpoint.version
        code = source_version(*SOURCES)
        return f"{weights}-{code}-{self.max_length}-{self.sum}-prefix" if weights else ""

    def score(self, pairs: Sequence[Pair]) -> Array:
        """One number of at most 0 a pair, (n,); rows of similar length share a forward pass.

        A prompt is read once for all its answers.
        """
        from darc.models.transformers.batching import most_tokens
        from darc.models.transformers.likelihood import fit, token_sums

        if not pairs:
            return np.empty(0)
        loaded = self.checkpoint.loaded
        limit = min(self.max_length, loaded.context or self.max_length)
        rows = [
            fit(
                prompt_ids(loaded.tokenizer, prompt.messages),
                answer_ids(loaded.tokenizer, answer),
                limit,
            )
            for prompt, answer in pairs
        ]
        most = most_tokens(self.batch_size, limit, loaded.device)
        sums = np.array(token_sums(loaded, rows, most))
        counts = np.array([len(answer) for _, answer in rows])
        scores = sums if self.sum else sums / np.maximum(counts, 1)
        return finite(np.where(counts == 0, self.bounds[0], scores), self.name)

    def close(self) -> None:
        """Free the model's memory."""
        self.checkpoint.close()
