"""The generator `deal`: token-level decoding guided by a reward (DeAL, top-k lookahead)."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.models.completion import Report
from darc.models.transformers import Checkpoint, Loaded
from darc.models.transformers.batching import prompt_ids, tokenize
from darc.parts.generators.base import SamplingParameters, candidate_seeds
from darc.registry import generator, scorers
from darc.types import Candidate, Message, Prompt

# The context of a model that names none.
_UNLIMITED = 10**9


class Reward(Protocol):
    """What a scorer offers to the decoder."""

    @property
    def name(self) -> str:
        """The scorer's name."""

    @property
    def version(self) -> str:
        """What its scores depend on."""

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """Score pairs of prompt and answer, (pairs,)."""


@dataclass(frozen=True)
class Cost:
    """What decoding took."""

    #: The number of tokens that went through the model.
    forward_tokens: int = 0
    rollouts: int = 0
    #: The number of texts that the reward scored.
    reward_calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            forward_tokens=self.forward_tokens + other.forward_tokens,
            rollouts=self.rollouts + other.rollouts,
            reward_calls=self.reward_calls + other.reward_calls,
            seconds=self.seconds + other.seconds,
        )


@dataclass
class _Decoding:
    """The answer so far."""

    #: The prompt as the reward sees it, and how many tokens of the answer it sees.
    reward_prompt: Prompt
    reward_tokens: int
    tokens: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    rollouts: int = 0
    ended: bool = False


