"""Several sets of ratings as one: more people, more prompts, or one file per system."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from darc.errors import InputError
from darc.ratings.packing import SamplePacking
from darc.ratings.ratings import Ratings
from darc.ratings.splitting import NOBODY
from darc.typing import Array, Integers


def merge_ratings(parts: Sequence[Ratings]) -> Ratings:
    """Put several sets of ratings together.

    Prompts, candidates and raters with the same id are the same. What one rater gave one candidate
    in several sets is averaged, so a file that is given twice counts once. If the sets have fewer
    than two systems together, each set is a system that is called like the set.

    Args:
        parts: The sets, of the same kind and with the same scorers.

    Returns:
        Ratings without side inputs, lengths and texts.

    Raises:
        InputError: There are no sets, or they differ in kind or scorers.
    """
    if not parts:
        raise InputError("there are no ratings", "name a file of ratings or a run folder")
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    for part in parts[1:]:
        if part.kind != first.kind or list(part.scorers) != list(first.scorers):
            raise InputError(
                f"{first.name} and {part.name} were not rated in the same way: their kinds or "
                "scorers differ",
                "compare them one at a time",
            )
    parts = _with_systems(parts)
    index = _Index()
    rows = [index.add(part) for part in parts]
    samples = _averaged(
        prompt=np.concatenate([part_rows.prompt for part_rows in rows]),
        candidate=np.concatenate([part_rows.candidate for part_rows in rows]),
        scorer=np.concatenate([part_rows.scorer for part_rows in rows]),
        rater=np.concatenate([part_rows.rater for part_rows in rows]),
        value=np.concatenate([part_rows.value for part_rows in rows]),
        raters=len(index.raters),
        scorers=len(first.scorers),
        candidates=index.candidate_counts,
    )
    groups: dict[str, str] = {}
    for part in parts:
        groups |= part.groups
    width = max(index.candidate_counts)
    return replace(
        first,
        name=" and ".join(part.name for part in parts),
        prompt_ids=list(index.prompts),
        candidate_ids=[list(row) for row in index.candidates],
        samples=samples[0],
        raters=samples[1],
        rater_names=list(index.raters),
        lengths=np.full((len(index.prompts), width), np.nan),
        side={},
        constants=None,
        systems=index.systems,
        questions=[""] * len(index.prompts),
        texts=(),
        groups=groups,
        costs={},
        tokens_spent={},
        extra_columns={},
    )


def _with_systems(parts: Sequence[Ratings]) -> list[Ratings]:
    """The sets, each of them one system if they have fewer than two together."""
    names = {name for part in parts for row in part.systems for name in row if name}
    if len(names) > 1:
        return list(parts)
    result = []
    for part in parts:
        ids = [[f"{part.name} {name}" for name in row] for row in part.candidate_ids]
        systems = [[part.name] * len(row) for row in part.candidate_ids]
        result.append(replace(part, candidate_ids=ids, systems=systems))
    return result


@dataclass(frozen=True, eq=False)
class _Rows:
    """The samples of one set with the places that they have in all sets, arrays (N,)."""

    prompt: Integers
    #: The place of the candidate within its prompt.
    candidate: Integers
    scorer: Integers
    rater: Integers
    value: Array


@dataclass
class _Index:
    """The ids of all sets by their places."""

    prompts: dict[str, int] = field(default_factory=dict)
    #: The candidates of each prompt, and the systems that wrote them.
    candidates: list[dict[str, int]] = field(default_factory=list)
    systems: list[list[str]] = field(default_factory=list)
    raters: dict[str, int] = field(default_factory=dict)

    @property
    def candidate_counts(self) -> list[int]:
        """How many candidates each prompt has."""
        return [len(row) for row in self.candidates]

    def add(self, part: Ratings) -> _Rows:
        """Add the ids of a set, and find the places of its samples."""
        prompt_places = np.zeros(len(part.prompt_ids), dtype=np.int64)
        candidate_places = np.zeros((len(part.prompt_ids), part.shape[2]), dtype=np.int64)
        for p, prompt_id in enumerate(part.prompt_ids):
            place = self.prompts.setdefault(prompt_id, len(self.prompts))
            if place == len(self.candidates):
                self.candidates.append({})
                self.systems.append([])
            prompt_places[p] = place
            systems = part.systems[p] if part.systems else [""] * len(part.candidate_ids[p])
            for k, candidate_id in enumerate(part.candidate_ids[p]):
                candidate_places[p, k] = self._candidate_place(place, candidate_id, systems[k])
        # The last place is that of `NOBODY`.
        rater_places = np.full(len(part.rater_names) + 1, NOBODY)
        for r, name in enumerate(part.rater_names):
            rater_places[r] = self.raters.setdefault(name, len(self.raters))
        present = part.present
        prompt, scorer, candidate, _ = np.nonzero(present)
        return _Rows(
            prompt=prompt_places[prompt],
            candidate=candidate_places[prompt, candidate],
            scorer=scorer,
            rater=rater_places[part.raters[present]],
            value=part.samples[present],
        )

    def _candidate_place(self, prompt: int, candidate_id: str, system: str) -> int:
        """The place of a candidate within its prompt; an id with two systems is two candidates."""
        key = candidate_id
        places = self.candidates[prompt]
        if key in places and system and self.systems[prompt][places[key]] not in ("", system):
            key = f"{candidate_id} {system}"
        if key not in places:
            places[key] = len(places)
            self.systems[prompt].append(system)
        elif system:
            self.systems[prompt][places[key]] = system
        return places[key]


def _averaged(
    prompt: Integers,
    candidate: Integers,
    scorer: Integers,
    rater: Integers,
    value: Array,
    raters: int,
    scorers: int,
    candidates: Sequence[int],
) -> tuple[Array, Integers]:
    """Samples and raters (P, M, K, n), with the repeats of a rater averaged."""
    counts = np.array(candidates)
    cell = ((np.cumsum(counts) - counts)[prompt] + candidate) * scorers + scorer
    # Ratings of nobody in particular are all different.
    unknown = rater == NOBODY
    person = np.where(unknown, raters + np.arange(len(rater)), rater)
    order = np.lexsort((person, cell))
    starts = np.ones(len(order), dtype=bool)
    sorted_cell = cell[order]
    sorted_person = person[order]
    starts[1:] = (sorted_cell[1:] != sorted_cell[:-1]) | (sorted_person[1:] != sorted_person[:-1])
    group = np.cumsum(starts) - 1
    means = np.bincount(group, value[order]) / np.bincount(group)
    packing = SamplePacking(sorted_cell[starts], counts, scorers)
    return packing.array(means), packing.array(rater[order][starts])
