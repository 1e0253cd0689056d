"""The step that evaluates: every rule on the pools of one generator and one benchmark."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from darc import __version__
from darc.analysis.evaluate.base_subset import with_subset_of
from darc.analysis.evaluate.contest import Contest
from darc.analysis.evaluate.evaluation import evaluate, judged_by_people
from darc.analysis.evaluate.run_contest import compare_rules
from darc.analysis.evaluate.settings import ContestSettings
from darc.analysis.evaluate.verdict import summary, verdicts
from darc.analysis.frame import Frame, joined
from darc.analysis.report.error_tables import quantile_buckets, sigma_errors
from darc.analysis.report.folder import write_evaluation
from darc.analysis.report.rule_tables import human_table, main_table
from darc.analysis.report.scorer_tables import scorer_table
from darc.analysis.report.source_tables import source_table
from darc.analysis.run_ratings import load_run
from darc.files import atomic_writer
from darc.json_files import jsonable, read_json
from darc.ratings.joining import JoinedRatings, join
from darc.ratings.load import load_table
from darc.ratings.prompt_ids import read_prompt_ids
from darc.ratings.ratings import Ratings
from darc.reproduce.experiment import BASE, Experiment, MethodConfig
from darc.reproduce.folder import ExperimentFolder
from darc.reproduce.names import PoolName, folder_name
from darc.reproduce.tasks import SCORERS, Task, is_human_cell

FRAMES = "frames"
#: What the ratings of people are called.
PEOPLE = "people"

#: Told of tables that are done, and of all tables.
Report = Callable[[int, int | None], None]


class EvaluateStep:
    """Evaluates the pools of an experiment.

    Args:
        experiment: The experiment.
        folder: Its folder.
        report: Told of progress.
    """

    def __init__(self, experiment: Experiment, folder: ExperimentFolder, report: Report) -> None:
        self._experiment = experiment
        self._folder = folder
        self._report = report

    def evaluate(self, task: Task) -> None:
        """Evaluate the pool of a base, another source beside it, or several scorers."""
        assert task.pool is not None
        kind = task.settings["kind"]
        path = self._folder.evaluation(task.pool.generator, task.pool.benchmark)
        path.mkdir(parents=True, exist_ok=True)
        if kind == BASE:
            frames = self._evaluate_base(task.pool, path)
        elif kind == SCORERS:
            frames = [self._scorer_frame(self._load(task.pool.base))]
        else:
            frames = self._source_frames(replace(task.pool, source=kind))
        write_frames_file(frames, path, kind)

    def _evaluate_base(self, pool: PoolName, path: Path) -> list[Frame]:
        """Everything about the base's pool, with a report that has all figures."""
        inputs = [_main_scorer(self._load(pool.base))]
        settings = self._settings()
        if is_human_cell(self._experiment, pool.generator, pool.benchmark):
            inputs += self._families(pool.base)
            inputs.append(self._people(BASE, pool.base))
            settings = settings.model_copy(update={"stress": self._stress_slice()})
        evaluation = evaluate(inputs, settings, self._report)
        sentences = summary(evaluation, verdicts(evaluation))
        write_evaluation(evaluation, sentences, path, __version__, report=self._report)
        return evaluation.frames

    def _settings(self, table: str = "") -> ContestSettings:
        """How rules are compared: all rules of the base's pool, or those of a table."""
        evaluation = self._experiment.evaluation
        return ContestSettings(
            rules=tuple(base_rules(self._experiment.methods, table)),
            lam=evaluation.lam,
            sigma=evaluation.sigma,
            beta=evaluation.beta,
            splits=evaluation.splits,
            draws=evaluation.draws,
            seed=self._experiment.seed,
        )

    def _stress_slice(self) -> frozenset[str]:
        """The prompt ids of the stress slice, none if no file lists them."""
        human = self._experiment.human
        if human is None or human.stress is None:
            return frozenset()
        return read_prompt_ids(human.stress)

    def _run_path(self, pool: PoolName, family: str = "") -> Path:
        return self._folder.run(pool, family, self._experiment.rewrites.family)

    def _load(self, pool: PoolName, family: str = "") -> Ratings:
        return load_run(self._run_path(pool, family), family or pool.source)

    def _families(self, pool: PoolName) -> list[Ratings]:
        """The scores of the same candidates under the other families of rewrites."""
        rewrites = self._experiment.rewrites
        return [
            _main_scorer(self._load(pool, family))
            for family in rewrites.families
            if family != rewrites.family
        ]

    def _people(self, source: str, pool: PoolName) -> Ratings:
        """The ratings that people gave the candidates of a source."""
        human = self._experiment.human
        assert human is not None
        if human.simulated:
            from darc.reproduce.rehearsal import simulated_ratings

            return simulated_ratings(self._folder, replace(pool, source=source), PEOPLE)
        return load_table(human.ratings[source], name=PEOPLE)

    def _source_frames(self, pool: PoolName) -> list[Frame]:
        """The tables of a source other than the base, on the high-variance prompts of the base."""
        rules = tuple(
            method.rule for method in self._experiment.methods if method.source == pool.source
        )
        settings = self._settings().model_copy(update={"rules": rules})
        ratings = self._shuffled(pool)
        base = self._shuffled(pool.base)
        base_contest = compare_rules(base, settings)
        contest = with_subset_of(compare_rules(ratings, settings), base_contest)
        frames = [main_table(contest), source_table([base_contest, contest])]
        human = self._experiment.human
        has_people = is_human_cell(self._experiment, pool.generator, pool.benchmark)
        if has_people and human is not None and (human.simulated or pool.source in human.ratings):
            base_pair = join(base, self._people(BASE, pool.base))
            judged_base = judged_by_people(base_pair, settings)
            pair = join(ratings, self._people(pool.source, pool))
            judged = with_subset_of(judged_by_people(pair, settings), judged_base)
            frames.append(human_table(judged))
            frames.append(source_table([judged_base, judged]))
            frames.append(error_change_table(judged, judged_base, base_pair))
        return frames

    def _shuffled(self, pool: PoolName) -> Ratings:
        """The main scorer's scores of a pool, with the candidates in a random order."""
        return _main_scorer(self._load(pool)).shuffled(self._experiment.seed)

    def _scorer_frame(self, base: Ratings) -> Frame:
        """What each scorer says of choices that all of them made."""
        settings = self._settings("scorers")
        contest = compare_rules(base.shuffled(settings.seed), settings)
        return scorer_table(contest)


