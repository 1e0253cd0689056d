"""An evaluation: ratings in, frames and warnings out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from darc.analysis.calibrating import leak_warning
from darc.analysis.evaluate import ablations as ablation_tables
from darc.analysis.evaluate.base_subset import is_beside, with_subset_of
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.run_contest import Splits, compare_rules, contest_of
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.warnings import (
    contest_warnings,
    ratings_warnings,
    stress_warnings,
    unmatched_warnings,
)
from darc.analysis.frame import Frame, joined, table
from darc.analysis.report import (
    bucket_tables,
    cost_tables,
    error_tables,
    family_tables,
    held_out_tables,
    pool_tables,
    proxy_tables,
    rule_tables,
    scorer_agreement,
    scorer_tables,
    source_tables,
)
from darc.decide.flags import FLAGS
from darc.errors import DarcError, InputError
from darc.ratings.joining import JoinedRatings, join
from darc.ratings.ratings import Ratings

#: Called with the number of tables that are done, and of how many.
Report = Callable[[int, int | None], None]

_Result = TypeVar("_Result")


def flag_table(contest: Contest) -> Frame:
    """The share of each rule's decisions that were flagged."""
    rows = [
        {
            "source": contest.ratings.name,
            "method": text,
            "flag": flag,
            "share": share,
            "meaning": FLAGS.get(flag, flag),
        }
        for text, flags in contest.flags.items()
        for flag, share in flags.items()
    ]
    return table("flags", rows)


# The frames that come first, in this order.
_FIRST_FRAMES = ("main", "human", "buckets", "validity")
_RULE_TABLES: tuple[Callable[[Contest], Frame], ...] = (
    rule_tables.main_table,
    rule_tables.human_table,
    bucket_tables.bucket_table,
    rule_tables.scalarisation_table,
    rule_tables.sensitivity_table,
    flag_table,
)


