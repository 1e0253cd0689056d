"""inspect_ai: a solver that answers with DARC's choice, and a reducer of scores over epochs."""

from typing import Any

import numpy as np
from inspect_ai.scorer import Score, ScoreReducer, score_reducer
from inspect_ai.scorer import value_to_float as to_float
from inspect_ai.solver import Generate, Solver, TaskState, solver

from darc.decide.statistics.summary import statistics
from darc.engine.engine import Engine
from darc.types import Message, Prompt

_ROLES = ("system", "user", "assistant")


@solver
def best_of(k: int = 8, **options: Any) -> Solver:
    """A solver that generates several answers and keeps the one that DARC chooses.

    Args:
        k: How many answers to generate.
        options: Options of `Engine`.

    Returns:
        The solver, which writes the reason into the state's metadata as "darc".
    """
    engine = Engine(**options)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        import anyio
        from inspect_ai.model import get_model

        outputs = [await get_model().generate(state.messages) for _ in range(k)]
        texts = [output.completion for output in outputs]
        outcome = await anyio.to_thread.run_sync(engine.choose, _as_prompt(state), texts)
        state.output = outputs[outcome.place]
        state.messages.append(state.output.message)
        state.metadata["darc"] = {"index": outcome.place, "explanation": outcome.explain()}
        return state

    return solve


def _as_prompt(state: TaskState) -> Prompt:
    """The conversation of a sample; parts that are not text are left out."""
    messages = [
        Message(message.role, message.text)
        for message in state.messages
        if message.role in _ROLES and message.text
    ]
    return Prompt(str(state.sample_id), tuple(messages))


@score_reducer(name="darc_value")
def entropic_value(beta: float = 1.0) -> ScoreReducer:
    """A reducer that takes the entropic value of a sample's scores: the mean less a risk premium.

    Args:
        beta: The risk aversion.

    Returns:
        The reducer.
    """
    as_number = to_float()

    def reduce(scores: list[Score]) -> Score:
        values = np.array([as_number(score.value) for score in scores], dtype=float)
        summary = statistics(values[None, :], beta)
        last = scores[-1]
        return Score(
            value=float(summary.value[0]),
            answer=last.answer,
            explanation=last.explanation,
            metadata={"mean": float(values.mean()), "sigma": float(summary.sigma[0])},
        )

    return reduce