def base_rules(methods: Sequence[MethodConfig], table: str = "") -> list[str]:
    """The different rules that select from the base's pool, those of one table if it is named."""
    return list(
        dict.fromkeys(
            method.rule
            for method in methods
            if method.source == BASE and (not table or table in method.tables)
        )
    )


def error_change_table(contest: Contest, base: Contest, pair: JoinedRatings) -> Frame:
    """The change of a source's tradeoff against the base's, by fifths of the proxy's error.

    Args:
        contest: The contest in which people judge the source.
        base: The contest in which people judge the base.
        pair: The scores and ratings of the base's candidates.

    Returns:
        One row per fifth.
    """
    masks, _ = quantile_buckets(sigma_errors(pair, base))
    places = {prompt_id: place for place, prompt_id in enumerate(contest.ratings.prompt_ids)}
    rows = []
    for number, mask in enumerate(masks, 1):
        changes = [
            contest.tradeoff[0, 0, places[prompt_id]] - base.tradeoff[0, 0, place]
            for place, prompt_id in enumerate(base.ratings.prompt_ids)
            if mask[0, place] and prompt_id in places
        ]
        row = {
            "source": contest.ratings.name,
            "method": contest.methods[0],
            "bucket": f"Q{number}",
            "prompts": len(changes),
            "delta_tradeoff": float(np.nanmean(changes)) if changes else float("nan"),
        }
        rows.append(row)
    return Frame.of("error_sources", "Change of the tradeoff by fifths of the error", rows)


def write_frames_file(frames: Sequence[Frame], folder: Path, kind: str) -> None:
    """Write frames so that `read_frames_files` makes the same ones again."""
    rows = [
        {
            "name": frame.name,
            "title": frame.title,
            "note": frame.note,
            "columns": frame.columns,
            "rows": frame.rows,
        }
        for frame in frames
    ]
    with atomic_writer(folder / f"{FRAMES}-{folder_name(kind)}.json") as file:
        json.dump(jsonable(rows), file)


def read_frames_files(folder: Path) -> dict[str, Frame]:
    """Read the frames of an evaluation by name, those of one name joined."""
    frames = []
    for path in sorted(folder.glob(f"{FRAMES}-*.json")):
        for row in read_json(path):
            frame = Frame(
                name=row["name"],
                title=row["title"],
                note=row["note"],
                columns=tuple(row["columns"]),
                rows=tuple(tuple(cells) for cells in row["rows"]),
            )
            frames.append(frame)
    return {frame.name: frame for frame in joined(frames)}


def _main_scorer(ratings: Ratings) -> Ratings:
    """The scores of the scorer of the main tables."""
    return ratings.with_scorers([0])
