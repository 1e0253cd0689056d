"""The samples of many prompts with their ids, before a method looks at them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from darc.decide.ids import Ids
from darc.typing import Array


@dataclass(frozen=True, eq=False)
class SampleBatch:
    """The samples of P prompts with up to K candidates, from M scorers, and the ids of everything.

    Any field but `samples` and `prompt_ids` may be left out.
    """

    #: (P, M, K, n), NaN where there is no sample.
    samples: Array
    #: One id per prompt; rules that draw at random are seeded by it.
    prompt_ids: Sequence[object]
    #: The names of each prompt's candidates, for explanations.
    candidate_ids: Sequence[Sequence[str]] | None = None
    #: The names of the scorers, by which calibrations are looked up.
    scorers: Sequence[str] = ()
    #: The locations and scales of the scorers, needed for the normalisation "fixed".
    constants: tuple[list[float], list[float]] | None = None
    #: Who gave each sample, (P, K, n).
    raters: Ids | None = None
    #: Which system wrote each candidate, (P, K).
    systems: Ids | None = None
    #: Side inputs by name, (P, K, ...). Each method gets those that its rule uses.
    side: Mapping[str, Array] = field(default_factory=dict)
    #: What one sample is: "rater", "rewrite" or "sample".
    sample: str = "sample"
    #: Whether the samples are grades of judge models, which are not independent people.
    judged: bool = False
