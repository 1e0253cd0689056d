"""Decisions on a table of ratings, a batch of prompts at a time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from darc.decide.decide_all import decisions_of
from darc.decide.decision import Decision, Decisions
from darc.decide.evidence.judgements import PREDICTION, predict
from darc.decide.ids import rater_ids
from darc.decide.method import Method
from darc.decide.sample_batch import SampleBatch
from darc.decide.standards import Standards, likely_scale
from darc.errors import InputError
from darc.ratings.candidate_judgements import CandidateJudgements
from darc.ratings.ratings import Ratings
from darc.ratings.side_table import SideTable, check_side_inputs, side_inputs_of
from darc.ratings.table import RatingTable
from darc.typing import Array, Mask

# Padded samples that rules learn from: what is held in memory of a table of any size.
_LEARNING_CELLS = 2_000_000

#: Called with the number of prompts that are decided, and of how many.
PromptProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class DecidedBatch:
    """A batch of prompts and each method's decisions on it."""

    ratings: Ratings
    methods: Sequence[Method]
    #: The decisions of each method, in the order of the methods.
    decisions: Sequence[Decisions]

    def changed(self, method: int) -> Mask:
        """Where a method chose another candidate than the first method, (P,)."""
        return np.asarray(self.decisions[method].index != self.decisions[0].index)

    def of(self, prompt: int) -> list[Decision]:
        """Every method's decision on one prompt."""
        return [decisions[prompt] for decisions in self.decisions]


def standards_for(table: RatingTable, standards: Standards) -> Standards:
    """The standards with the likely scale of a table's ratings, where they have no scale.

    The scores of rewrites, of several scorers and of comparisons are on no scale of satisfaction.
    """
    if standards.scale is not None:
        return standards
    if len(table.scorers) > 1 or table.layout == "pairwise" or table.kind == "rewrite":
        return standards
    lowest, highest = table.rating_range()
    return replace(standards, scale=likely_scale(lowest, highest))


def decide_table(
    table: RatingTable,
    methods: Sequence[Method],
    *,
    side: SideTable | None = None,
    judgements: CandidateJudgements | None = None,
    system: str = "auto",
    progress: PromptProgress | None = None,
) -> Iterator[DecidedBatch]:
    """Decide on the prompts of a table by some methods, batch by batch.

    A rule that learns does so once, from the first prompts of the table, so that how prompts are
    batched changes nothing. Rewrites teach nothing about people: on their scores nothing is
    learnt from the table.

    Args:
        table: The ratings.
        methods: How to decide.
        side: Side inputs from a file; others come from the table's extra columns.
        judgements: Judgements of the candidates, for methods whose calibration has learnt from
            such.
        system: "none" hides from rules that learn which system wrote a candidate.
        progress: Called after each batch.

    Yields:
        The decisions on each batch.

    Raises:
        InputError: A side input that a rule needs is missing.
    """
    check_side_inputs((method.rule for method in methods), side, table.extra_columns)
    if table.kind == "rewrite":
        methods = [method.without_learning() for method in methods]
    uses_systems = system != "none" and any(method.learns for method in methods)
    ready = [method.bound_to(table.scorers) for method in methods]
    if any(method.learns_from_samples for method in methods):
        head = _sample_batch(table.head(_LEARNING_CELLS), "recurring" if uses_systems else "none")
        ready = [method.fitted(head) for method in methods]
    done = 0
    for ratings in table.batches():
        batch = _sample_batch(ratings, "all" if uses_systems else "none")
        side_inputs = side_inputs_of((method.rule for method in methods), ratings, side)
        if judgements is not None:
            side_inputs |= _prediction(ready, judgements.of(ratings))
        decisions = decisions_of(ready, replace(batch, side=side_inputs))
        yield DecidedBatch(ratings, ready, decisions)
        done += len(ratings.prompt_ids)
        if progress is not None:
            progress(done, table.prompts)


def _prediction(methods: Sequence[Method], judgements: Mapping[str, Array]) -> dict[str, Array]:
    """The side input that judgements give the methods which can use it.

    Raises:
        InputError: None can, or its calibration knows nothing about judgements.
    """
    for method in methods:
        if PREDICTION in method.rule.side_names:
            calibration = method.rule.parameters.get("calibration")
            return {PREDICTION: predict(calibration, judgements)}
    raise InputError("only the rule auto uses --judge", "choose by --rule auto, or leave it out")


def _sample_batch(ratings: Ratings, systems: str) -> SampleBatch:
    """The samples as methods see them; explanations name rewrites as they do raters."""
    batch = ratings.sample_batch(systems=systems)
    return replace(batch, raters=rater_ids(ratings.raters, ratings.rater_names, ratings.groups))
