"""How tokens are drawn, and when an answer ends, within the library's greedy decoding.

Sampling is Gumbel-max: the token with the largest logit + Gumbel noise is a draw from the softmax.
With the noise of a row from its own seed, a row's text does not depend on the rows beside it.
"""

from collections.abc import Sequence
from typing import Any

from darc.models.completion import Request


class Sampler:
    """A logits processor for greedy decoding: temperature, top-p, then each row's noise.

    It remembers the log-probability, at temperature 1, of the token that every row takes. Draws one
    number per row, step and entry of the vocabulary.

    Args:
        requests: One per row.
        device: Where the logits are.
    """

    def __init__(self, requests: Sequence[Request], device: Any) -> None:
        import torch

        temperatures = [request.temperature for request in requests]
        temperature = torch.tensor(temperatures, dtype=torch.float32)
        is_greedy = temperature == 0
        top_p = [1.0 if request.temperature == 0 else request.top_p for request in requests]
        self._greedy = is_greedy[:, None].to(device)
        self._temperature = torch.where(is_greedy, 1.0, temperature)[:, None].to(device)
        self._top_p = torch.tensor(top_p, dtype=torch.float32)[:, None].to(device)
        self._generators = [torch.Generator().manual_seed(request.seed) for request in requests]
        self._log_probabilities: list[Any] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores (rows, vocabulary) whose largest entry in each row is the token to take."""
        import torch

        noise = self._gumbel_noise(scores.shape).to(scores.device)
        noised = nucleus(scores / self._temperature, self._top_p)
        noised = noised + torch.where(self._greedy, 0.0, noise)
        chosen = noised.argmax(-1, keepdim=True)
        log_probabilities = scores.gather(-1, chosen) - scores.logsumexp(-1, keepdim=True)
        self._log_probabilities.append(log_probabilities[:, 0].double().cpu())
        return noised

    def _gumbel_noise(self, shape: Any) -> Any:
        """Standard Gumbel noise, drawn on the CPU whatever the device."""
        import torch

        noise = torch.empty(shape, dtype=torch.float64)
        for row, generator in zip(noise, self._generators, strict=True):
            row.exponential_(generator=generator)
        return noise.log_().neg_().float()

    @property
    def log_probabilities(self) -> Any:
        """The log-probabilities of the tokens taken so far, shape (rows, steps)."""
        import torch

        return torch.stack(self._log_probabilities, dim=1)


def nucleus(scores: Any, top_p: Any) -> Any:
    """Keep the likeliest tokens.

    Args:
        scores: Logits, shape (rows, vocabulary).
        top_p: The probability that the smallest set of likeliest tokens reaches, shape (rows, 1).

    Returns:
        The logits with -inf outside that set.
    """
    if bool((top_p >= 1).all()):
        return scores
    sorted_scores, order = scores.sort(descending=True, dim=-1)
    probabilities = sorted_scores.softmax(-1)
    mass_before = probabilities.cumsum(-1) - probabilities
    outside = (mass_before >= top_p) & (top_p < 1)
    outside[:, 0] = False
    return scores.masked_fill(outside.scatter(-1, order, outside), float("-inf"))


class StoppingRule:
    """A stopping criterion: a row ends at its token limit or after one of its stop strings.

    Args:
        requests: One per row.
        limits: The most tokens of each row.
        tokenizer: The tokenizer.
    """

    def __init__(self, requests: Sequence[Request], limits: Sequence[int], tokenizer: Any) -> None:
        self._requests = requests
        self._tokenizer = tokenizer
        self._steps = 0
        #: The most tokens of each row; those of a row that was stopped are counted to there.
        self.lengths = list(limits)
        #: Whether each row was ended by a stop string.
        self.stopped = [False] * len(requests)

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        """Whether each row is done, shape (rows,)."""
        import torch

        self._steps += 1
        for place, request in enumerate(self._requests):
            if request.stop and self._steps <= self.lengths[place]:
                text = self._tokenizer.decode(input_ids[place, -self._steps :])
                if any(stop in text for stop in request.stop):
                    self.lengths[place] = self._steps
                    self.stopped[place] = True
        done = [self._steps >= length for length in self.lengths]
        return torch.tensor(done, device=input_ids.device)
