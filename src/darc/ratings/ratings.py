"""`Ratings`: the samples of many prompts' candidates, with everything that is known about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from darc.decide.ids import Ids, rater_ids, recurring_systems, system_ids
from darc.decide.sample_batch import SampleBatch
from darc.decide.side_inputs import SIDE_INPUTS
from darc.decide.statistics.draws import candidate_lots
from darc.errors import InputError, UnknownName
from darc.ratings.lazy import LazyMapping, LazySequence
from darc.ratings.repeated_ratings import Repeats
from darc.ratings.splitting import NOBODY, draw_selecting, pack_left, raters_recur
from darc.types import clipped
from darc.typing import Array, Integers, Mask

SPLITS = ("auto", "rater", "sample")
# The generator of a run whose answers were given to it.
GIVEN = "given"
# The keys of `Ratings.tokens_spent`.
SPENT = ("generated", "rewritten", "scored")


@dataclass(frozen=True, eq=False)
class Ratings:
    """P prompts with up to K candidates and up to n samples of each under M scorers.

    A sample is a rating by a person, a grade by a judge of a panel, or the score of a rewrite.
    Subsets, shuffled candidates, halves and batches of a file are `Ratings` too.
    """

    #: What reports call these ratings.
    name: str
    #: Who gave the samples: "rater" (people), "panel" (judges that are asked like people) or
    #: "rewrite" (scores of the original and its rewrites).
    kind: str
    #: The ids of the prompts, (P,).
    prompt_ids: Sequence[str]
    #: The ids of each prompt's candidates; a prompt may have fewer than K.
    candidate_ids: Sequence[Sequence[str]]
    #: The names of the scorers, (M,); [""] where there is one without a name.
    scorers: Sequence[str]
    #: The samples (P, M, K, n) on the raw scale, packed to the left, NaN where there is none.
    samples: Array
    #: Who gave each sample, (P, M, K, n), as an index into `rater_names`, `NOBODY` where there is
    #: none. For rewrites it is the number of the rewrite (0 is the original).
    raters: Integers
    #: The names of the raters, or of the rewrites.
    rater_names: Sequence[str]
    #: The lengths of the candidates, (P, K), in units of `length_unit`, NaN where not known.
    lengths: Array
    #: Side inputs of rules by name, with a leading prompt axis, padded with NaN.
    side: Mapping[str, Array] = field(default_factory=dict)
    #: The scorers' fixed locations and scales, None where they have none.
    constants: tuple[list[float], list[float]] | None = None
    #: The (low, high) of each scorer to which a rule's input is clipped.
    bounds: Sequence[tuple[float, float]] | None = None
    #: What wrote each candidate, "" where not known; empty where it does not matter.
    systems: Sequence[Sequence[str]] = ()
    #: The text of each prompt, empty where not known. A run's are read when they are looked at.
    questions: Sequence[str] = ()
    #: The text of each candidate, empty where not known. A run's are read when they are looked at.
    texts: Sequence[Sequence[str]] = ()
    #: The group of each rater that is in one, by the rater's name.
    groups: Mapping[str, str] = field(default_factory=dict)
    #: Totals of a run by name (seconds, calls, tokens).
    costs: Mapping[str, float] = field(default_factory=dict)
    #: The tokens that each part of a run took, by what took them: "generated" and "rewritten"
    #: (P, K), "scored" (P, K, n) for one scorer.
    tokens_spent: Mapping[str, Array] = field(default_factory=dict)
    #: The name of the generator of a run.
    generator: str = ""
    #: Which kind of rewrites a run made.
    family: str = ""
    #: What `lengths` counts.
    length_unit: str = "tokens"
    #: Other columns of a file by name: the cell of every candidate, by prompt. They are read when
    #: they are looked at, so only while the file's table is open.
    extra_columns: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    #: Second ratings by the same rater, which are averaged in `samples`; None where there are none.
    repeats: Repeats | None = None
    #: What a user should know before these ratings are counted, one sentence each.
    notes: Sequence[str] = ()

    @property
    def has_raters(self) -> bool:
        """Whether the samples were given by raters, who are the same wherever a name returns."""
        return self.kind != "rewrite"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """P, M, K, n."""
        prompts, scorers, candidates, samples = self.samples.shape
        return prompts, scorers, candidates, samples

    @property
    def present(self) -> Mask:
        """Where there is a sample, (P, M, K, n)."""
        return ~np.isnan(self.samples)

    def extras(self, prompt: int, candidate: int) -> dict[str, str]:
        """The cells of the extra columns of one candidate, by column.

        Args:
            prompt: The index of the prompt.
            candidate: The index of the candidate within the prompt.

        Raises:
            IndexError: The prompt has no such candidate.
        """
        if not 0 <= candidate < len(self.candidate_ids[prompt]):
            raise IndexError(f"prompt {prompt} has no candidate {candidate}")
        return {name: column[prompt][candidate] for name, column in self.extra_columns.items()}

    def subset(self, prompts: Sequence[int], candidates: Sequence[Sequence[int]]) -> "Ratings":
        """Take some prompts, in order, and some candidates of each, in order.

        Args:
            prompts: The indices of the prompts.
            candidates: The indices of the candidates to take of each of these prompts.

        Returns:
            Ratings whose arrays are copies.
        """
        cut = _Cut(prompts, candidates)
        side = {name: cut.candidate_axis(array) for name, array in self.side.items()}
        for name in side:
            if SIDE_INPUTS.get(name) == "KK":
                side[name] = cut.second_candidate_axis(side[name])
        systems: Sequence[Sequence[str]] = ()
        if self.systems:
            systems = list(cut.nested(self.systems))
        texts: Sequence[Sequence[str]] = ()
        if self.texts:
            texts = cut.nested(self.texts)
        spent = {name: cut.candidate_axis(array) for name, array in self.tokens_spent.items()}
        columns = self.extra_columns
        return replace(
            self,
            prompt_ids=[self.prompt_ids[prompt] for prompt in prompts],
            candidate_ids=list(cut.nested(self.candidate_ids)),
            samples=cut.samples(self.samples, np.nan),
            raters=cut.samples(self.raters, NOBODY),
            lengths=cut.candidate_axis(self.lengths),
            side=side,
            systems=systems,
            questions=_lazy_subset(self.questions, prompts),
            texts=texts,
            tokens_spent=spent,
            extra_columns=LazyMapping([*columns], lambda name: cut.nested(columns[name])),
        )

    def shuffled(self, seed: int) -> "Ratings":
        """Put the candidates of each prompt in a random order.

        Rules break ties by the order, and in many files that is the order of the systems. The
        order depends on (seed, prompt_id, candidate_id), so neither the file's order of prompts
        nor that of candidates changes what is chosen.

        Args:
            seed: The seed of the order.
        """
        orders = []
        for prompt_id, candidate_ids in zip(self.prompt_ids, self.candidate_ids, strict=True):
            lots = candidate_lots(seed, [prompt_id] * len(candidate_ids), candidate_ids)
            orders.append(np.argsort(lots, kind="stable").tolist())
        return self.subset(range(len(orders)), orders)

    def with_scorers(self, scorers: Sequence[int]) -> "Ratings":
        """Keep some of the scorers, given by their indices.

        Args:
            scorers: The indices of the scorers to keep.
        """
        constants = None
        if self.constants is not None:
            locations, scales = self.constants
            constants = ([locations[m] for m in scorers], [scales[m] for m in scorers])
        bounds = None
        if self.bounds is not None:
            bounds = [self.bounds[m] for m in scorers]
        return replace(
            self,
            scorers=[self.scorers[m] for m in scorers],
            samples=np.ascontiguousarray(self.samples[:, list(scorers)]),
            raters=self.raters[:, list(scorers)],
            constants=constants,
            bounds=bounds,
        )

    def split_unit(self, split: str = "auto") -> str:
        """Say what is divided into halves.

        Args:
            split: "rater", "sample", or "auto" for raters where the same ones come back over the
                prompts, and samples otherwise. Rewrites are always split by their number.

        Returns:
            "rater", "sample" or "rewrite", as `halves` takes it.

        Raises:
            UnknownName: There is no such split.
            InputError: There are no raters to split.
        """
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
        if split == "rater" and not self.has_raters:
            raise InputError(f"{self.name} has no raters to split", "use --split sample")
        if not self.has_raters:
            return "rewrite"
        if split != "auto":
            return split
        if self.raters_recur:
            return "rater"
        return "sample"

    @property
    def raters_recur(self) -> bool:
        """Whether most samples come from raters who rate several prompts (or candidates of one)."""
        return raters_recur(self.raters)

    def halves(self, unit: str, seed: int) -> "Halves":
        """Draw a half that selects and a half that judges, with no sample in both.

        Args:
            unit: What is divided: "rater", "sample" or "rewrite", see `split_unit`.
            seed: Seed of the draw.
        """
        selecting = draw_selecting(self.samples, self.raters, unit, seed)
        return self.halves_of(selecting, self.present & ~selecting)

    def halves_of(self, selecting: Mask, judging: Mask) -> "Halves":
        """Make the halves of given samples.

        Args:
            selecting: Mask (P, M, K, n) of the samples that select.
            judging: Mask (P, M, K, n) of the samples that judge.
        """
        in_both = np.all(np.any(selecting, axis=3) & np.any(judging, axis=3), axis=1)
        in_either = np.any(selecting | judging, axis=(1, 3))
        usable = np.asarray(np.any(in_both, axis=1))
        return Halves(
            select=self._packed(selecting & in_both[:, None, :, None]),
            judge=self._packed(judging & in_both[:, None, :, None]),
            usable=usable,
            left_out=int((in_either & ~in_both)[usable].sum()),
        )

    def sample_batch(self, prompts: Integers | None = None, systems: str = "all") -> SampleBatch:
        """The samples as methods see them, clipped to the scorers' bounds.

        Args:
            prompts: The indices of the prompts, all without them.
            systems: Which systems methods are told of: "all", "recurring" (those of several
                prompts, of which something can be learnt) or "none".
        """
        if prompts is None:
            prompts = np.arange(len(self.prompt_ids))
        raters = None
        if self.has_raters:
            raters = rater_ids(self.raters[prompts], self.rater_names, self.groups)
        return SampleBatch(
            samples=clipped(self.samples[prompts], self.bounds),
            prompt_ids=[self.prompt_ids[prompt] for prompt in prompts.tolist()],
            candidate_ids=[self.candidate_ids[prompt] for prompt in prompts.tolist()],
            scorers=self.scorers,
            constants=self.constants,
            raters=raters,
            systems=self._system_ids(prompts, systems),
            side={name: array[prompts] for name, array in self.side.items()},
            sample=self.kind,
            judged=self.kind == "panel",
        )

    def _system_ids(self, prompts: Integers, systems: str) -> Ids | None:
        if systems == "none" or not self.systems:
            return None
        ids = system_ids(self.systems, self.shape[2]).part(prompts)
        if systems == "recurring":
            return recurring_systems(ids)
        return ids

    def _packed(self, chosen: Mask) -> "Ratings":
        samples, raters = pack_left(self.samples, self.raters, chosen)
        return replace(self, samples=samples, raters=raters)


@dataclass(frozen=True, eq=False)
class Halves:
    """Ratings that select and ratings that judge the same candidates of the same prompts.

    A candidate without samples in both halves has none in either.
    """

    #: The samples that rules decide by.
    select: Ratings
    #: The samples that their choices are judged by.
    judge: Ratings
    #: The prompts with a candidate that has samples in both halves, (P,).
    usable: Mask
    #: How many candidates of the usable prompts have samples in one half only.
    left_out: int = 0


class _Cut:
    """Takes some prompts and some candidates of each out of arrays and nested sequences."""

    def __init__(self, prompts: Sequence[int], candidates: Sequence[Sequence[int]]) -> None:
        self._prompts = prompts
        self._candidates = candidates
        self._rows = np.asarray(prompts, dtype=np.int64)
        width = max(len(chosen) for chosen in candidates)
        self._columns = np.full((len(prompts), width), -1, dtype=np.int64)
        for row, chosen in zip(self._columns, candidates, strict=True):
            row[: len(chosen)] = chosen

    def candidate_axis(self, array: NDArray[Any], fill: float = np.nan) -> NDArray[Any]:
        """Cut an array (P, K, ...), filled where a prompt has no candidate."""
        return self._take(array, self._rows, fill)

    def second_candidate_axis(self, array: NDArray[Any]) -> NDArray[Any]:
        """Cut the last axis of (P, K, K), whose other axes are cut already."""
        rows = np.arange(len(self._rows))
        return self._take(array.transpose(0, 2, 1), rows, np.nan).transpose(0, 2, 1)

    def samples(self, array: NDArray[Any], fill: float) -> NDArray[Any]:
        """Cut an array (P, M, K, n)."""
        by_candidate = self._take(array.transpose(0, 2, 1, 3), self._rows, fill)
        return np.ascontiguousarray(by_candidate.transpose(0, 2, 1, 3))

    def nested(self, rows: Sequence[Sequence[str]]) -> Sequence[list[str]]:
        """Cut texts by prompt and candidate, each row when it is looked at."""
        prompts = self._prompts
        candidates = self._candidates

        def make_row(position: int) -> list[str]:
            row = rows[prompts[position]]
            return [row[candidate] for candidate in candidates[position]]

        return LazySequence(len(prompts), make_row)

    def _take(self, array: NDArray[Any], rows: Integers, fill: float) -> NDArray[Any]:
        result = array[rows[:, None], np.maximum(self._columns, 0)]
        result[self._columns < 0] = fill
        return result


def _lazy_subset(items: Sequence[str], positions: Sequence[int]) -> Sequence[str]:
    """The items at some positions, each when it is looked at; none where there are none."""
    if not items:
        return ()
    return LazySequence(len(positions), lambda position: items[positions[position]])
