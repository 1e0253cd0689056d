"""What is evaluated: the candidates of many prompts with everything that is known of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.decide.select import SIDE_INPUTS
from darc.decide.statistics.draws import candidate_lots
from darc.typing import Array, Integers

NOBODY = -1
GIVEN = "given"
SPENT = ("generated", "rewritten", "scored")


class Lookup(Sequence[Any]):
    """So many items, each made from its place whenever it is looked at."""

    def __init__(self, size: int, make: Callable[[int], Any]) -> None:
        self.size, self.make = size, make

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, at: Any) -> Any:
        places = range(self.size)[at]
        return [*map(self.make, places)] if isinstance(at, slice) else self.make(places)


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
    `texts[p][k]` are the candidates' texts and `questions[p]` the prompts', empty where unknown;
    those of a run are read from its shards when they are looked at.
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


def restrict(source: Source, prompts: Sequence[int], candidates: Sequence[Sequence[int]]) -> Source:
    """The source cut to some prompts, in order, and some candidates of each, in order."""
    place = np.full((len(prompts), max(map(len, candidates))), -1, dtype=np.int64)
    for row, chosen in zip(place, candidates, strict=True):
        row[: len(chosen)] = chosen
    rows, questions = np.asarray(prompts, dtype=np.int64), source.questions

    def cut(array: NDArray[Any], fill: float = np.nan, rows: Integers = rows) -> NDArray[Any]:
        """Rows and candidates of (P, K, ...), filled where there is no candidate."""
        found = array[rows[:, None], np.maximum(place, 0)]
        found[place < 0] = fill
        return found

    def turned(array: NDArray[Any], fill: float) -> NDArray[Any]:
        found = cut(array.transpose(0, 2, 1, 3), fill)
        return np.ascontiguousarray(found.transpose(0, 2, 1, 3))

    def picked(words: Sequence[Sequence[str]]) -> Sequence[list[str]]:
        return Lookup(len(rows), lambda row: [words[prompts[row]][k] for k in candidates[row]])

    side = {name: cut(array) for name, array in source.side.items()}
    for name in (each for each in side if SIDE_INPUTS.get(each) == "KK"):
        columns = cut(side[name].transpose(0, 2, 1), rows=np.arange(len(rows)))
        side[name] = columns.transpose(0, 2, 1)
    return replace(
        source,
        prompt_ids=[source.prompt_ids[p] for p in prompts],
        candidate_ids=list(picked(source.candidate_ids)),
        samples=turned(source.samples, np.nan),
        givers=turned(source.givers, NOBODY),
        tokens=cut(source.tokens),
        side=side,
        questions=Lookup(len(rows), lambda row: questions[prompts[row]]) if questions else (),
        systems=list(picked(source.systems)) if source.systems else (),
        texts=picked(source.texts) if source.texts else (),
        spent={name: cut(array) for name, array in source.spent.items()},
    )


def shuffled(source: Source, seed: int) -> Source:
    """The source with the candidates of each prompt in a random order.

    Rules break ties by the order, and in many files that is the order of the systems. The order
    depends on (seed, prompt_id, candidate_id), so neither the file's order of prompts nor that of
    candidates changes what is chosen.
    """
    orders = []
    for prompt, names in zip(source.prompt_ids, source.candidate_ids, strict=True):
        lots = candidate_lots(seed, [prompt] * len(names), names)
        orders.append(np.argsort(lots, kind="stable").tolist())
    return restrict(source, range(len(orders)), orders)
