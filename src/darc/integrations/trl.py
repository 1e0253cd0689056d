"""TRL: a reward function for its online trainers, which rewards what few would be unhappy with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from darc.engine.engine import Engine
from darc.parts.generators.base import as_prompt
from darc.types import Message, Prompt

Turns = str | Sequence[dict[str, str]]


def reward(statistic: str = "value", **options: Any) -> Callable[..., list[float]]:
    """A function of prompts and completions for `GRPOTrainer(reward_funcs=...)`.

    A completion's reward is a statistic of its samples, by default the entropic value of the
    completion and its rewrites; the mean over scorers is taken. `options` are `Engine`'s.
    """
    engine = Engine(**options)

    def darc_reward(
        prompts: Sequence[Turns], completions: Sequence[Turns], **_: Any
    ) -> list[float]:
        made = []
        for prompt, completion in zip(prompts, completions, strict=True):
            text = completion if isinstance(completion, str) else completion[-1]["content"]
            if isinstance(prompt, str):
                asked = as_prompt(prompt)
            else:
                turns = (Message(turn["role"], turn["content"]) for turn in prompt)
                asked = Prompt("question", tuple(turns))
            outcome = engine.choose(asked, [text], score_everything=True)
            assert outcome.decision is not None
            made.append(float(np.asarray(getattr(outcome.decision.statistics, statistic))[0]))
        return made

    return darc_reward
