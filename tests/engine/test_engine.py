import asyncio
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
import pytest
from tests.engine.makers import Vowels, Words

import darc
from darc.engine.choose import DecideOptions, EngineOptions
from darc.engine.engine import Engine, ask, choose
from darc.engine.samples import PartFailed
from darc.engine.scoring import Patience
from darc.errors import DarcError, InputError
from darc.generators.base import Settings
from darc.scorers import CallableScorer
from darc.selection.calibration import Calibration
from darc.types import Candidate, CutOff, Message, Prompt

PROMPT = Prompt("tides", (Message("user", "Why are there two high tides a day?"),))
SET = Path(__file__).parents[1] / "scorers" / "discrimination.jsonl"


def candidates(*texts: str) -> list[Candidate]:
    return [Candidate(PROMPT.id, index, text) for index, text in enumerate(texts)]


ANSWERS = candidates(
    "The water rises because the Moon pulls on it, and it rises on both sides.",
    "Bulges form on the near side and on the far side, so a coast meets two of them.",
    "Rhythms fly by; why try?",
    "The Moon pulls hardest on the near side and weakest on the far side of the planet.",
)


@pytest.mark.parametrize("rule", ["auto", "epsilon", "entropic", "tau:tau=0.3", "penalty", "mean"])
def test_lazy_choice_is_the_full_choice(rule: str) -> None:
    with Engine(scorers=[Vowels()], rule=rule, n_aug=4) as engine:
        lazy = engine.choose(PROMPT, ANSWERS)
        full = engine.choose(PROMPT, ANSWERS, full=True)
    assert lazy.index == full.index
    assert lazy.calls <= full.calls
    seen = ~np.isnan(lazy.scores.values)
    assert np.array_equal(lazy.scores.values[seen], full.scores.values[seen])
    assert full.scores.complete
    assert full.why_not(full.index) == ""
    assert all(full.why_not(k) for k in range(4) if k != full.index)


@pytest.mark.parametrize(
    ("rule", "wide", "said"),
    [
        ("auto", (5.0, 6.0, 7.0), "ranked lower"),
        ("auto", (3.0, 6.7, 9.0), "higher sigma"),
        ("epsilon", (5.9, 6.1, 6.3), "higher sigma"),
    ],
)
def test_higher_sigma_is_said_where_it_decided(
    rule: str, wide: tuple[float, ...], said: str
) -> None:
    made = choose(PROMPT, ANSWERS[:2], scorers=[Vowels()], n_aug=1)
    decision = darc.select([(6.1, 6.2, 6.3), wide], rule)
    assert decision.index == 0
    assert replace(made, decision=decision, order=(0, 1)).why_not(1) == said


@pytest.mark.parametrize(
    "rule",
    ["auto", "epsilon", "entropic", "tau:tau=0.3", "tau", "penalty", "cvar", "lcb", "mean"],
)
def test_lazy_choice_without_the_original_is_the_full_one(rule: str) -> None:
    with Engine(scorers=[Vowels()], rule=rule, n_aug=4, include_original=False) as engine:
        lazy = engine.choose(PROMPT, ANSWERS, wave=2)
        full = engine.choose(PROMPT, ANSWERS, full=True)
    assert lazy.index == full.index
    assert lazy.decision is not None
    assert full.decision is not None
    assert lazy.calls <= lazy.most == full.most == 16
    assert np.isnan(full.scores.values[:, :, 0]).all()
    counts = [len(own) for own in full.variants]
    assert full.decision.statistics.count.tolist() == counts
    assert full.calls == sum(counts)
    seen = ~np.isnan(lazy.scores.values)
    assert np.array_equal(lazy.scores.values[seen], full.scores.values[seen])


