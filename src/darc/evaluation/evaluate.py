"""An evaluation: sources in, frames and warnings out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from darc.errors import DarcError, InputError
from darc.evaluation.ablations.calibration import calibration_table
from darc.evaluation.ablations.density import density_table
from darc.evaluation.ablations.knobs import FRONTIER, ablation_table, frontier_table, sweep_study
from darc.evaluation.ablations.sizes import budget_table, size_table
from darc.evaluation.caveats import flag_table, join_warnings, source_warnings, study_warnings
from darc.evaluation.frame import Frame, joined
from darc.evaluation.join import Joined, join, shuffled
from darc.evaluation.source import Source
from darc.evaluation.study import Report, Settings, Study, halves_of_seeds, make_study, study_of
from darc.evaluation.tables.buckets import bucket_table
from darc.evaluation.tables.calls import call_table
from darc.evaluation.tables.cost import (
    cost_table,
    decision_cost_table,
    latency_table,
    token_table,
)
from darc.evaluation.tables.errors import error_table
from darc.evaluation.tables.families import family_agreement_table, family_table
from darc.evaluation.tables.human import human_table
from darc.evaluation.tables.main import main_table
from darc.evaluation.tables.pool import pool_table
from darc.evaluation.tables.scalarisation import scalarisation_table
from darc.evaluation.tables.scorers import held_out_scorer_table, scorer_table
from darc.evaluation.tables.sensitivity import sensitivity_table
from darc.evaluation.tables.validity import (
    mismatch_table,
    overlap_table,
    points_table,
    validity_table,
)

Made = TypeVar("Made")

ORDER = ("main", "human", "buckets", "validity")
STUDY_TABLES: tuple[Callable[[Study], Frame], ...] = (
    main_table,
    human_table,
    bucket_table,
    scalarisation_table,
    sensitivity_table,
    flag_table,
)
JOINED_TABLES: tuple[Callable[..., Frame], ...] = (overlap_table, points_table, mismatch_table)


@dataclass
class Evaluation:
    """The frames of all sources, the studies that they were made from, and what to be warned of.

    A frame's first column is the source, so several sources stand side by side. `studies` are the
    sources split into halves; `pairs` the proxies that ratings judge, with their studies.
    """

    settings: Settings
    sources: list[Source]
    studies: list[Study] = field(default_factory=list)
    pairs: list[tuple[Joined, Study]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def frame(self, name: str) -> Frame | None:
        """The frame of this name, if it was made."""
        return next((frame for frame in self.frames if frame.name == name), None)

    def attempt(self, make: Callable[..., Made], *given: object) -> list[Made]:
        """What `make` gives, in a list; where it fails, its sentence is a warning."""
        try:
            return [make(*given)]
        except DarcError as problem:
            self.warnings.append(str(problem))
            return []


def evaluate(
    sources: Sequence[Source],
    settings: Settings | None = None,
    report: Report | None = None,
    ablations: bool = True,
) -> Evaluation:
    """Everything that the sources allow; what cannot be made is a warning, and the rest is made.

    The candidates of a prompt are put in a random order first, drawn from the settings' seed.
    `report(done, total)` counts splits. Without `ablations` no knob is moved
    and no lazy search is made.
    """
    if not sources:
        raise InputError("there is nothing to evaluate", "name a file of ratings or a run folder")
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two sources are called {name!r}", "rename one")
    chosen = settings or Settings()
    sources = [shuffled(source, chosen.seed) for source in sources]
    result = Evaluation(chosen, sources)
    made: list[Frame] = []
    for source in sources:
        made += _of_source(result, source, report, ablations)
    for proxy in (source for source in sources if source.kind != "rater"):
        for human in (source for source in sources if source.kind == "rater"):
            made += _of_pair(result, proxy, human, ablations)
    made += result.attempt(family_table, result.studies, result.pairs)
    draws, seed = result.settings.draws, result.settings.seed
    made += result.attempt(family_agreement_table, result.pairs, draws, seed)
    frames = joined(frame for frame in made if len(frame))
    place = {name: at for at, name in enumerate(ORDER)}
    result.frames = sorted(frames, key=lambda frame: place.get(frame.name, len(ORDER)))
    return result


def _of_source(
    result: Evaluation, source: Source, report: Report | None, ablations: bool
) -> list[Frame]:
    """The frames of one source by itself."""
    settings, attempt = result.settings, result.attempt
    result.warnings += source_warnings(source)
    made = [*attempt(pool_table, source), *attempt(cost_table, source)]
    if source.kind == "rewrite":
        made += attempt(latency_table, source)
    for study in attempt(make_study, source, settings, report):
        result.studies.append(study)
        result.warnings += study_warnings(study)
        for table in (*STUDY_TABLES, scorer_table, decision_cost_table):
            made += attempt(table, study)
        made += attempt(held_out_scorer_table, source, settings)
        halves = list(halves_of_seeds(source, settings))
        made += attempt(calibration_table, study, halves)
        made += attempt(density_table, study, halves)
        if ablations:
            specs = settings.methods
            made += attempt(call_table, source, specs)
            made += attempt(token_table, source, specs)
            for sweep in attempt(sweep_study, source, halves, settings, FRONTIER):
                made += [*attempt(frontier_table, sweep), *attempt(ablation_table, sweep)]
            made += attempt(size_table, source, halves, settings)
            if source.kind == "rewrite":
                made += attempt(budget_table, source, settings)
    return made


def _of_pair(result: Evaluation, proxy: Source, human: Source, ablations: bool) -> list[Frame]:
    """The frames of proxy scores judged by people's ratings."""
    settings, attempt = result.settings, result.attempt
    made: list[Frame] = []
    for pair in attempt(join, proxy, human):
        result.warnings += join_warnings(pair)
        studies = attempt(joined_study, pair, settings)
        base = studies[0].choice[0, 0] if studies else None
        for table in JOINED_TABLES:
            made += attempt(table, pair, base)
        for study in studies:
            result.pairs.append((pair, study))
            made += attempt(validity_table, pair, base, settings.draws, settings.seed)
            for each in STUDY_TABLES:
                made += attempt(each, study)
            made += attempt(error_table, pair, study)
            if ablations:
                made += attempt(budget_table, study.source, settings, pair.halves, human.name)
    return made


def joined_study(pair: Joined, settings: Settings) -> Study:
    """The study in which the proxy selects and people judge."""
    source = replace(pair.proxy, name=f"{pair.proxy.name} judged by {pair.human.name}")
    specs = settings.methods
    return study_of(source, [pair.halves], settings, specs, "joined")
