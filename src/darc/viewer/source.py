"""What a source of decisions gives: what a list shows of each, and what its page shows."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from darc.closing import Closing
from darc.views.dots import DotPicture

#: Called with how many decisions were read, and of how many (None where that is not known).
ReadProgress = Callable[[int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class ListedDecision:
    """What the list shows of a decision, and what its page is made of."""

    prompt_id: str
    #: The text of the prompt, empty if unknown.
    question: str = ""
    #: The name of the chosen answer.
    chosen: str
    #: The text of the chosen answer, empty if unknown.
    answer: str = ""
    #: The name of the answer with the highest average, empty if unknown.
    best_of_k: str = ""
    #: Whether Best-of-K chooses another answer, None if that is not known.
    differs: bool | None = None
    #: The mean of the chosen answer's ratings.
    mean: float | None = None
    #: The standard deviation of the chosen answer's ratings.
    disagreement: float | None = None
    #: How many people are unhappy with the chosen answer, None for scores that are not opinions.
    unhappy: int | None = None
    #: How many people rated the chosen answer, None for scores that are not opinions.
    ratings: int | None = None
    held: bool = False
    flags: Sequence[str] = ()
    #: The system that wrote the chosen answer, empty if unknown.
    system: str = ""
    #: The groups of raters of whom somebody is unhappy with the chosen answer.
    unhappy_groups: Sequence[str] = ()
    #: The texts of all answers, for the search.
    texts: Sequence[str] = ()
    #: What `DecisionSource.decision_view` makes the page of; JSON can hold it.
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DecisionView:
    """What the page of a decision shows."""

    #: The dot picture, None where the samples are not known.
    picture: DotPicture | None
    #: Why the answer was chosen.
    explanation: str
    #: How sure the choice is, empty if unknown.
    sure: str = ""
    #: What else to say, one sentence each.
    notes: Sequence[str] = ()
    #: The heading of the table of ratings: what gave them, then the names of the answers.
    ratings_header: Sequence[str] = ()
    #: The ratings, one row per rater or wording.
    ratings: Sequence[Sequence[str]] = ()


class DecisionSource(Closing):
    """A run folder, an audit log or a file of ratings."""

    #: What pages and tables call the source.
    name: str
    #: What its decisions were made by.
    rule: str
    #: Whether "unhappy" may be said; otherwise people rate an answer clearly lower.
    known_scale: bool = True

    @abstractmethod
    def decisions(self, progress: ReadProgress) -> Iterator[ListedDecision]:
        """Read all decisions in order; `rule` and `known_scale` hold once all are read.

        Args:
            progress: Called now and then.

        Returns:
            The decisions.

        Raises:
            InputError: If the source cannot be used.
        """

    @abstractmethod
    def decision_view(self, details: Mapping[str, Any]) -> DecisionView:
        """Make the page of a decision.

        Args:
            details: The details of a listed decision.

        Returns:
            What the page shows.
        """

    def close(self) -> None:
        """Release what is held; nothing by default."""


def number_cell(value: float | None) -> str:
    """A rating or score as the cell of a table."""
    if value is None or value != value:
        return ""
    return f"{value:.4g}"
