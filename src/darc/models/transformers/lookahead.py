"""Greedy rollouts of several next tokens at once, on a shared key-value cache."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from darc.models.transformers.loading import Loaded


@dataclass
class LookaheadPrefix:
    """A prompt with what was written so far: the cache over it and what may follow.

    `logs` (V,) are the log-probabilities of the next token at temperature 1; `forwarded` counts
    the tokens that went through the model for this prefix and its rollouts.
    """

    loaded: Loaded
    cache: Any
    logs: Any
    length: int
    forwarded: int

    @classmethod
    def start(cls, loaded: Loaded, prompt: Sequence[int]) -> "LookaheadPrefix":
        """The prefix that is the prompt alone; one forward pass over it."""
        ids = torch.tensor([list(prompt)], device=loaded.device)
        with torch.inference_mode():
            out = loaded.model(input_ids=ids, use_cache=True)
        return cls(loaded, out.past_key_values, _logs(out)[0], len(prompt), len(prompt))

    def likeliest(self, k: int) -> tuple[list[int], list[float]]:
        """The k likeliest next tokens, the likeliest first, and their log-probabilities."""
        values, ids = self.logs.topk(min(k, self.logs.shape[-1]))
        return ids.tolist(), values.double().tolist()

    def rollouts(self, first: Sequence[int], steps: int, ends: Sequence[int]) -> list[list[int]]:
        """Each first token with its greedy continuation of at most `steps` tokens.

        One batch for all, on a copy of the cache; a rollout stops at an end token, which is not
        part of it.
        """
        rows = [[token] for token in first]
        done = [token in ends for token in first]
        cache = copy.deepcopy(self.cache)
        cache.batch_repeat_interleave(len(first))
        ids = torch.tensor(rows, device=self.loaded.device)
        for _ in range(steps):
            if all(done):
                break
            with torch.inference_mode():
                out = self.loaded.model(input_ids=ids, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            ids = out.logits[:, -1].argmax(-1, keepdim=True)
            self.forwarded += len(first)
            for place, token in enumerate(ids[:, 0].tolist()):
                done[place] = done[place] or token in ends
                if not done[place]:
                    rows[place].append(token)
        return [row if row[0] not in ends else [] for row in rows]

    def advance(self, token: int) -> None:
        """Put a token behind the prefix; one forward pass over it."""
        ids = torch.tensor([[token]], device=self.loaded.device)
        with torch.inference_mode():
            out = self.loaded.model(input_ids=ids, past_key_values=self.cache, use_cache=True)
        self.cache, self.logs = out.past_key_values, _logs(out)[0]
        self.length += 1
        self.forwarded += 1


def _logs(out: Any) -> Any:
    """Log-probabilities of the next token, (rows, V)."""
    return out.logits[:, -1].float().log_softmax(-1)
