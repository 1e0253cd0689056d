"""inspect_ai: a solver that answers with DARC's choice, and a reducer of scores over epochs."""

from typing import Any

import numpy as np
from inspect_ai.scorer import Score, ScoreReducer, score_reducer
from inspect_ai.scorer import value_to_float as to_float
from inspect_ai.solver import Generate, Solver, TaskState, solver

from darc.decide.statistics.summary import statistics
from darc.engine.engine import Engine
from darc.types import Message, Prompt

ROLES = ("system", "user", "assistant")


@solver
def best_of(k: int = 8, **options: Any) -> Solver:
    """Generate `k` answers and keep the one that DARC chooses; `options` are `Engine`'s."""
    engine = Engine(**options)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        import anyio
        from inspect_ai.model import get_model

        said = [m for m in state.messages if m.role in ROLES and m.text]
        messages = tuple(Message(each.role, each.text) for each in said)
        prompt = Prompt(str(state.sample_id), messages)
        made = [await get_model().generate(state.messages) for _ in range(k)]
        texts = [each.completion for each in made]
        outcome = await anyio.to_thread.run_sync(engine.choose, prompt, texts)
        state.output = made[outcome.index]
        state.messages.append(state.output.message)
        state.metadata["darc"] = {"index": outcome.index, "explanation": outcome.explain()}
        return state

    return solve


@score_reducer(name="darc_value")
def entropic_value(beta: float = 1.0) -> ScoreReducer:
    """The entropic value of a sample's scores over epochs: the mean less a risk premium."""
    number = to_float()

    def reduce(scores: list[Score]) -> Score:
        values = np.array([number(score.value) for score in scores], dtype=float)
        found = statistics(values[None, :], beta)
        last = scores[-1]
        return Score(
            value=float(found.value[0]),
            answer=last.answer,
            explanation=last.explanation,
            metadata={"mean": float(values.mean()), "sigma": float(found.sigma[0])},
        )

    return reduce