@pytest.mark.parametrize("full", [True, False])
def test_originals_count_where_no_rewrite_was_accepted(full: bool) -> None:
    class Silent:
        name = "silent"

        def rewrite(self, *_: Any) -> list[str]:
            return []

    silent: dict[str, Any] = {"rewriter": Silent(), "include_original": False}
    with Engine(scorers=[Vowels()], n_aug=4, **silent) as engine:
        outcome = engine.choose(PROMPT, ANSWERS, full=full)
    own = Vowels().score([(PROMPT, answer.text) for answer in ANSWERS])
    assert outcome.scores.values[0, :, 0].tolist() == own.tolist()
    assert outcome.index == int(np.argmax(own))
    assert "no_rewrites" in outcome.flags
    assert "the originals were scored" in outcome.explain()


def test_a_rule_that_wants_the_original_is_refused_without_it() -> None:
    with pytest.raises(InputError, match="'poisson' with reward=original needs the original"):
        Engine(scorers=[Vowels()], rule="poisson:reward=original", include_original=False)


@pytest.mark.parametrize("most", [1, 3, 50])
def test_attempts_are_counted(most: int) -> None:
    with Engine(scorers=[Vowels()], n_aug=8, max_attempts=most) as engine:
        made = engine.choose(PROMPT, ANSWERS, full=True).rewrites.values()
    counts = [len(each.variants) + len(each.rejections) for each in made]
    assert max(counts) <= most
    assert max(counts) >= min(most, 8)


async def at_once(seconds: float) -> None:
    """Wait for nothing."""


def test_scorer_that_fails_is_named() -> None:
    scorer = Vowels()
    scorer.score = lambda pairs: 1 / 0  # type: ignore[method-assign]
    with (
        Engine(scorers=[scorer], n_aug=2, patience=Patience(sleep=at_once)) as engine,
        pytest.raises(DarcError, match=r"scorer 'vowels', prompt 'tides': .*division by zero"),
    ):
        engine.choose(PROMPT, ANSWERS)


def test_several_scorers_without_constants_are_scored_in_full() -> None:
    scorers = [Vowels(), Vowels("other")]
    for scorer in scorers:
        scorer.location = scorer.scale = None
    outcome = choose(PROMPT, ANSWERS, scorers=scorers, n_aug=2)
    assert outcome.decision is not None
    assert not outcome.decision.bounded
    assert np.isfinite(outcome.scores.values[:, :, 0]).all()
    with pytest.raises(InputError, match="not every scorer has a fixed location"):
        choose(PROMPT, ANSWERS, scorers=scorers, n_aug=2, normalize="fixed")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_aug": -1}, "n_aug"),
        ({"n_aug": 0, "include_original": False}, "nothing to score"),
        ({"max_attempts": 0}, "max_attempts is 0"),
        ({"scorers": []}, "no scorer"),
        ({"scorers": [1, 1]}, "twice"),
    ],
)
def test_engine_refuses(change: dict[str, Any], words: str) -> None:
    settings = {"scorers": [1], "n_aug": 2, **change}
    settings["scorers"] = [Vowels() for _ in settings["scorers"]]
    with pytest.raises(InputError, match=words):
        Engine(**settings)


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
    with Engine(Words(), scorers=[Vowels()], n_aug=2, sampling=Settings(k=4)) as engine:
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
            sampling=Settings(k=4),
            patience=Patience(sleep=at_once),
        )
        asked = [engine.ask_async(f"Why are there {i} tides?") for i in range(10, 16)]
        results = list(await asyncio.gather(*asked, return_exceptions=True))
        await engine.aclose()
        return results

    results = asyncio.run(main())
    failed = [i for i, result in enumerate(results) if isinstance(result, Exception)]
    assert failed == [3]


@pytest.mark.parametrize("by_name", [False, True])
def test_candidates_keep_their_names(by_name: bool) -> None:
    named = [Candidate("tides", i, c.text, name=f"model {i}") for i, c in enumerate(ANSWERS)]
    answers = {c.name: c.text for c in named} if by_name else named
    outcome = choose(PROMPT, answers, scorers=[Vowels()], n_aug=2)
    assert f"model {outcome.index}" in outcome.explain()
    assert f"model {outcome.index}" in outcome._repr_html_()
    assert f"model {outcome.index}" in repr(outcome)


