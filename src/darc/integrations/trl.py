"""TRL: a reward function for its online trainers, which rewards what few would be unhappy with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from darc.engine.engine import Engine
from darc.parts.generators.inputs import as_prompt
from darc.types import Message, Prompt

#: A text, or messages.
Turns = str | Sequence[dict[str, str]]


def reward(statistic: str = "value", **options: Any) -> Callable[..., list[float]]:
    """Make a function of prompts and completions for `GRPOTrainer(reward_funcs=...)`.

    Args:
        statistic: Which statistic of a completion's samples is its reward; by default the entropic
            value of the completion and its rewrites. The mean over scorers is taken.
        options: Options of `Engine`.

    Returns:
        The function, which gives one reward per completion.
    """
    engine = Engine(**options)

    def darc_reward(
        prompts: Sequence[Turns], completions: Sequence[Turns], **_: Any
    ) -> list[float]:
        rewards = []
        for prompt, completion in zip(prompts, completions, strict=True):
            text = _text_of(completion)
            outcome = engine.choose(_as_prompt(prompt), [text], score_everything=True)
            assert outcome.decision is not None
            values = np.asarray(getattr(outcome.decision.statistics, statistic))
            rewards.append(float(values[0]))
        return rewards

    return darc_reward


def _text_of(completion: Turns) -> str:
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"]


def _as_prompt(prompt: Turns) -> Prompt:
    if isinstance(prompt, str):
        return as_prompt(prompt)
    messages = [Message(turn["role"], turn["content"]) for turn in prompt]
    return Prompt("question", tuple(messages))
