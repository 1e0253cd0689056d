import asyncio
import gc
import json
from collections.abc import Awaitable
from typing import Any

import numpy as np
import pytest
from tests.engine.makers import Words
from tests.fakes import FakeServer, Fault
from tests.helpers import run_command

from darc.engine.engine import Engine
from darc.engine.stopping import (
    Stopping,
)
from darc.engine.waves import WaveDrawing
from darc.errors import DarcError
from darc.parts.generators.base import SamplingParameters, candidate_seeds
from darc.types import Candidate, Message, Prompt


class Grades:
    """The number that a text holds; location 0 and scale 1."""

    name = "grades"
    version = ""
    location = 0.0
    scale = 1.0
    bounds = (-10.0, 10.0)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, pairs: Any) -> Any:
        self.asked += [text for _, text in pairs]
        return np.array([float(text.split()[-1]) for _, text in pairs])


def grading(server: FakeServer, grades: list[float], name: str = "question") -> None:
    """Let the answer with candidate i's seed hold grade i."""
    seeds = candidate_seeds(SamplingParameters(k=len(grades)), name)
    server.reply = lambda body, _: f"Answer {grades[seeds.index(body['seed'])]}"


def engine_for(server: FakeServer, scorer: Any, k: int, stop: str, **options: Any) -> Engine:
    model = f"openai:fake@{server.url},key_env=,n=false"
    given: dict[str, Any] = {
        "sampling": SamplingParameters(k=k),
        "n_aug": 0,
        "rule": "mean",
        "guard": False,
    }
    return Engine(model, scorers=[scorer], stop=stop, **{**given, **options})


EXCELLENT = [0.1, 6.0, 0.2, -0.3, 0.4, 0.0, 0.3, 0.7, -0.1, 0.25, 0.6, 0.5]


def test_excellent_early_answers_end_the_writing(openai_server: FakeServer) -> None:
    grading(openai_server, EXCELLENT)
    scorer = Grades()
    with engine_for(openai_server, scorer, 12, "pandora") as engine:
        outcome = engine.ask("Which grade?")
        assert [each.text for each in outcome.candidates] == ["Answer 0.1", "Answer 6.0"]
        assert [each.index for each in outcome.candidates] == [0, 1]
        assert (outcome.index, outcome.saved) == (1, 10)
        assert "stopped_early" in outcome.flags
        assert "not worth their cost" in outcome.explain()
        # A wave of three, whose last answer may have come before the others were scored.
        assert 2 <= len(openai_server.received) <= 3
        # What was scored while writing is not asked for again, and is counted.
        assert scorer.asked.count("Answer 6.0") == 1
        assert 2 <= len(scorer.asked) <= outcome.calls <= 3
        seeds = candidate_seeds(SamplingParameters(k=12), "question")
        assert [each.seed for each in outcome.candidates] == seeds[:2]
        assert len(engine.ask("Which grade?", n=3).candidates) == 3


def test_everything_is_written_where_it_costs_nothing(openai_server: FakeServer) -> None:
    grading(openai_server, EXCELLENT)
    with engine_for(openai_server, Grades(), 12, "pandora:cost=0") as engine:
        outcome = engine.ask("Which grade?")
    with engine_for(openai_server, Grades(), 12, "none") as engine:
        plain = engine.ask("Which grade?")
    assert list(outcome.candidates) == list(plain.candidates)
    assert (outcome.saved, outcome.calls, outcome.index) == (0, 12, plain.index)
    assert "stopped_early" not in outcome.flags


def test_open_requests_are_cancelled(openai_server: FakeServer) -> None:
    grading(openai_server, EXCELLENT)
    openai_server.latency = 0.2
    with engine_for(openai_server, Grades(), 12, "pandora:wave=12") as engine:
        seeds = candidate_seeds(SamplingParameters(k=12), "question")
        reply = openai_server.reply
        assert reply is not None

        def slowly(body: dict[str, Any], index: int) -> str:
            if body["seed"] in seeds[2:]:
                openai_server.closing.wait(20)
            return reply(body, index)

        openai_server.reply = slowly
        outcome = engine.ask("Which grade?")
        openai_server.closing.set()
    assert len(outcome.candidates) == 2
    assert outcome.milliseconds["generate"] < 10_000