def test_what_goes_wrong_is_flagged_unless_strict() -> None:
    class Broken(Vowels):
        def score(self, pairs: Any) -> Any:
            raise RuntimeError("broken")

    scorers = [Vowels(), Broken("other")]
    with Engine(scorers=scorers, n_aug=2, patience=Patience(sleep=at_once)) as engine:
        outcome = engine.choose(PROMPT, ANSWERS, strict=False)
        assert "scorer_failed:other" in outcome.flags
        assert "scorer other failed and was left out" in outcome.explain()
        few = engine.choose(PROMPT, ANSWERS, strict=False, calls=2)
        assert "budget_calls" in few.flags
        assert few.calls == 2


def test_a_strict_decision_says_which_part_failed() -> None:
    class Broken(Vowels):
        def score(self, pairs: Any) -> Any:
            raise RuntimeError("broken")

    scorers = [Vowels(), Broken("other")]
    with Engine(scorers=scorers, n_aug=0, patience=Patience(attempts=1)) as engine:
        with pytest.raises(PartFailed, match="scorer other failed"):
            engine.run(engine.decide(PROMPT, ANSWERS))
        with pytest.raises(DarcError, match="broken"):
            engine.choose(PROMPT, ANSWERS)


@pytest.mark.parametrize("workers", [0, 2])
def test_rewriting_in_slices_is_rewriting_at_once(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("darc.engine.samples.SLICE", 0.001)
    with Engine(scorers=["form"], n_aug=6, guard=False, workers=workers) as engine:
        engine.run(engine.warm())
        outcome = engine.choose(PROMPT, ANSWERS, full=True)
        once = [engine.tools.rewrite(PROMPT, candidate, 6) for candidate in ANSWERS]
    assert [outcome.rewrites[k] for k in range(4)] == once


def test_no_more_rewriters_work_at_once_than_may() -> None:
    class Slow:
        name, parallel = "slow", 2
        at_work = most = 0

        def rewrite(self, prompt: Any, text: str, count: int, family: str, seed: int) -> list[str]:
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            time.sleep(0.02)
            self.at_work -= 1
            return []

    rewriter = Slow()
    with Engine(scorers=[Vowels()], rewriter=rewriter, n_aug=2) as engine:
        engine.choose(PROMPT, ANSWERS, full=True)
    assert rewriter.most == 2


def test_an_engine_left_open_ends_quietly() -> None:
    made = "engine = darc.Engine(scorers=['form'], n_aug=0)"
    code = f"import darc; {made}; print(engine.choose('Why?', ['So.']).index)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


def test_an_event_loop_of_ones_own_uses_the_engine_and_closes_it() -> None:
    async def main() -> list[object]:
        async with Engine(Words(), scorers=[Vowels()], n_aug=2, sampling=Settings(k=2)) as engine:
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


def test_a_calibration_knows_systems_by_the_candidates_names(tmp_path: Path) -> None:
    named = [replace(each, name=name) for each, name in zip(ANSWERS, "abcd", strict=True)]
    learnt = Calibration(systems={"c": (1000.0, 0.0)})
    path = tmp_path / "calibration.json"
    learnt.save(path)
    for given in (learnt, path, str(path)):
        with Engine(scorers=[Vowels()], rule="auto", calibration=given, n_aug=2) as engine:
            assert engine.choose(PROMPT, named).index == 2
            assert engine.choose(PROMPT, named, rule="mean").index != 2
            assert (
                engine.choose(PROMPT, ANSWERS).index
                == engine.choose(PROMPT, ANSWERS, full=True).index
            )
    with Engine(scorers=[Vowels()], rule="mean", n_aug=2) as engine:
        plain = engine.choose(PROMPT, named)
    assert plain.index != 2
    with pytest.raises(InputError, match="epsilon takes no calibration"):
        choose(PROMPT, named, scorers=[Vowels()], rule="epsilon", calibration=learnt)
    several = {"length": learnt, "other": learnt}
    with pytest.raises(InputError, match="knows nothing of scorer"):
        choose(PROMPT, named, scorers=[Vowels()], rule="auto", calibration=several)


class Distant:
    """A rewriter on a server: it may only be awaited, and notes the thread of each call."""

    name, version, remote, parallel = "distant", "1", True, 8

    def __init__(self) -> None:
        self.busy = self.busiest = 0
        self.threads: set[int] = set()

    def rewrite(self, prompt: Prompt, text: str, count: int, family: str, seed: int) -> list[str]:
        words = ("Well", "Indeed", "So", "Now")
        return [f"{words[(seed + i) % 4]}, {text[:1].lower()}{text[1:]}" for i in range(count)]

    async def rewrite_async(self, *arguments: Any) -> list[str]:
        self.threads.add(threading.get_ident())
        self.busy += 1
        self.busiest = max(self.busy, self.busiest)
        await asyncio.sleep(0.05)
        self.busy -= 1
        return self.rewrite(*arguments)


@pytest.mark.parametrize("family", ["style", "hybrid"])
def test_rewriters_on_servers_are_awaited_to_the_same_rewrites(family: str) -> None:
    rewriter = Distant()
    with Engine(
        scorers=[Vowels()], rewriter=rewriter, n_aug=4, family=family, guard=False
    ) as engine:
        outcome = engine.choose(PROMPT, ANSWERS, full=True)
        known = [engine.tools.rewrite(PROMPT, answer, 4) for answer in ANSWERS]
    assert [outcome.rewrites[k] for k in range(4)] == known
    assert any(each.variants for each in known)
    # All four candidates at once, in the engine's own loop and not in a thread of each.
    assert (rewriter.busiest, len(rewriter.threads)) == (4, 1)


def test_a_rewriter_on_a_server_that_hangs_is_given_up() -> None:
    class Hanging(Distant):
        async def rewrite_async(self, *arguments: Any) -> list[str]:
            await asyncio.sleep(60)
            return []

    patience = Patience(seconds=0.2)
    with (
        Engine(scorers=[Vowels()], rewriter=Hanging(), n_aug=2, patience=patience) as engine,
        pytest.raises(DarcError, match=r"no answer within 0\.2 s"),
    ):
        engine.choose(PROMPT, ANSWERS, full=True)


def test_scorers_hear_which_answers_were_cut_off() -> None:
    text = "Air scatters blue light more than red light, so blue reaches us from every side"
    answers = candidates(f"{text}.", f"{text}!")
    cut = [replace(answers[0], truncated=True), answers[1]]
    heard: dict[str, bool] = {}

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        heard.update({str(answer): isinstance(answer, CutOff) for _, answer in pairs})
        return [1.0 for _ in pairs]

    with Engine(scorers=[CallableScorer("heard", score)], n_aug=0) as engine:
        engine.choose(PROMPT, cut, full=True)
    assert heard == {f"{text}.": True, f"{text}!": False}
    with Engine(scorers=["form"], n_aug=0) as engine:
        assert engine.choose(PROMPT, answers).index == 0
        assert engine.choose(PROMPT, cut).index == 1


def test_options_that_are_passed_on_are_those_of_the_engine() -> None:
    passed = ((EngineOptions, Engine.__init__), (DecideOptions, Engine.decide))
    for options, function in passed:
        parameters = inspect.signature(function).parameters.values()
        names = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
        hints = get_type_hints(function)
        assert get_type_hints(options) == {name: hints[name] for name in names}


if TYPE_CHECKING:
    # What mypy finds here it finds in users' code; where it does not, the comment is one too many.
    choose(PROMPT, ANSWERS, n_aug="8")  # type: ignore[arg-type]
    ask(PROMPT, Words(), rules="mean")  # type: ignore[call-arg]
    Engine(Words()).ask(PROMPT, full="yes")  # type: ignore[arg-type]
