"""DSPy: a module that runs another one several times and keeps the prediction that DARC chooses."""

import asyncio
from collections.abc import Sequence
from typing import Any

import dspy

from darc.engine.engine import Engine
from darc.types import Message, Prompt


class BestOfModule(dspy.Module):
    """Runs `module` `k` times at temperature 1 and returns one prediction.

    The texts of the output `field` are compared, by default the last one of the signature; the
    inputs are the question. `options` are `Engine`'s. `prediction.darc` says which and why.
    """

    def __init__(self, module: dspy.Module, k: int = 8, field: str = "", **options: Any) -> None:
        super().__init__()
        self.module, self.k, self.field = module, k, field
        self.engine = Engine(**options)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """The chosen prediction."""
        made = [copy(**inputs) for copy in self._copies()]
        return self.engine.run(self._chosen(inputs, made))

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """`forward`, awaited: the runs are made at the same time."""
        made = await asyncio.gather(*(copy.acall(**inputs) for copy in self._copies()))
        return await asyncio.to_thread(self.engine.run, self._chosen(inputs, made))

    def _copies(self) -> list[dspy.Module]:
        """The module with a rollout of its own each, so that DSPy's cache keeps them apart."""
        model = self.module.get_lm() or dspy.settings.lm
        copies = [self.module.deepcopy() for _ in range(self.k)]
        for rollout, each in enumerate(copies):
            each.set_lm(model.copy(rollout_id=rollout, temperature=1.0))
        return copies

    async def _chosen(
        self, inputs: dict[str, Any], made: Sequence[dspy.Prediction]
    ) -> dspy.Prediction:
        field = self.field or list(made[0].keys())[-1]
        question = "\n".join(f"{name}: {value}" for name, value in inputs.items())
        prompt = Prompt("question", (Message("user", question),))
        outcome = await self.engine.choose_async(prompt, [str(each[field]) for each in made])
        chosen = made[outcome.index]
        chosen.darc = {"index": outcome.index, "explanation": outcome.explain()}
        return chosen
