"""Decisions as results of tools."""

from collections.abc import Sequence
from dataclasses import dataclass

from darc.analysis.compare.leaderboard import Leaderboard, SystemStanding
from darc.decide.decision import Decision
from darc.engine.outcome import Outcome
from darc.engine.reasons import reason_against
from darc.json_files import jsonable
from darc.mcp.results import (
    CandidateResult,
    ChoiceResult,
    ComparisonResult,
    ExplanationResult,
    StandingResult,
)


@dataclass(frozen=True)
class Explained:
    """A choice that can be explained: a decision, or an outcome that compared nothing."""

    index: int
    #: None if nothing was compared, such as for one answer.
    decision: Decision | None
    explanation: str
    names: Sequence[str]
    #: The texts of the answers, or none.
    texts: Sequence[str]
    flags: Sequence[str]

    def choice(self, decision_id: str) -> ChoiceResult:
        """The result of `ask` and `choose`."""
        answer = ""
        if self.texts:
            answer = self.texts[self.index]
        rule = "first"
        held = False
        if self.decision is not None:
            rule = self.decision.rule.name
            held = self.decision.held
        return ChoiceResult(
            decision_id=decision_id,
            index=self.index,
            name=self.names[self.index],
            answer=answer,
            explanation=self.explanation,
            held=held,
            flags=list(self.flags),
            rule=rule,
            candidates=[self._candidate(index) for index in range(len(self.names))],
        )

    def explanation_result(self, decision_id: str) -> ExplanationResult:
        """The result of `explain`."""
        details = ""
        how_sure = ""
        if self.decision is not None:
            details = self.decision.explain(details=True)
            how_sure = self.decision.sure_sentence
        choice = self.choice(decision_id)
        return ExplanationResult(**choice.model_dump(), details=details, how_sure=how_sure)

    def _candidate(self, index: int) -> CandidateResult:
        """What is known of one answer."""
        text = ""
        if self.texts:
            text = self.texts[index]
        chosen = index == self.index
        mean = None
        ratings = 0
        unhappy = None
        why_not = ""
        if self.decision is None:
            if not chosen:
                why_not = "not compared"
        else:
            mean = jsonable(float(self.decision.statistics.mean[index]))
            if not chosen:
                why_not = reason_against(self.decision, index)
            if self.decision.opinions is not None:
                opinions = self.decision.opinions.answer(index)
                mean = jsonable(opinions.mean)
                ratings = opinions.count
                unhappy = opinions.unhappy
        return CandidateResult(
            name=self.names[index],
            text=text,
            chosen=chosen,
            mean=mean,
            ratings=ratings,
            unhappy=unhappy,
            why_not=why_not,
        )


def explained_decision(decision: Decision, texts: Sequence[str]) -> Explained:
    """A choice among rated answers."""
    return Explained(
        index=decision.index,
        decision=decision,
        explanation=decision.explain(),
        names=decision.names,
        texts=texts,
        flags=decision.flags,
    )


def explained_outcome(outcome: Outcome) -> Explained:
    """A choice that an engine has made; answers with the same text are one."""
    return Explained(
        index=outcome.index,
        decision=outcome.decision,
        explanation=outcome.explain(),
        names=[outcome.name(index) for index in range(len(outcome.candidates))],
        texts=[candidate.text for candidate in outcome.candidates],
        flags=list(outcome.flags),
    )


def comparison_result(leaderboard: Leaderboard) -> ComparisonResult:
    """The result of `compare`."""
    return ComparisonResult(
        verdict=leaderboard.verdict,
        threshold=leaderboard.threshold,
        standings=[_standing(standing) for standing in leaderboard.standings],
        notes=[*leaderboard.notes, *leaderboard.difference_sentences],
    )


def _standing(standing: SystemStanding) -> StandingResult:
    """One system's place, without the numbers that few people need."""
    low, high = standing.interval
    values = {
        "system": standing.system,
        "rank": standing.rank,
        "mean": standing.mean,
        "low": low,
        "high": high,
        "unhappy": standing.unhappy,
        "worst_tenth": standing.worst_tenth,
        "disagreement": standing.disagreement,
        "prompts": standing.prompts,
        "ratings": standing.ratings,
    }
    return StandingResult.model_validate(jsonable(values))
