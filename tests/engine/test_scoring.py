import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from tests.engine.makers import Lengths

from darc.engine.cost import CallCounts
from darc.engine.scoring import ScorerRetry, ScoreRunner
from darc.engine.tools import Tools
from darc.engine.workers import Workers
from darc.errors import DarcError, InputError
from darc.parts.ready import as_ready_rewriter, as_ready_scorer
from darc.parts.rewriters import RulesRewriter
from darc.types import Message, Prompt

PROMPT = Prompt("tides", (Message("user", "Why are there two high tides a day?"),))


class Failing(Lengths):
    """Does what it is told, once a call."""

    def __init__(self, *answers: Any) -> None:
        super().__init__("odd")
        self._answers = list(answers)
        self.calls = 0

    def score(self, pairs: Any) -> Any:
        self.calls += 1
        answer = self._answers[min(self.calls, len(self._answers)) - 1]
        return answer(pairs)


def raising(pairs: Any) -> Any:
    raise RuntimeError("out of memory")


def nothing(pairs: Any) -> Any:
    return np.full(len(pairs), np.nan)


def fine(pairs: Any) -> Any:
    return np.arange(len(pairs), dtype=float)


def only_short(pairs: Any) -> Any:
    if any(len(text) > 5 for _, text in pairs):
        raise RuntimeError("too long")
    return fine(pairs)


def patience(waits: list[float] | None = None, seconds: float = 60.0) -> ScorerRetry:
    noted = [] if waits is None else waits

    async def sleep(pause: float) -> None:
        noted.append(pause)

    return ScorerRetry(attempts=3, seconds=seconds, wait=1.0, sleep=sleep)


def patient_scores(scorer: Any, prompt: Prompt, texts: list[str], patience: ScorerRetry) -> Any:
    tools = Tools(as_ready_rewriter(RulesRewriter()), [as_ready_scorer(scorer)])
    scoring = ScoreRunner(tools.scorers, Workers(tools), retry=patience)
    return asyncio.run(scoring.score_texts(0, prompt, texts, "owner", CallCounts()))


@pytest.mark.parametrize("first", [raising, nothing, lambda pairs: [1.0], lambda pairs: ["x"] * 2])
def test_failure_is_tried_again(first: Any) -> None:
    waits: list[float] = []
    scorer = Failing(first, first, fine)
    assert patient_scores(scorer, PROMPT, ["a", "b"], patience(waits)).tolist() == [0, 1]
    assert scorer.calls == 3
    assert waits == [1.0, 4.0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (nothing, "it gave no number for the text 'one'"),
        (lambda pairs: np.zeros(len(pairs) + 1), "an array of shape (2,) for 1 texts, text 'one'"),
        (raising, "it failed (out of memory), text 'one'"),
        (only_short, "it failed (too long), text 'a longer text'"),
        (lambda pairs: [None] * len(pairs), "it gave no number for the text 'one'"),
    ],
)
def test_scorer_that_goes_on_failing_is_named_with_the_text(answer: Any, words: str) -> None:
    with pytest.raises(DarcError) as caught:
        patient_scores(Failing(answer), PROMPT, ["one", "two", "a longer text"], patience())
    assert str(caught.value).startswith("scorer 'odd', prompt 'tides': ")
    assert words in str(caught.value)
    assert "run again" in str(caught.value)


def test_scorer_that_hangs_is_given_up() -> None:
    stop = threading.Event()
    scorer = Failing(lambda pairs: stop.wait(30))
    with pytest.raises(DarcError, match=r"scorer 'odd', prompt 'tides': no answer within 0.05 s"):
        patient_scores(scorer, PROMPT, ["one", "two"], patience(seconds=0.05))
    assert scorer.calls == 3
    stop.set()


def test_mistake_of_the_user_is_not_tried_again() -> None:
    def refuse(pairs: Any) -> Any:
        raise InputError("no such model", "name another")

    scorer = Failing(refuse)
    with pytest.raises(InputError, match="no such model"):
        patient_scores(scorer, PROMPT, ["one"], patience())
    assert scorer.calls == 1