def test_failures_end_it_plainly(openai_server: FakeServer) -> None:
    grading(openai_server, EXCELLENT)
    scorer = Grades()
    scorer.score = lambda pairs: np.full(len(pairs), np.nan)  # type: ignore[method-assign]
    from darc.engine.scoring import ScorerRetry

    once = ScorerRetry(attempts=1)
    with engine_for(openai_server, scorer, 12, "pandora", retry=once) as engine:
        with pytest.raises(DarcError, match="it gave no number"):
            engine.ask("Which grade?")
        outcome = engine.ask("Which grade?", strict=False)
        assert len(outcome.candidates) == 12
    openai_server.faults = [Fault(status=400, message="no such model")] * 9
    with (
        engine_for(openai_server, Grades(), 12, "pandora") as engine,
        pytest.raises(DarcError, match="no such model"),
    ):
        engine.ask("Which grade?")


def test_a_budget_of_scores_ends_the_writing(openai_server: FakeServer) -> None:
    grading(openai_server, EXCELLENT)
    with engine_for(openai_server, Grades(), 12, "pandora:cost=0") as engine:
        outcome = engine.ask("Which grade?", max_calls=4)
    assert outcome.calls == 4
    assert len(outcome.candidates) <= 6
    assert "budget_calls" in outcome.flags


def test_deadline_that_has_passed_leaves_nothing_under_way() -> None:
    async def one() -> Candidate | None:
        await asyncio.sleep(0)
        return None

    def wave(first: int, count: int) -> list[Awaitable[Candidate | None]]:
        return [one() for _ in range(count)]

    async def drawn(engine: Engine) -> WaveDrawing:
        prompt = Prompt("p", (Message("user", "Why?"),))
        passed = asyncio.get_running_loop().time() - 1
        drawing = WaveDrawing(engine.new_samples(prompt), 4, Stopping(), wave, deadline=passed)
        assert await drawing.candidates() == []
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return drawing

    with Engine(Words(), scorers=[Grades()], n_aug=0, cache=False) as engine:
        assert asyncio.run(drawn(engine)).flags == ["budget_milliseconds"]
    gc.collect()  # a call that nobody awaited would be told of here


def test_generator_that_cannot_continue_writes_all() -> None:
    with Engine(
        Words(), sampling=SamplingParameters(k=4), n_aug=0, stop="pandora", cache=False
    ) as engine:
        outcome = engine.ask("Why are there two tides?")
    assert (len(outcome.candidates), outcome.saved) == (4, 0)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_command_tells_what_was_saved(openai_server: FakeServer, form: list[str]) -> None:
    seeds = candidate_seeds(SamplingParameters(k=8), "question")
    openai_server.reply = lambda body, _: (
        "The Moon pulls on the near side of the Earth, so the water there heaps up, and a second "
        "bulge of water is left behind on the far side. A coast passes through both each day."
        if body["seed"] == seeds[1]
        else "Dunno lol"
    )
    asked = ["Why are there two tides a day?", "-k", "8", "--stop", "pandora:cost=0.4", "--n-aug"]
    model = ["0", "--generator", f"openai:fake@{openai_server.url},key_env=", "--scorer", "form"]
    done = run_command("ask", *asked, *model, "--no-cache", *form)
    assert done.returncode == 0, done.stderr
    if form:
        told = json.loads(done.stdout)
        assert told["saved"] == 8 - len(told["candidates"]) > 0
    else:
        assert " of 8 answers; " in done.stderr
        assert "were not worth their cost" in done.stderr
