"""DSPy: a module that runs another one several times and keeps the prediction that DARC chooses."""

import asyncio
from collections.abc import Sequence
from typing import Any

import dspy

from darc.engine.engine import Engine
from darc.types import Message, Prompt


class BestOfModule(dspy.Module):
    """Runs a module several times at temperature 1 and returns one prediction.

    `prediction.darc` says which prediction it is and why.

    Args:
        module: The module to run.
        k: How often to run it.
        field: The output whose texts are compared; by default the last one of the signature. The
            inputs are the question.
        options: Options of `Engine`.
    """

    def __init__(self, module: dspy.Module, k: int = 8, field: str = "", **options: Any) -> None:
        super().__init__()
        self.module = module
        self.k = k
        self.field = field
        self.engine = Engine(**options)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Return the chosen prediction."""
        predictions = [copy(**inputs) for copy in self._copies()]
        return self.engine.run(self._choose(inputs, predictions))

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """`forward`, awaited: the runs are made at the same time."""
        predictions = await asyncio.gather(*(copy.acall(**inputs) for copy in self._copies()))
        return await asyncio.to_thread(self.engine.run, self._choose(inputs, predictions))

    def _copies(self) -> list[dspy.Module]:
        """Copies of the module with different rollouts, so that DSPy's cache keeps them apart."""
        model = self.module.get_lm() or dspy.settings.lm
        copies = []
        for rollout in range(self.k):
            copy = self.module.deepcopy()
            copy.set_lm(model.copy(rollout_id=rollout, temperature=1.0))
            copies.append(copy)
        return copies

    async def _choose(
        self, inputs: dict[str, Any], predictions: Sequence[dspy.Prediction]
    ) -> dspy.Prediction:
        field = self.field or list(predictions[0].keys())[-1]
        texts = [str(prediction[field]) for prediction in predictions]
        question = "\n".join(f"{name}: {value}" for name, value in inputs.items())
        prompt = Prompt("question", (Message("user", question),))
        outcome = await self.engine.choose_async(prompt, texts)
        chosen = predictions[outcome.place]
        chosen.darc = {"index": outcome.place, "explanation": outcome.explain()}
        return chosen
