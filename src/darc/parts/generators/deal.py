"""Token-level decoding guided by a reward: DeAL, top-k lookahead."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, astuple, dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from darc.errors import InputError
from darc.models.completion import Report
from darc.models.transformers import Checkpoint, Loaded
from darc.models.transformers.batching import prompt_ids, tokenize
from darc.parts.generators.base import SamplingParameters, candidate_seeds
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
        return Cost(*map(sum, zip(astuple(self), astuple(other), strict=True)))


@generator("deal", "MODEL")
@dataclass(eq=False, repr=False)
class DealGenerator:
    """Token by token, the best of the likeliest by a scorer of greedy rollouts (DeAL).

    The next token is argmax of log p(token) + g reward(text, token, rollout) among the `k`
    likeliest, each with a greedy rollout of `lookahead` tokens: k L + 1 tokens through the model
    and k rewards, against one token for ordinary decoding. One answer a prompt; temperature, top-p
    and seed have no effect. It ends at `max_tokens` or the settings' limit, whichever is lower, and
    the reward sees at most `reward_tokens`. `cost` sums up everything so far, `costs` holds the
    last `generate`'s by prompt id.
    """

    model: str | Checkpoint
    _: KW_ONLY
    reward: str | Reward = "form"
    k: int = 8
    lookahead: int = 16
    g: float = 0.05
    max_tokens: int = 512
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
        where = {"base": self.base, "dtype": self.dtype, "device": self.device}
        given = self.model
        self.checkpoint = Checkpoint(given, **where) if isinstance(given, str) else given
        self.judge: Reward = (
            scorers.make(self.reward) if isinstance(self.reward, str) else self.reward
        )
        self.name = f"deal:{self.checkpoint.source.text}"
        self.cost = Cost()
        self.costs: dict[str, Cost] = {}

    @property
    def version(self) -> str:
        """A hash of the weights, the reward and the options; empty where one is unknown."""
        parts = (self.checkpoint.version, self.judge.version)
        if not all(parts):
            return ""
        plan = (self.k, self.lookahead, self.g, self.max_tokens, self.reward_tokens)
        text = repr((*parts, self.judge.name, *plan))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def generate(
        self, prompts: Sequence[Prompt], settings: SamplingParameters, report: Report | None = None
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

    def _answer(self, prompt: Prompt, settings: SamplingParameters) -> tuple[Candidate, Cost]:
        from darc.models.transformers.generation import decode, end_tokens
        from darc.models.transformers.lookahead import LookaheadPrefix

        started = time.perf_counter()
        loaded = self.checkpoint.loaded
        ids = prompt_ids(loaded.tokenizer, prompt.messages)
        room = (loaded.context or 10**9) - len(ids) - self.lookahead
        if room < 1:
            raise InputError(f"prompt {prompt.id!r} has {len(ids)} tokens", "shorten it")
        limit = min(self.max_tokens, settings.tokens(self.max_tokens), room)
        ends = end_tokens(loaded)
        asked = shortened(loaded, prompt, self.reward_tokens // 2)
        left = max(self.reward_tokens - size(loaded, asked), 1)
        prefix = LookaheadPrefix(loaded)
        prefix.read(ids)
        written: list[int] = []
        logs: list[float] = []
        rollouts, ended = 0, False
        while len(written) < limit and not ended:
            choices, chances = prefix.likeliest(self.k)
            rolled = prefix.rollouts(choices, self.lookahead, ends)
            rollouts += len(rolled)
            texts = [decode(loaded.tokenizer, [*written, *row][-left:]) for row in rolled]
            rewards = self.judge.score([(asked, text) for text in texts])
            best = int(np.argmax(np.asarray(chances) + self.g * np.asarray(rewards)))
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
            text=decode(loaded.tokenizer, written),
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
    ids = tokenize(loaded.tokenizer, prompt.question)[:limit]
    question = str(loaded.tokenizer.decode(ids, skip_special_tokens=True))
    return Prompt(prompt.id, (Message("user", question),), prompt.category)


def size(loaded: Loaded, prompt: Prompt) -> int:
    """The tokens of a prompt's messages, without those of a chat template."""
    return sum(len(tokenize(loaded.tokenizer, message.content)) for message in prompt.messages)
