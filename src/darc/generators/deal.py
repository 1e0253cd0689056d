"""Token-level decoding guided by a reward: DeAL, top-k lookahead."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.generators.base import Settings, candidate_seeds
from darc.models.completion import Report
from darc.models.transformers import Checkpoint, Loaded
from darc.models.transformers.batching import prompt_ids, tokens
from darc.registry import generator, scorers
from darc.types import Candidate, Message, Prompt


class Reward(Protocol):
    """What a scorer offers to the decoder."""

    @property
    def name(self) -> str:
        """The scorer's name."""

    @property
    def version(self) -> str:
        """What its scores depend on."""

    def score(self, pairs: Sequence[tuple[Prompt, str]]) -> NDArray[np.float64]:
        """One number a pair of prompt and answer, (n,)."""


@dataclass(frozen=True)
class Cost:
    """What decoding took: tokens through the model, rollouts, texts scored, seconds."""

    forward_tokens: int = 0
    rollouts: int = 0
    reward_calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        names = [field.name for field in fields(self)]
        return Cost(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True)
class Lookahead:
    """How the next token is chosen: argmax of log p(token) + g reward(text, token, rollout).

    Among the `k` likeliest tokens, each with a greedy rollout of `steps` tokens; at most
    `max_tokens` tokens are written, and the reward sees at most `reward_tokens`.
    """

    k: int = 8
    steps: int = 16
    g: float = 0.05
    max_tokens: int = 512
    reward_tokens: int = 256

    def __post_init__(self) -> None:
        """Refuse what cannot be decoded by."""
        if min(self.k, self.max_tokens) < 1 or self.steps < 0 or self.reward_tokens < 2:
            raise InputError(
                f"{self} cannot be used",
                "k and max_tokens are at least 1, lookahead at least 0, reward_tokens at least 2",
            )


class DealGenerator:
    """One answer a prompt by top-k lookahead; temperature, top-p and seed have no effect.

    A token costs k L + 1 tokens through the model and k rewards, against one token for ordinary
    decoding. `cost` sums up everything so far, `costs` holds the last `generate`'s by prompt id.
    The answer ends at the lookahead's token limit or the settings', whichever is lower.
    """

    def __init__(
        self, checkpoint: Checkpoint, reward: Reward, lookahead: Lookahead | None = None
    ) -> None:
        self.checkpoint = checkpoint
        self.reward = reward
        self.lookahead = lookahead or Lookahead()
        self.cost = Cost()
        self.costs: dict[str, Cost] = {}

    @property
    def name(self) -> str:
        """The model's name with "deal:" before it."""
        return f"deal:{self.checkpoint.source.text}"

    @property
    def max_tokens(self) -> int:
        """How many tokens it writes where nothing else is asked for."""
        return self.lookahead.max_tokens

    @property
    def version(self) -> str:
        """A hash of the weights, the reward and the lookahead; empty where one is unknown."""
        parts = (self.checkpoint.version, self.reward.version)
        if not all(parts):
            return ""
        text = repr((*parts, self.reward.name, self.lookahead))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def generate(
        self, prompts: Sequence[Prompt], settings: Settings, report: Report | None = None
    ) -> list[list[Candidate]]:
        """One candidate a prompt; more are refused."""
        if settings.k != 1:
            raise InputError(
                f"deal writes one answer a prompt, not {settings.k}", "use -k 1 with it"
            )
        self.costs = {}
        result = []
        for prompt in prompts:
            made, cost = self._answer(prompt, settings)
            self.costs[prompt.id] = cost
            self.cost += cost
            result.append([made])
            if report is not None:
                report(len(result), len(prompts))
        return result

    def close(self) -> None:
        """Free the model's memory."""
        self.checkpoint.close()

    def _answer(self, prompt: Prompt, settings: Settings) -> tuple[Candidate, Cost]:
        from darc.models.transformers.generation import LookaheadPrefix, decoded, end_tokens

        started = time.perf_counter()
        loaded, plan = self.checkpoint.loaded, self.lookahead
        ids = prompt_ids(loaded.tokenizer, prompt.messages)
        room = (loaded.context or 10**9) - len(ids) - plan.steps
        if room < 1:
            raise InputError(f"prompt {prompt.id!r} has {len(ids)} tokens", "shorten it")
        limit = min(plan.max_tokens, settings.tokens(plan.max_tokens), room)
        ends = end_tokens(loaded)
        asked = shortened(loaded, prompt, plan.reward_tokens // 2)
        left = max(plan.reward_tokens - size(loaded, asked), 1)
        prefix = LookaheadPrefix(loaded)
        prefix.read(ids)
        written: list[int] = []
        logs: list[float] = []
        rollouts, ended = 0, False
        while len(written) < limit and not ended:
            choices, chances = prefix.likeliest(plan.k)
            rolled = prefix.rollouts(choices, plan.steps, ends)
            rollouts += len(rolled)
            texts = [decoded(loaded.tokenizer, [*written, *row][-left:]) for row in rolled]
            rewards = self.reward.score([(asked, text) for text in texts])
            best = int(np.argmax(np.asarray(chances) + plan.g * np.asarray(rewards)))
            ended = choices[best] in ends
            if not ended:
                written.append(choices[best])
                logs.append(chances[best])
                if len(written) < limit:
                    prefix.read([choices[best]])
        (seed,) = candidate_seeds(settings, prompt.id)
        candidate = Candidate(
            prompt_id=prompt.id,
            index=0,
            text=decoded(loaded.tokenizer, written),
            tokens=len(written),
            truncated=not ended,
            log_likelihood=float(np.mean(logs)) if logs else None,
            seed=seed,
        )
        seconds = time.perf_counter() - started
        return candidate, Cost(prefix.forwarded, rollouts, rollouts, seconds)


def shortened(loaded: Loaded, prompt: Prompt, limit: int) -> Prompt:
    """The prompt as the reward sees it.

    As it is if it has at most `limit` tokens, else its last question's first `limit` alone.
    """
    if size(loaded, prompt) <= limit:
        return prompt
    ids = tokens(loaded.tokenizer, prompt.question)[:limit]
    question = str(loaded.tokenizer.decode(ids, skip_special_tokens=True))
    return Prompt(prompt.id, (Message("user", question),), prompt.category)


def size(loaded: Loaded, prompt: Prompt) -> int:
    """The tokens of a prompt's messages, without those of a chat template."""
    return sum(len(tokens(loaded.tokenizer, message.content)) for message in prompt.messages)


@generator("deal", "MODEL")
def deal(
    model: str,
    *,
    reward: str = "form",
    k: int = 8,
    lookahead: int = 16,
    g: float = 0.05,
    max_tokens: int = 512,
    reward_tokens: int = 256,
    base: str = "",
    dtype: str = "auto",
    device: str = "auto",
) -> DealGenerator:
    """Token by token, the best of the likeliest by a scorer of greedy rollouts (DeAL)."""
    judge: Any = scorers.make(reward)
    plan = Lookahead(k, lookahead, g, max_tokens, reward_tokens)
    return DealGenerator(Checkpoint(model, base=base, dtype=dtype, device=device), judge, plan)
