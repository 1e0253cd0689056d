"""A leaderboard: which system is best for everyone.

A system is what wrote a candidate: a model, a prompt, a team.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from darc.analysis.compare.prompt_outcomes import PairOutcomes
from darc.analysis.compare.system_means import OWN_PROMPTS, SAME_PROMPTS, TWO_WAY
from darc.decide.standards import Standards
from darc.typing import Array, Mask

#: Up to this many raters, ranks come with a warning.
FEW_RATERS = 3
_METHOD_NOTES = {
    SAME_PROMPTS: "all systems were rated on the same prompts",
    TWO_WAY: (
        "systems were rated on different prompts: means are two-way means (prompt and system "
        "effects); unhappy, worst tenth and disagreement are of each system's own prompts"
    ),
    OWN_PROMPTS: (
        "some systems share no prompts: means are of each system's own prompts, and differences "
        "between prompts count as noise"
    ),
}


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
    #: The 95 % interval of the share of unhappy people.
    unhappy_interval: tuple[float, float] = (float("nan"), float("nan"))
    #: The mean over prompts of the mean rating less lambda times the standard deviation of one
    #: candidate's ratings; NaN if no candidate has two ratings.
    tradeoff: float = float("nan")
    tradeoff_interval: tuple[float, float] = (float("nan"), float("nan"))
    #: The average of the tenth of the prompts' mean ratings that is lowest.
    cvar: float = float("nan")
    cvar_interval: tuple[float, float] = (float("nan"), float("nan"))


@dataclass(frozen=True)
class SystemDifference:
    """How far one system's mean is ahead of another's."""

    first: str
    second: str
    difference: float
    #: Its own 95 % interval, as if no other pair had been looked at.
    interval: tuple[float, float]
    #: Whether the simultaneous band of all pairs tells the two apart.
    beyond_band: bool
    #: About how many more ratings of the two would tell them apart in four of five studies, if the
    #: difference is as seen; infinite if there is none.
    more_ratings: float
    #: Whether most of the noise is what raters like, which more prompts do not reduce.
    needs_raters: bool

    @property
    def sentences(self) -> list[str]:
        """The difference with its interval, and what would tell the two apart."""
        low, high = self.interval
        ends = f"{low:+.3f} to {high:+.3f}"
        sentences = [
            f"{self.first} less {self.second}: {self.difference:+.3f}, 95 % interval {ends}",
        ]
        if self.beyond_band or not isfinite(self.more_ratings):
            return sentences
        source = "by the same raters on more prompts"
        if self.needs_raters:
            source = "by other raters"
        sentences.append(
            f"to tell the two apart, if the difference is as seen: about {self.more_ratings:.0f} "
            f"more ratings of them, {source}"
        )
        return sentences


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
    #: How means were made comparable, see `darc.analysis.compare.system_means`.
    method: str = SAME_PROMPTS
    #: The number of raters who are known.
    raters: int = 0
    #: The difference of the chosen pair, or of the first two systems.
    difference: SystemDifference | None = None
    #: Whether a system leaves fewer people unhappy than another beyond noise, (S, S), in the order
    #: of `standings`.
    fewer_unhappy: Mask | None = None
    #: The weight of disagreement in the tradeoff.
    lam: float = 2.0
    #: ties[i, j] is the share of the prompts answered by both on which the systems i and j have the
    #: same mean, in the order of `standings`.
    ties: Array | None = None
    #: Wins, ties, losses and changes between the systems of `difference`.
    pair_outcomes: PairOutcomes | None = None

    @property
    def notes(self) -> list[str]:
        """How means were compared, and what makes ranks weak."""
        notes = [_METHOD_NOTES[self.method]]
        if 0 < self.raters <= FEW_RATERS:
            notes.append(
                f"warning: only {self.raters} raters: what they happen to like about a system can "
                "look like a difference between systems; ask more people"
            )
        return notes

    @property
    def difference_sentences(self) -> list[str]:
        """The difference of the pair with its interval, and what would tell the two apart."""
        if self.difference is None:
            return []
        return self.difference.sentences

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
        calmer = self._calmer_than(0, range(1, len(self.standings)))
        if calmer is not None:
            return (
                f"{first.system} has the highest mean, but {calmer.system} leaves fewer people "
                f"unhappy ({calmer.unhappy:.0%} against {first.unhappy:.0%})."
            )
        return (
            f"{first.system} is best: the highest mean, and no system leaves fewer people unhappy "
            "beyond noise."
        )

    def _calmer_than(self, place: int, others: Sequence[int]) -> SystemStanding | None:
        """The system that leaves the fewest people unhappy of those that beat one beyond noise."""
        if self.fewer_unhappy is None:
            return None
        calmer = [self.standings[other] for other in others if self.fewer_unhappy[other, place]]
        return min(calmer, key=_unhappy_share, default=None)

    def _tie_verdict(self, tied: Sequence[SystemStanding]) -> str:
        """The answer if several systems share the first rank."""
        *others, last = [standing.system for standing in tied]
        names = f"{', '.join(others)} and {last}"
        if not self.rated_by_people:
            return f"{names} cannot be told apart by their mean scores."
        for place, standing in enumerate(tied):
            if self.fewer_unhappy is None:
                break
            if all(self.fewer_unhappy[place, i] for i in range(len(tied)) if i != place):
                return (
                    f"{names} cannot be told apart by their means; of these {standing.system} "
                    f"leaves the fewest people unhappy ({standing.unhappy:.1%})."
                )
        return f"{names} cannot be told apart, by their means or by how many people are unhappy."


def _unhappy_share(standing: SystemStanding) -> float:
    return standing.unhappy