@dataclass
class Evaluation:
    """The frames of all ratings, the contests that they were made from, and the warnings.

    A frame's first column is the name of the ratings, so several stand side by side.
    """

    settings: ContestSettings
    #: The ratings, with the candidates of each prompt in a random order.
    inputs: list[Ratings]
    #: The contests of the ratings, split into halves.
    contests: list[Contest] = field(default_factory=list)
    #: The proxies that people judge, with their contests.
    pairs: list[tuple[JoinedRatings, Contest]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def frame(self, name: str) -> Frame | None:
        """The frame of this name, if it was made.

        Args:
            name: The name of the frame.
        """
        return next((frame for frame in self.frames if frame.name == name), None)


def evaluate(
    inputs: Sequence[Ratings],
    settings: ContestSettings | None = None,
    report: Report | None = None,
    ablations: bool = True,
) -> Evaluation:
    """Make every table that the ratings allow; what cannot be made is a warning.

    The candidates of a prompt are put in a random order first, drawn from the settings' seed.

    In memory are the samples, (P, M, K, n) numbers per input, as every rule looks at them again in
    every split, one split at a time, and a few numbers per prompt, rule and split of each contest,
    as the bootstrap draws the prompts anew for every table.

    Args:
        inputs: Ratings of people, scores of runs, or both of the same candidates.
        settings: How the evaluation is made.
        report: Called after every table.
        ablations: Whether to vary parameters and pool sizes, and to make lazy searches.

    Returns:
        The tables, the contests behind them, and what could not be made.

    Raises:
        InputError: There are no ratings, two have the same name, or none has a prompt of the
            stress slice.
    """
    if not inputs:
        raise InputError("there is nothing to evaluate", "name a file of ratings or a run folder")
    for name, times in Counter(ratings.name for ratings in inputs).items():
        if times > 1:
            raise InputError(f"two sources are called {name!r}", "rename one")
    settings = settings or ContestSettings()
    prompts = {prompt for ratings in inputs for prompt in ratings.prompt_ids}
    if settings.stress and prompts.isdisjoint(settings.stress):
        raise InputError(
            "no source has a prompt of the stress slice",
            f"list ids such as {min(prompts)!r}",
        )
    shuffled = [ratings.shuffled(settings.seed) for ratings in inputs]
    builder = _EvaluationBuilder(Evaluation(settings, shuffled), ablations, report)
    return builder.build()


class _EvaluationBuilder:
    """Fills an evaluation, table by table."""

    def __init__(self, result: Evaluation, ablations: bool, report: Report | None) -> None:
        self._result = result
        self._settings = result.settings
        self._ablations = ablations
        self._report = report
        self._done = 0
        self._total = _table_count(result.inputs, ablations)
        # The contests of runs, and of runs that people judge by the ratings; the first is the base.
        self._run_contests: list[Contest] = []
        self._judged_contests: dict[str, list[Contest]] = {}

    def build(self) -> Evaluation:
        """Make everything."""
        result = self._result
        for ratings in result.inputs:
            self._add_ratings(ratings)
        for proxy in _proxies(result.inputs):
            for human in _human_ratings(result.inputs):
                self._add_pair(proxy, human)
        for contests in (self._run_contests, *self._judged_contests.values()):
            self._add(source_tables.source_table, contests)
        stress = self._settings.stress
        self._add(family_tables.family_table, result.contests, result.pairs, stress)
        self._add(
            family_tables.family_agreement_table,
            result.pairs,
            self._settings.draws,
            self._settings.seed,
            stress,
        )
        result.warnings += stress_warnings(result.inputs, stress, result.frame("families"))
        result.frames = sorted(joined(result.frames), key=_frame_rank)
        return result

    def _add_ratings(self, ratings: Ratings) -> None:
        """Add the frames of some ratings by themselves."""
        result = self._result
        leak = leak_warning(ratings, self._settings.calibrations)
        if leak:
            result.warnings.append(leak)
        result.warnings += ratings_warnings(ratings)
        self._add(pool_tables.pool_table, ratings)
        self._add(cost_tables.cost_table, ratings)
        if ratings.kind == "rewrite":
            self._add(cost_tables.latency_table, ratings)
        contest = self._attempt(compare_rules, ratings, self._settings)
        if contest is None:
            return
        if ratings.kind != "rater":
            contest = _on_base_prompts(contest, self._run_contests)
        result.contests.append(contest)
        result.warnings += contest_warnings(contest)
        scorer_makers = (scorer_tables.scorer_table, scorer_agreement.scorer_agreement_table)
        for make in (*_RULE_TABLES, *scorer_makers, cost_tables.decision_cost_table):
            self._add(make, contest)
        self._add(scorer_tables.held_out_scorer_table, ratings, self._settings)
        splits = Splits(ratings, self._settings)
        self._add(held_out_tables.calibration_table, contest, splits)
        self._add(held_out_tables.density_table, contest, splits)
        if self._ablations:
            self._add_ablations(ratings, splits)

    def _add_ablations(self, ratings: Ratings, splits: Splits) -> None:
        """Add the frames of lazy searches, other parameters and smaller pools."""
        settings = self._settings
        self._add(cost_tables.call_table, ratings, settings.methods)
        self._add(cost_tables.token_table, ratings, settings.methods)
        sweep = self._attempt(
            ablation_tables.sweep_contest, ratings, splits, settings, ablation_tables.FRONTIER
        )
        if sweep is not None:
            self._add(ablation_tables.frontier_table, sweep)
            self._add(ablation_tables.ablation_table, sweep)
        self._add(ablation_tables.size_table, ratings, splits, settings)
        if ratings.kind == "rewrite":
            self._add(ablation_tables.budget_table, ratings, settings)

    def _add_pair(self, proxy: Ratings, human: Ratings) -> None:
        """Add the frames of proxy scores judged by people's ratings."""
        result = self._result
        settings = self._settings
        pair = self._attempt(join, proxy, human)
        if pair is None:
            return
        result.warnings += unmatched_warnings(proxy, human, pair.unmatched[0])
        result.warnings += unmatched_warnings(human, proxy, pair.unmatched[1])
        contest = self._attempt(judged_by_people, pair, settings)
        if contest is not None:
            contest = _on_base_prompts(contest, self._judged_contests.setdefault(human.name, []))
        base = None
        if contest is not None:
            base = contest.choice[0, 0]
        self._add(proxy_tables.overlap_table, pair, base)
        self._add(proxy_tables.points_table, pair, base)
        self._add(proxy_tables.mismatch_table, pair, base)
        if contest is None:
            return
        result.pairs.append((pair, contest))
        self._add(proxy_tables.validity_table, pair, base, settings.draws, settings.seed)
        for make in _RULE_TABLES:
            self._add(make, contest)
        self._add(error_tables.error_table, pair, contest)
        self._add(held_out_tables.density_table, contest, [pair.halves])
        if self._ablations:
            self._add(
                ablation_tables.budget_table, contest.ratings, settings, pair.halves, human.name
            )

    def _add(self, make: Callable[..., Frame], *arguments: object) -> None:
        """Add the frame that a function makes, if it makes one."""
        frame = self._attempt(make, *arguments)
        if frame is not None:
            self._result.frames.append(frame)

    def _attempt(self, make: Callable[..., _Result], *arguments: object) -> _Result | None:
        """What a function makes; where it fails, its message is a warning."""
        try:
            return make(*arguments)
        except DarcError as problem:
            self._result.warnings.append(str(problem))
            return None
        finally:
            self._done += 1
            if self._report is not None:
                self._report(self._done, self._total)


def judged_by_people(pair: JoinedRatings, settings: ContestSettings) -> Contest:
    """The contest in which the proxy selects and people judge."""
    ratings = replace(pair.proxy, name=f"{pair.proxy.name} judged by {pair.human.name}")
    return contest_of(ratings, [pair.halves], settings, settings.methods, "joined")


def _on_base_prompts(contest: Contest, earlier: list[Contest]) -> Contest:
    """Put a contest on the high-variance prompts of the first one, if it has the same prompts.

    Args:
        contest: The contest.
        earlier: The contests of the same kind before it, to which it is added.

    Returns:
        The contest with its high-variance prompts.
    """
    if earlier and is_beside(contest, earlier[0]):
        contest = with_subset_of(contest, earlier[0])
    earlier.append(contest)
    return contest


def _frame_rank(frame: Frame) -> int:
    """Where a frame stands among all."""
    if frame.name in _FIRST_FRAMES:
        return _FIRST_FRAMES.index(frame.name)
    return len(_FIRST_FRAMES)


def _proxies(inputs: Sequence[Ratings]) -> list[Ratings]:
    return [ratings for ratings in inputs if ratings.kind != "rater"]


def _human_ratings(inputs: Sequence[Ratings]) -> list[Ratings]:
    return [ratings for ratings in inputs if ratings.kind == "rater"]


def _table_count(inputs: Sequence[Ratings], ablations: bool) -> int:
    """How many tables there are to make, if all goes well."""
    runs = sum(ratings.kind == "rewrite" for ratings in inputs)
    pairs = len(_proxies(inputs)) * len(_human_ratings(inputs))
    per_input = 9 + len(_RULE_TABLES)
    per_run = 1
    per_pair = 8 + len(_RULE_TABLES)
    if ablations:
        per_input += 6
        per_run += 1
        per_pair += 1
    once = 3 + len(_human_ratings(inputs)) * bool(pairs)
    return per_input * len(inputs) + per_run * runs + per_pair * pairs + once
