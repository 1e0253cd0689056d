"""Probes of a live panel: does it prefer places, length, echoes, or whoever tells it to?"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from darc.analysis.panel_audit.estimate import LEVEL, Estimate, mean_estimate
from darc.analysis.panel_audit.grades import mean_over
from darc.analysis.panel_audit.probe_texts import echo, injected, padded
from darc.errors import DarcError, InputError
from darc.models.completion import ChatModel
from darc.models.remote.openai import OpenAIModel
from darc.parts.scorers.judge import PanelJudge
from darc.parts.scorers.list_judge import ListJudge, UnreadableList
from darc.parts.scorers.pair_judge import PairJudge
from darc.parts.scorers.panel import Panel
from darc.parts.scorers.panel_settings import LISTWISE, PAIRWISE
from darc.ratings.ratings import Ratings
from darc.types import Message, Prompt
from darc.typing import Array

#: The names of the probes.
POSITION = "position"
VERBOSITY = "verbosity"
INJECTION = "injection"
ECHO = "echo"
PROBES = (POSITION, VERBOSITY, INJECTION, ECHO)
MEANINGS = {
    POSITION: "what an answer gains by being shown first instead of last",
    VERBOSITY: "what an answer gains by sentences that add nothing",
    INJECTION: "what an answer gains by telling the judge to give the highest grade",
    ECHO: "what a text that only repeats the question is above a real answer",
}
# Answers that a rater who sees all of them at once gets, and the fewest.
_MOST_ANSWERS = 4
_FEWEST_ANSWERS = 2
_WORKERS = 16

Result = TypeVar("Result")


@dataclass(frozen=True)
class ProbeCase:
    """A prompt with answers, of which one is changed."""

    prompt: Prompt
    answers: tuple[str, ...]
    #: Which answer is changed.
    target: int

    def changed(self, probe: str) -> list[str]:
        """The answers with the changed one."""
        answers = list(self.answers)
        answers[self.target] = self.changed_answer(probe)
        return answers

    def changed_answer(self, probe: str) -> str:
        """What the changed answer is."""
        if probe == VERBOSITY:
            return padded(self.answers[self.target])
        if probe == INJECTION:
            return injected(self.answers[self.target])
        return echo(self.prompt)


@dataclass(frozen=True)
class ProbeFinding:
    """What a probe found, for the panel as a whole or for one rater."""

    probe: str
    #: The rater, or "" for the mean of the panel.
    rater: str
    #: The effect in points of the grade, or in shares of comparisons for a pairwise panel.
    effect: Estimate
    #: Whether the panel or rater fails the probe.
    fails: bool


@dataclass(frozen=True)
class ProbeReport:
    """What all probes found."""

    prompts: int
    calls: int
    #: How many measurements are missing because a call failed.
    missing: int
    unit: str
    findings: tuple[ProbeFinding, ...]
    #: Which probes make no sense for the panel, and why.
    left_out: tuple[str, ...] = ()

    @property
    def failed(self) -> list[ProbeFinding]:
        """The probes that the panel as a whole fails."""
        return [finding for finding in self.findings if finding.fails and not finding.rater]


def probe_cases(ratings: Ratings, prompts: int, seed: int = 0) -> list[ProbeCase]:
    """Draw prompts with texts of a run or a file, and the answer of each that is changed.

    Raises:
        InputError: The texts are not known, or no prompt has two different answers.
    """
    if not ratings.texts or not ratings.questions:
        raise InputError(
            f"{ratings.name} has no texts, which probes change",
            "probe a run folder, or put NAME.texts.jsonl beside the grades",
        )
    generator = np.random.default_rng(seed)
    cases: list[ProbeCase] = []
    for row in generator.permutation(len(ratings.prompt_ids)).tolist():
        if len(cases) == prompts:
            break
        question = ratings.questions[row]
        distinct = [text for text in dict.fromkeys(ratings.texts[row]) if text.strip()]
        if not question.strip() or len(distinct) < _FEWEST_ANSWERS:
            continue
        order = generator.permutation(len(distinct))[:_MOST_ANSWERS].tolist()
        answers = tuple(distinct[place] for place in order)
        prompt = Prompt(ratings.prompt_ids[row], (Message("user", question),))
        cases.append(ProbeCase(prompt, answers, int(generator.integers(len(answers)))))
    if not cases:
        raise InputError(
            f"no prompt of {ratings.name} has two different answers with texts",
            "probe a run with more candidates",
        )
    return cases


def calls_needed(panel: Panel, cases: int) -> int:
    """How many calls the probes of a panel make, without second attempts."""
    per_case = 4
    if panel.mode == LISTWISE:
        per_case = 5
    elif panel.mode == PAIRWISE:
        per_case = 8
    return per_case * len(panel) * cases


def run_probes(
    panel: Panel,
    cases: Sequence[ProbeCase],
    own_model: ChatModel | None = None,
    report: Callable[[int, int | None], None] = lambda done, total: None,
) -> ProbeReport:
    """Ask every rater of a panel about every case, as it is and changed.

    Args:
        panel: The panel; raters are asked once each.
        cases: What it is asked about.
        own_model: The model of the raters that name none.
        report: Called with how many cases of raters are done, and of how many.

    Raises:
        DarcError: No call succeeded; the error is that of the first one.
    """
    panel = replace(panel, repeats=1)
    judges = panel.judges(own_model)
    jobs = [(place, number) for number in range(len(cases)) for place in range(len(judges))]
    effects = np.full((len(PROBES), len(cases), len(judges)), np.nan)
    problems: list[Exception] = []
    is_remote = all(judge.remote for judge in judges)
    try:
        with ThreadPoolExecutor(_WORKERS if is_remote else 1) as pool:
            try:
                futures = [
                    pool.submit(_probe_case, judges[place], cases[number]) for place, number in jobs
                ]
                for done, ((place, number), future) in enumerate(
                    zip(jobs, futures, strict=True), start=1
                ):
                    measured, case_problems = future.result()
                    problems += case_problems
                    effects[:, number, place] = [measured.get(probe, np.nan) for probe in PROBES]
                    report(done, len(jobs))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        for judge in judges:
            judge.close()
    if np.isnan(effects).all() and problems:
        raise problems[0]
    left_out: tuple[str, ...] = ()
    probes: tuple[str, ...] = PROBES
    if panel.mode not in (LISTWISE, PAIRWISE):
        left_out = ("position: raters see one answer at a time, so that there is no order",)
        probes = PROBES[1:]
    unit = "points from 0 to 10"
    if panel.mode == PAIRWISE:
        unit = "the share of comparisons won, less one half"
    kept = [PROBES.index(probe) for probe in probes]
    return ProbeReport(
        prompts=len(cases),
        calls=calls_needed(panel, len(cases)),
        missing=int(np.isnan(effects[kept]).sum()),
        unit=unit,
        findings=tuple(probe_findings(probes, effects[kept], panel.names)),
        left_out=left_out,
    )


def probe_findings(
    probes: Sequence[str], effects: Array, raters: Sequence[str]
) -> list[ProbeFinding]:
    """Sum up the effects (probes, cases, raters): the panel's mean, then rater by rater.

    The intervals of raters hold for all raters of a probe together.
    """
    findings = []
    rater_level = 1 - (1 - LEVEL) / max(len(raters), 1)
    for probe, by_case in zip(probes, effects, strict=True):
        whole = mean_estimate(mean_over(by_case))
        findings.append(ProbeFinding(probe, "", whole, _fails(probe, whole)))
        for place, rater in enumerate(raters):
            own = mean_estimate(by_case[:, place], rater_level)
            findings.append(ProbeFinding(probe, rater, own, _fails(probe, own)))
    return findings


def _fails(probe: str, effect: Estimate) -> bool:
    """Whether an effect is one of bias: of an echo, that it is not clearly below an answer."""
    if not effect.has_interval:
        return False
    if probe == POSITION:
        return not effect.low <= 0 <= effect.high
    if probe == ECHO:
        return effect.high >= 0
    return effect.low > 0


def _probe_case(judge: PanelJudge, case: ProbeCase) -> tuple[dict[str, float], list[Exception]]:
    """The effects of all probes on one rater and prompt; a probe whose calls fail has none."""
    problems: list[Exception] = []
    effects: dict[str, float] = {}
    base = np.array([])
    try:
        if isinstance(judge, ListJudge):
            base = _list_grades(judge, case, case.answers)
        elif not isinstance(judge, PairJudge):
            base = np.array([_grade(judge, case, case.answers[case.target])])
    except InputError:
        raise
    except DarcError as problem:
        return effects, [problem]
    for probe in PROBES:
        try:
            effect = _effect(judge, case, probe, base)
        except InputError:
            raise
        except DarcError as problem:
            problems.append(problem)
            continue
        if effect is not None:
            effects[probe] = effect
    return effects, problems


def _effect(judge: PanelJudge, case: ProbeCase, probe: str, base: Array) -> float | None:
    """The effect of a probe on one rater and prompt, None where it makes no sense.

    Args:
        judge: The rater.
        case: The prompt.
        probe: The name of the probe.
        base: The grades of the answers as they are; empty where answers are compared.
    """
    if isinstance(judge, ListJudge):
        if probe == POSITION:
            return _list_position(judge, case, base)
        changed = _list_grades(judge, case, case.changed(probe))
        return float(changed[case.target] - base[case.target])
    if isinstance(judge, PairJudge):
        if probe == POSITION:
            return _pair_position(judge, case)
        return _pair_effect(judge, case, probe)
    if probe == POSITION:
        return None
    return _grade(judge, case, case.changed_answer(probe)) - float(base[0])


def _list_position(judge: ListJudge, case: ProbeCase, base: Array) -> float:
    """How much higher an answer is graded when it is shown first than when it is last."""
    turned = _list_grades(judge, case, case.answers[::-1])[::-1]
    in_order = base
    if judge.is_reversed:
        in_order = turned
        turned = base
    # The first answer is shown first in one order, and the last answer in the other.
    return float((in_order[0] - turned[0] + turned[-1] - in_order[-1]) / 2)


def _list_grades(judge: ListJudge, case: ProbeCase, texts: Sequence[str]) -> Array:
    """The grades of a list of answers, (texts,); an unreadable reply is asked for once more."""
    try:
        grades = judge.grade_list(case.prompt, texts)
    except UnreadableList as problem:
        grades = judge.grade_list(case.prompt, texts, unreadable_reply=problem.reply)
    return np.asarray(grades.mean(axis=1))


def _grade(judge: PanelJudge, case: ProbeCase, text: str) -> float:
    """The grade of one answer, the mean of criteria."""
    return float(np.mean(judge.score([(case.prompt, text)])))


def _pair_position(judge: PairJudge, case: ProbeCase) -> float:
    """How much more often than half the answer that is shown first is preferred."""
    call = judge.prefer_shown_first(case.prompt, case.answers[0], case.answers[1], retry=True)
    return sum(_wait(judge, call)) / 2 - 0.5


def _pair_effect(judge: PairJudge, case: ProbeCase, probe: str) -> float:
    """How much more often than half the changed answer is preferred to the original."""
    changed = case.changed_answer(probe)
    call = judge.prefer_left(case.prompt, changed, case.answers[case.target], retry=True)
    return _wait(judge, call) - 0.5


def _wait(judge: PanelJudge, call: Coroutine[Any, Any, Result]) -> Result:
    """The result of an awaitable call, in a thread without an event loop."""
    if isinstance(judge.model, OpenAIModel):
        return judge.model.run(call)
    return asyncio.run(call)
