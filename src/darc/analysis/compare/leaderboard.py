"""A leaderboard: which system is best for everyone.

A system is what wrote a candidate: a model, a prompt, a team.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from darc.decide.standards import Standards
from darc.typing import Array


@dataclass(frozen=True)
class SystemStanding:
    """One system's place among the others."""

    system: str
    #: One more than the number of systems that are better beyond the interval of the difference,
    #: so systems that cannot be told apart share a rank.
    rank: int
    #: The mean rating, with the raters' severity taken out.
    mean: float
    #: The 95 % interval of the mean.
    interval: tuple[float, float]
    #: The share of the ratings below the threshold.
    unhappy: float
    #: The mean of the lowest tenth of the ratings.
    worst_tenth: float
    #: The standard deviation of the ratings of one candidate, pooled over candidates.
    disagreement: float
    prompts: int
    ratings: int
    #: The group of raters with the lowest mean, empty without groups.
    worst_group: str = ""
    worst_group_mean: float = float("nan")


class Reversal(NamedTuple):
    """A prompt on which the second system is ahead of the first, by `margin` in mean rating."""

    prompt_id: str
    margin: float


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Systems side by side."""

    #: What the ratings are called.
    name: str
    standards: Standards
    #: A person who rates below it is unhappy.
    threshold: float
    #: The systems, the best first.
    standings: Sequence[SystemStanding]
    #: wins[i, j] is the share of the prompts answered by both on which system i has the higher
    #: mean than system j; a tie counts half. The systems are in the order of `standings`.
    wins: Array
    #: Prompts on which the second system is ahead of the first, the clearest first.
    reversals: Sequence[Reversal]
    #: Each group's own standings.
    by_group: Mapping[str, Sequence[SystemStanding]]
    #: Whether differences in severity between raters were taken out of the means.
    severity_removed: bool
    #: Whether people rated. Scores of rewrites do not tell who is unhappy.
    rated_by_people: bool = True

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        first = self.standings[0]
        if len(self.standings) == 1:
            return f"There is one system only, {first.system}."
        tied = [standing for standing in self.standings if standing.rank == 1]
        if len(tied) > 1:
            return self._tie_verdict(tied)
        if not self.rated_by_people:
            return f"{first.system} has the highest mean score."
        calmest = min(self.standings, key=_unhappy_share)
        if calmest.unhappy < first.unhappy:
            return (
                f"{first.system} has the highest mean, but {calmest.system} leaves fewer people "
                f"unhappy ({calmest.unhappy:.0%} against {first.unhappy:.0%})."
            )
        return f"{first.system} is best: the highest mean, and nobody leaves fewer people unhappy."

    def _tie_verdict(self, tied: Sequence[SystemStanding]) -> str:
        """The answer if several systems share the first rank."""
        *others, last = [standing.system for standing in tied]
        names = f"{', '.join(others)} and {last}"
        if not self.rated_by_people:
            return f"{names} cannot be told apart by their mean scores."
        calmest = min(tied, key=_unhappy_share)
        unhappiest = max(tied, key=_unhappy_share)
        share = f"{calmest.unhappy:.1%}"
        if share == f"{unhappiest.unhappy:.1%}":
            difference = "they leave the same share of people unhappy"
        else:
            difference = f"of these {calmest.system} leaves the fewest people unhappy"
        return f"{names} cannot be told apart by their means; {difference} ({share})."


def _unhappy_share(standing: SystemStanding) -> float:
    return standing.unhappy
