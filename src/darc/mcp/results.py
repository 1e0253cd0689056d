"""The results of the tools, from which their JSON schemas are made."""

from pydantic import BaseModel, Field


class CandidateResult(BaseModel):
    """One answer among those that were chosen from."""

    name: str
    text: str = Field("", description="the answer, if it is known")
    chosen: bool
    mean: float | None = Field(description="its mean rating or score")
    ratings: int = Field(description="how many people rated it; 0 if nobody did")
    unhappy: int | None = Field(description="how many people are unhappy with it")
    why_not: str = Field("", description="why it was not chosen; empty for the choice")


class ChoiceResult(BaseModel):
    """A decision, with its explanation."""

    decision_id: str = Field("", description="names the decision in calls of explain")
    index: int = Field(description="the place of the choice, from 0")
    name: str
    answer: str = Field("", description="the text of the chosen answer, if it is known")
    explanation: str
    held: bool = Field(description="whether no answer is good enough")
    flags: list[str] = Field(description="what to know about the decision")
    rule: str
    candidates: list[CandidateResult]


class ExplanationResult(ChoiceResult):
    """A decision with everything that is known of it."""

    details: str = Field("", description="the rule's own account, with its numbers")
    how_sure: str = Field("", description="how sure the choice is, if people rated")


class StandingResult(BaseModel):
    """One system's place in a comparison."""

    system: str
    rank: int = Field(description="systems that cannot be told apart share a rank")
    mean: float | None
    low: float | None = Field(description="lower end of the 95 % interval of the mean")
    high: float | None = Field(description="upper end of the 95 % interval of the mean")
    unhappy: float | None = Field(description="share of ratings below the threshold")
    worst_tenth: float | None = Field(description="mean of the lowest tenth of the ratings")
    disagreement: float | None = Field(description="standard deviation of one answer's ratings")
    prompts: int
    ratings: int


class ComparisonResult(BaseModel):
    """Systems side by side."""

    verdict: str
    threshold: float = Field(description="people who rate below it are unhappy")
    standings: list[StandingResult]
    notes: list[str]
