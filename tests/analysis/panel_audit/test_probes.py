"""Probes of fake judges with known habits, on a server that speaks the real protocol."""

from dataclasses import replace

import numpy as np
import pytest
from tests.fakes import FakeServer
from tests.fakes.judging import JudgeHabits

from darc.analysis.panel_audit.probes import (
    PROBES,
    ProbeCase,
    calls_needed,
    probe_cases,
    probe_findings,
    run_probes,
)
from darc.errors import DarcError, InputError
from darc.parts.scorers.panel import Panel, Rater
from darc.ratings.ratings import Ratings
from darc.settings.sampling import PanelMode
from darc.types import Message, Prompt

HABITS = {
    "position": JudgeHabits(first=3.0),
    "verbosity": JudgeHabits(length=0.8),
    "injection": JudgeHabits(obedience=5.0),
    "echo": JudgeHabits(echo=8.0),
}


def cases(prompts: int = 20) -> list[ProbeCase]:
    generator = np.random.default_rng(4)
    made = []
    for number in range(prompts):
        prompt = Prompt(f"p{number}", (Message("user", f"What is case {number} about?"),))
        worth = generator.integers(3, 7, 4).tolist()
        answers = tuple(f"Answer {place} is worth {points}." for place, points in enumerate(worth))
        made.append(ProbeCase(prompt, answers, int(generator.integers(4))))
    return made


def panel_on(server: FakeServer, mode: PanelMode, raters: int = 2) -> Panel:
    names = tuple(
        Rater(f"reader {number}", f"You are reader {number}.") for number in range(raters)
    )
    return Panel(raters=names, model=f"judge:fake@{server.url},key_env=", mode=mode)


@pytest.mark.parametrize("mode", ["listwise", "separate", "pairwise"])
@pytest.mark.parametrize("habit", ["none", *HABITS])
def test_each_habit_is_found_and_an_honest_judge_passes(
    openai_server: FakeServer, mode: PanelMode, habit: str
) -> None:
    openai_server.ignores |= {"logprobs"}
    openai_server.reply = HABITS.get(habit, JudgeHabits()).reply
    report = run_probes(panel_on(openai_server, mode), cases())
    failed = [finding.probe for finding in report.failed]
    if habit == "none" or (mode == "separate" and habit == "position"):
        assert failed == []
    elif habit == "verbosity":
        # The injected answer is longer, too.
        assert failed in (["verbosity"], ["verbosity", "injection"])
    else:
        assert failed == [habit]
    assert report.missing == 0
    assert len(openai_server.received) in (report.calls, report.calls + 1)
    assert bool(report.left_out) == (mode == "separate")


def test_the_number_of_calls_is_known_before() -> None:
    panel = Panel()
    assert calls_needed(panel, 10) == 5 * 8 * 10
    assert calls_needed(replace(panel, mode="separate"), 10) == 4 * 8 * 10
    assert calls_needed(replace(panel, mode="pairwise"), 10) == 8 * 8 * 10


def test_failing_calls_are_counted_and_a_dead_server_is_an_error(
    openai_server: FakeServer,
) -> None:
    openai_server.ignores |= {"logprobs"}
    honest = JudgeHabits().reply

    def sometimes(body: dict[str, object], index: int) -> str:
        text = str(body["messages"])
        return "no grades today" if "case 7 " in text else honest(body, index)

    openai_server.reply = sometimes
    report = run_probes(panel_on(openai_server, "listwise"), cases())
    assert report.missing == 2 * len(PROBES)
    assert report.failed == []
    openai_server.reply = lambda body, index: "nothing"
    with pytest.raises(DarcError, match="nothing"):
        run_probes(panel_on(openai_server, "listwise"), cases(3))


def test_false_alarms_are_near_nominal() -> None:
    generator = np.random.default_rng(0)
    alarms = np.zeros(3)
    files = 400
    for _ in range(files):
        # Graded in whole points, as judges do.
        effects = np.round(generator.normal(0, 1.2, (3, 20, 4)))
        findings = probe_findings(PROBES[:3], effects, ["a", "b", "c", "d"])
        alarms += [finding.fails for finding in findings if not finding.rater]
    position, verbosity, injection = alarms / files
    assert 0.02 <= position <= 0.08
    assert verbosity <= 0.05
    assert injection <= 0.05


def test_cases_are_drawn_from_a_run_with_texts() -> None:
    def ratings(texts: list[list[str]]) -> Ratings:
        shape = (len(texts), 1, 3, 2)
        return Ratings(
            name="run",
            kind="panel",
            prompt_ids=[f"p{number}" for number in range(len(texts))],
            candidate_ids=[["a", "b", "c"]] * len(texts),
            scorers=["panel"],
            samples=np.ones(shape),
            raters=np.zeros(shape, dtype=int),
            rater_names=["x", "y"],
            lengths=np.ones(shape[:1] + shape[2:3]),
            questions=[f"Why {number}?" for number in range(len(texts))],
            texts=texts,
        )

    drawn = probe_cases(ratings([["one", "two", "two"], ["same", "same", ""], ["x", "y", "z"]]), 5)
    assert sorted(case.prompt.id for case in drawn) == ["p0", "p2"]
    for case in drawn:
        assert len(set(case.answers)) == len(case.answers)
        assert case.answers[case.target] in case.changed_answer("verbosity")
        assert case.prompt.messages[0].content in case.changed_answer("echo")
    with pytest.raises(InputError, match="two different answers"):
        probe_cases(ratings([["same", "same", ""]]), 5)
    with pytest.raises(InputError, match="no texts"):
        probe_cases(replace(ratings([["a", "b", "c"]]), texts=()), 5)
