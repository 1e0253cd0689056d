import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.engine.makers import ANSWERS, PROMPT, Vowels, Words, at_once

from darc.engine.engine import Engine
from darc.engine.scoring import ScorerRetry
from darc.errors import DarcError, InputError, UnknownName
from darc.parts.generators.base import SamplingParameters
from darc.types import Message, Prompt

SET = Path(__file__).parents[1] / "parts" / "scorers" / "discrimination.jsonl"


def test_caution_is_an_option_of_engines() -> None:
    with Engine(scorers=[Vowels()], caution="high") as engine:
        assert engine.method.caution == 2.0
    with pytest.raises(InputError, match="caution is 'hihg'"):
        Engine(scorers=[Vowels()], caution="hihg")
    with pytest.raises(InputError, match="'caution'"):
        Engine(scorers=[Vowels()], rule="epsilon", caution="high")


def test_scorer_that_fails_is_named() -> None:
    scorer = Vowels()
    scorer.score = lambda pairs: 1 / 0  # type: ignore[method-assign]
    with (
        Engine(scorers=[scorer], n_aug=2, retry=ScorerRetry(sleep=at_once)) as engine,
        pytest.raises(DarcError, match=r"scorer 'vowels', prompt 'tides': .*division by zero"),
    ):
        engine.choose(PROMPT, ANSWERS)


def test_good_answers_win_with_the_embedded_scorers() -> None:
    rows = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    rude = [row for row in rows if row.get("rude")][:8]
    wins = 0
    with Engine(n_aug=4) as engine:
        for row, other in zip(rude, rude[1:] + rude[:1], strict=True):
            prompt = Prompt(row["id"], (Message("user", row["prompt"]),))
            texts = [row["rude"], other["good"], row["good"], row["good"][:120]]
            outcome = engine.choose(prompt, texts)
            wins += outcome.index == 2
            assert outcome.calls < 4 * 5
    assert wins >= 7


def test_many_prompts_are_answered_in_order_by_a_model() -> None:
    questions = [f"Why are there {i} tides a day?" for i in range(30)]
    with Engine(Words(), scorers=[Vowels()], n_aug=2, sampling=SamplingParameters(k=4)) as engine:
        outcomes = list(engine.map(iter(questions), window=7))
        alone = engine.ask(questions[3], rule="mean")
    assert [outcome.prompt.question for outcome in outcomes] == questions
    assert [outcome.prompt.id for outcome in outcomes] == [str(i) for i in range(1, 31)]
    assert len(alone.candidates) == 4


def test_a_prompt_that_fails_does_not_keep_the_engine_from_the_others() -> None:
    class Picky(Vowels):
        def score(self, pairs: Any) -> Any:
            if any("13" in text for _, text in pairs):
                raise RuntimeError("unlucky")
            return super().score(pairs)

    async def main() -> list[Any]:
        engine = Engine(
            Words(),
            scorers=[Picky()],
            n_aug=2,
            sampling=SamplingParameters(k=4),
            retry=ScorerRetry(sleep=at_once),
        )
        asked = [engine.ask_async(f"Why are there {i} tides?") for i in range(10, 16)]
        results = list(await asyncio.gather(*asked, return_exceptions=True))
        await engine.aclose()
        return results

    results = asyncio.run(main())
    failed = [i for i, result in enumerate(results) if isinstance(result, Exception)]
    assert failed == [3]


def test_an_engine_left_open_ends_quietly() -> None:
    made = "engine = darc.Engine(scorers=['form'], n_aug=0)"
    code = f"import darc; {made}; print(engine.choose('Why?', ['So.']).index)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_an_event_loop_of_ones_own_uses_the_engine_and_closes_it() -> None:
    async def main() -> list[object]:
        async with Engine(
            Words(), scorers=[Vowels()], n_aug=2, sampling=SamplingParameters(k=2)
        ) as engine:
            asked = await engine.ask_async("Why?")
            chosen = await engine.choose_async("Why?", {"a": asked.answer})
            many = [each.prompt.id async for each in engine.map_async(["Why?", "How?"])]
        return [chosen.answer == asked.answer and chosen.name(0), *many]

    assert asyncio.run(main()) == ["a", "1", "2"]


def test_parts_that_are_busy_are_not_waited_for() -> None:
    class Busy(Vowels):
        def close(self) -> None:
            time.sleep(2)

    scorers: list[Any] = [Busy(name) for name in ("one", "two", "three")]
    with Engine(scorers=scorers, n_aug=0) as engine:
        engine.choose(PROMPT, ANSWERS)
        begun = time.monotonic()
    assert time.monotonic() - begun < 1.5


def test_an_option_that_there_is_not_is_refused_by_its_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'n_aug'"):
        Engine(n_agu=2)
    with (
        Engine(Words(), scorers=["form"], n_aug=0) as engine,
        pytest.raises(UnknownName, match="max_calls"),
    ):
        engine.ask("Why?", max_cals=2)
