"""What is evaluated: the candidates of many prompts with everything that is known of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from darc.typing import Array, Integers

NOBODY = -1


@dataclass(frozen=True, eq=False)
class Source:
    """P prompts with up to K candidates and n samples of each under M scorers.

    `samples` (P, M, K, n) are on the raw scale, NaN where there is none, packed to the left.
    `givers` (P, M, K, n) says who gave a sample, as an index into `giver_names`, `NOBODY` where
    there is none: a rater, or the number of the rewrite (0 is the original). `kind` is "rater", for
    people, "panel", for judges that are asked like people, or "rewrite". `side` holds side inputs
    with a leading prompt axis, padded with NaN. `tokens` (P, K) are lengths, NaN where unknown.
    `constants` are the scorers' fixed (locations, scales), None where they have none; `bounds` one
    (low, high) a scorer to which a rule's input is clipped.
    `systems[p][k]` names who wrote a candidate, "" where unknown, empty where it does not matter.
    `texts[p][k]` are the candidates' texts and `questions[p]` the prompts', empty where unknown.
    `length_unit` says what `tokens` counts. `groups` maps a giver's name to a group. `costs` are
    totals by name (seconds, calls, tokens); `spent` the tokens that each part took, by what took
    them: "generated" and "rewritten" (P, K), "scored" (P, K, n) for one scorer.
    """

    name: str
    kind: str
    prompt_ids: Sequence[str]
    candidate_ids: Sequence[Sequence[str]]
    scorers: Sequence[str]
    samples: Array
    givers: Integers
    giver_names: Sequence[str]
    tokens: Array
    side: Mapping[str, Array] = field(default_factory=dict)
    constants: tuple[list[float], list[float]] | None = None
    bounds: Sequence[tuple[float, float]] | None = None
    systems: Sequence[Sequence[str]] = ()
    questions: Sequence[str] = ()
    texts: Sequence[Sequence[str]] = ()
    categories: Sequence[str] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    costs: Mapping[str, float] = field(default_factory=dict)
    spent: Mapping[str, Array] = field(default_factory=dict)
    generator: str = ""
    family: str = ""
    length_unit: str = "tokens"

    @property
    def rated(self) -> bool:
        """Whether the samples are of raters, who can be known again by their names."""
        return self.kind != "rewrite"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """P, M, K, n."""
        prompts, scorers, candidates, samples = self.samples.shape
        return prompts, scorers, candidates, samples
