"""A text that is written token by token, with a look at what would follow each choice."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from darc.models.transformers.loading import Loaded


@dataclass
class LookaheadPrefix:
    """What was read so far, the prompt first."""

    loaded: Loaded
    #: The keys and values over what was read.
    cache: Any = None
    #: The log-probabilities of the next token at temperature 1, shape (vocabulary,).
    log_probabilities: Any = None
    #: How many tokens went through the model for this prefix and its rollouts.
    forwarded: int = 0

    def read(self, tokens: Sequence[int]) -> None:
        """Append tokens to the prefix; one forward pass over them."""
        output = self._forward([list(tokens)], self.cache)
        self.cache = output.past_key_values
        self.log_probabilities = output.logits[0, -1].float().log_softmax(-1)

    def likeliest(self, k: int) -> tuple[list[int], list[float]]:
        """The k likeliest next tokens, the likeliest first, and their log-probabilities."""
        count = min(k, self.log_probabilities.shape[-1])
        values, tokens = self.log_probabilities.topk(count)
        return tokens.tolist(), values.double().tolist()

    def rollouts(self, first: Sequence[int], steps: int, ends: Sequence[int]) -> list[list[int]]:
        """Continue the prefix greedily from several tokens, in one batch on a copy of the cache.

        Args:
            first: The first token of each rollout.
            steps: The most tokens that follow it.
            ends: The tokens that end a rollout, which are not part of it.

        Returns:
            The tokens of each rollout.
        """
        rows = [[token] for token in first]
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(len(first))
        for _ in range(steps):
            if all(set(ends).intersection(row) for row in rows):
                break
            output = self._forward([row[-1:] for row in rows], cache)
            cache = output.past_key_values
            next_tokens = output.logits[:, -1].argmax(-1).tolist()
            for row, token in zip(rows, next_tokens, strict=True):
                row.append(token)
        return [list(takewhile(lambda token: token not in ends, row)) for row in rows]

    def _forward(self, rows: Sequence[Sequence[int]], cache: Any) -> Any:
        import torch

        ids = torch.tensor(rows, device=self.loaded.device)
        self.forwarded += ids.numel()
        with torch.inference_mode():
            return self.loaded.model(input_ids=ids, past_key_values=cache, use_cache=True)