@generator("deal", "MODEL")
@dataclass(eq=False, repr=False)
class DealGenerator:
    """Writes token by token, the best of the likeliest by a scorer of greedy rollouts (DeAL).

    The next token is argmax of log p(token) + g reward(text, token, rollout) among the `k`
    likeliest, each with a greedy rollout of `lookahead` tokens: k L + 1 tokens through the model
    and k rewards, against one token for ordinary decoding. It writes one answer per prompt;
    temperature, top-p and seed have no effect.
    """

    model: str | Checkpoint
    _: KW_ONLY
    #: The scorer, or how users write it.
    reward: str | Reward = "form"
    #: How many of the likeliest tokens are compared.
    k: int = 8
    #: The number of tokens of a rollout.
    lookahead: int = 16
    #: The weight of the reward.
    g: float = 0.05
    #: An answer ends at this number of tokens or at that of the parameters, whichever is lower.
    max_tokens: int = 512
    #: The largest number of tokens that the reward sees.
    reward_tokens: int = 256
    base: str = ""
    dtype: str = "auto"
    device: str = "auto"

    def __post_init__(self) -> None:
        """Find the model, which is loaded at the first use, and make the reward."""
        if min(self.k, self.max_tokens) < 1 or self.lookahead < 0 or self.reward_tokens < 2:
            raise InputError(
                f"k={self.k}, lookahead={self.lookahead}, max_tokens={self.max_tokens}, "
                f"reward_tokens={self.reward_tokens} cannot be used",
                "k and max_tokens are at least 1, lookahead at least 0, reward_tokens at least 2",
            )
        if isinstance(self.model, str):
            self.checkpoint = Checkpoint(
                self.model, base=self.base, dtype=self.dtype, device=self.device
            )
        else:
            self.checkpoint = self.model
        self.judge: Reward
        if isinstance(self.reward, str):
            self.judge = scorers.make(self.reward)
        else:
            self.judge = self.reward
        self.name = f"deal:{self.checkpoint.source.text}"
        #: What everything so far has cost.
        self.cost = Cost()
        #: What each prompt of the last `generate` has cost, by prompt id.
        self.costs: dict[str, Cost] = {}

    @property
    def version(self) -> str:
        """A hash of the weights, the reward and the options; empty if one is unknown."""
        weights = self.checkpoint.version
        reward = self.judge.version
        if not weights or not reward:
            return ""
        options = (self.k, self.lookahead, self.g, self.max_tokens, self.reward_tokens)
        text = repr((weights, reward, self.judge.name, *options))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
    ) -> list[list[Candidate]]:
        """Write one candidate per prompt; see `Generator.generate`.

        Raises:
            InputError: If more than one candidate is asked for, or a prompt is too long.
        """
        if settings.k != 1:
            raise InputError(
                f"deal writes one answer per prompt, not {settings.k}", "use -k 1 with it"
            )
        self.costs = {}
        candidates: list[list[Candidate]] = []
        for prompt in prompts:
            candidates.append([self._answer(prompt, settings)])
            self.cost += self.costs[prompt.id]
            if report is not None:
                report(len(candidates), len(prompts))
        return candidates

    def close(self) -> None:
        """Free the model's memory."""
        self.checkpoint.close()

    def _answer(self, prompt: Prompt, settings: SamplingParameters) -> Candidate:
        """Answer one prompt, and note what it cost."""
        from darc.models.transformers.generation import decode
        from darc.models.transformers.lookahead import LookaheadPrefix

        started = time.perf_counter()
        loaded = self.checkpoint.loaded
        ids = prompt_ids(loaded.tokenizer, prompt.messages)
        room = (loaded.context or _UNLIMITED) - len(ids) - self.lookahead
        if room < 1:
            raise InputError(f"prompt {prompt.id!r} has {len(ids)} tokens", "shorten it")
        max_tokens = min(self.max_tokens, settings.tokens(self.max_tokens), room)
        reward_prompt = shorten_prompt(loaded, prompt, self.reward_tokens // 2)
        reward_tokens = max(self.reward_tokens - count_tokens(loaded, reward_prompt), 1)
        decoding = _Decoding(reward_prompt, reward_tokens)
        prefix = LookaheadPrefix(loaded)
        prefix.read(ids)
        while len(decoding.tokens) < max_tokens and not decoding.ended:
            self._add_token(loaded, prefix, decoding)
            if not decoding.ended and len(decoding.tokens) < max_tokens:
                prefix.read(decoding.tokens[-1:])
        log_likelihood = None
        if decoding.log_probabilities:
            log_likelihood = float(np.mean(decoding.log_probabilities))
        self.costs[prompt.id] = Cost(
            forward_tokens=prefix.forwarded,
            rollouts=decoding.rollouts,
            reward_calls=decoding.rollouts,
            seconds=time.perf_counter() - started,
        )
        (seed,) = candidate_seeds(settings, prompt.id)
        return Candidate(
            prompt_id=prompt.id,
            index=0,
            text=decode(loaded.tokenizer, decoding.tokens),
            tokens=len(decoding.tokens),
            truncated=not decoding.ended,
            log_likelihood=log_likelihood,
            seed=seed,
        )

    def _add_token(self, loaded: Loaded, prefix: Any, decoding: _Decoding) -> None:
        """Choose the next token by its probability and the reward of its rollout."""
        from darc.models.transformers.generation import decode, end_tokens

        ends = end_tokens(loaded)
        tokens, log_probabilities = prefix.likeliest(self.k)
        rollouts = prefix.rollouts(tokens, self.lookahead, ends)
        decoding.rollouts += len(rollouts)
        texts = [
            decode(loaded.tokenizer, [*decoding.tokens, *rollout][-decoding.reward_tokens :])
            for rollout in rollouts
        ]
        rewards = self.judge.score([(decoding.reward_prompt, text) for text in texts])
        values = np.asarray(log_probabilities) + self.g * np.asarray(rewards)
        best = int(np.argmax(values))
        if tokens[best] in ends:
            decoding.ended = True
            return
        decoding.tokens.append(tokens[best])
        decoding.log_probabilities.append(log_probabilities[best])


def shorten_prompt(loaded: Loaded, prompt: Prompt, max_tokens: int) -> Prompt:
    """Cut a prompt for the reward.

    Args:
        loaded: The model, whose tokenizer counts.
        prompt: The prompt.
        max_tokens: The largest number of tokens.

    Returns:
        The prompt if it has at most so many tokens, otherwise the beginning of its last question.
    """
    if count_tokens(loaded, prompt) <= max_tokens:
        return prompt
    ids = tokenize(loaded.tokenizer, prompt.question)[:max_tokens]
    question = str(loaded.tokenizer.decode(ids, skip_special_tokens=True))
    return Prompt(prompt.id, (Message("user", question),), prompt.category)


def count_tokens(loaded: Loaded, prompt: Prompt) -> int:
    """Count the tokens of a prompt's messages, without those of a chat template."""
    return sum(len(tokenize(loaded.tokenizer, message.content)) for message in prompt.messages)
