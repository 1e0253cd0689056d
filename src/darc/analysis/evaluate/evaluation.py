"""An evaluation: sources in, frames and warnings out."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeVar

import numpy as np

from darc.analysis.calibrating import leak
from darc.analysis.evaluate import ablations as knobs
from darc.analysis.evaluate.contest import (
    Contest,
    ContestSettings,
    Report,
    Splits,
    compare_rules,
    contest_of,
)
from darc.analysis.frame import WORDS, Frame, joined, table
from darc.analysis.report import pool_tables, proxy_tables, rule_tables
from darc.decide.flags import FLAGS
from darc.engine.surface_scorers import surface_note
from darc.errors import DarcError, InputError
from darc.ratings.joining import JoinedRatings, join
from darc.ratings.ratings import Ratings

FEW_PROMPTS, NOTABLE = 20, 0.005
FATES = ("accepted", "refused")


def warned(source: Ratings, holds: Mapping[str, object], **values: object) -> list[str]:
    """The warnings that hold for a source, by their names, in words that show the values."""
    words = {name: WORDS["warnings"][name].format(**values) for name in holds if holds[name]}
    return [f"{source.name}: {each}" for each in words.values()]


def source_warnings(source: Ratings) -> list[str]:
    """Sentences about a source alone."""
    prompts, there = len(source.prompt_ids), ~np.isnan(source.samples)
    people = source.kind == "rater"
    noun, alone = "rating" if people else "sample", people and len(source.rater_names) == 1
    note = "" if people else surface_note([name for name in source.scorers if name])
    accepted, refused = (source.costs.get(f"rewrites {fate}", 0.0) for fate in FATES)
    holds = {
        "one_prompt": prompts == 1,
        "few_prompts": prompts != 1 and prompts < FEW_PROMPTS,
        "one_rater": alone,
        "no_sigma": not alone and int(there.sum(axis=3).max(initial=0)) < 2,
        "surface": note,
        "no_texts": not source.texts,
        "some_texts": source.texts and np.isnan(source.lengths[there.any(axis=(1, 3))]).any(),
        "refused": refused > accepted,
    }
    share, surface = refused / ((accepted + refused) or 1.0), note[:1].lower() + note[1:-1]
    said = warned(source, holds, prompts=prompts, noun=noun, surface=surface, refused=share)
    for m, scorer in enumerate(source.scorers):
        values = source.samples[:, m][there[:, m]]
        if values.size and values.min() == values.max():
            name = f"scorer {scorer!r}" if scorer else f"every {noun}"
            said.append(f"{source.name}: {name} is {values[0]:g} for everything: all is tied")
    return said


def contest_warnings(contest: Contest) -> list[str]:
    """Sentences about what was done with a source."""
    kept, decided, name = contest.usable, contest.usable.sum(), contest.ratings.name
    never = int((~kept.any(axis=0)).sum())
    unknown, blind = np.isnan(contest.risk[:, 0]) & kept, np.isnan(contest.disagreement) & kept
    nowhere = unknown.any() and blind.any() and not (kept & ~unknown & ~blind).any()
    holds = {
        "dropped": not kept.all(),
        "left_out": contest.left_out >= 0.05,
        "nowhere": nowhere,
        "unknown": not nowhere and unknown.any(),
        "blind": not nowhere and blind.any(),
        "clipped": contest.clipped_share > 0,
        "same": len(contest.methods) > 1 and (contest.choice == contest.choice[:, :1]).all(),
    }
    said = warned(
        contest.ratings,
        holds,
        dropped=1 - decided / kept.size,
        never=f", {never} of them from every split" if never else "",
        left_out=contest.left_out,
        unknown=unknown.sum() / decided,
        blind=blind.sum() / decided,
        clipped=contest.clipped_share,
    )
    for label, reason in contest.not_run.items():
        said.append(f"{name}: {label} was not run: {reason.rstrip('.')}")
    by_flag: dict[str, dict[str, float]] = {}
    # Without a sigma on either side the flags say no more than that.
    for label, flags in contest.flags.items() if not nowhere else ():
        for flag, share in flags.items():
            if share >= NOTABLE:
                by_flag.setdefault(flag, {})[label] = share
    for flag, shares in by_flag.items():
        who = ", ".join(f"{label} {share:.0%}" for label, share in shares.items())
        if len(shares) == len(contest.methods):
            who = f"all rules, up to {max(shares.values()):.0%}"
        said.append(f"{name}: {FLAGS.get(flag, flag)} ({who} of decisions)")
    return said


def flag_table(contest: Contest) -> Frame:
    """Share of each rule's decisions that were flagged, such as a Poisson draw cut to the pool."""
    rows = [
        {"source": contest.ratings.name, "method": label, "flag": flag, "share": share}
        | {"meaning": FLAGS.get(flag, flag)}
        for label, flags in contest.flags.items()
        for flag, share in flags.items()
    ]
    return table("flags", rows)


Made = TypeVar("Made")

ORDER = ("main", "human", "buckets", "validity")
RULE_TABLES: tuple[Callable[[Contest], Frame], ...] = (
    rule_tables.main_table,
    rule_tables.human_table,
    rule_tables.bucket_table,
    rule_tables.scalarisation_table,
    rule_tables.sensitivity_table,
    flag_table,
)


@dataclass
class Evaluation:
    """The frames of all sources, the contests that they were made from, and what to be warned of.

    A frame's first column is the source, so several sources stand side by side. `contests` are the
    sources split into halves; `pairs` the proxies that ratings judge, with their contests. `tick`
    is called after every table.
    """

    settings: ContestSettings
    sources: list[Ratings]
    contests: list[Contest] = field(default_factory=list)
    pairs: list[tuple[JoinedRatings, Contest]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tick: Callable[[], None] = lambda: None

    def frame(self, name: str) -> Frame | None:
        """The frame of this name, if it was made."""
        return next((frame for frame in self.frames if frame.name == name), None)

    def attempt(self, make: Callable[..., Made], *given: object) -> Made | None:
        """What `make` gives; where it fails, its sentence is a warning."""
        try:
            return make(*given)
        except DarcError as problem:
            self.warnings.append(str(problem))
            return None
        finally:
            self.tick()

    def add(self, make: Callable[..., Frame], *given: object) -> None:
        """Keep the frame that `make` gives, if it gives one."""
        if (frame := self.attempt(make, *given)) is not None:
            self.frames.append(frame)


def evaluate(
    sources: Sequence[Ratings],
    settings: ContestSettings | None = None,
    report: Report | None = None,
    ablations: bool = True,
) -> Evaluation:
    """Everything that the sources allow; what cannot be made is a warning, and the rest is made.

    The candidates of a prompt are put in a random order first, drawn from the settings' seed.
    `report(done, total)` counts tables. Without `ablations` no knob is moved and no lazy search is
    made.

    In memory are the samples, (P, M, K, n) numbers a source, as every rule looks at them again in
    every split, one split at a time, and a few numbers a prompt, rule and split of each contest, as
    the bootstrap draws the prompts anew for every table.
    """
    if not sources:
        raise InputError("there is nothing to evaluate", "name a file of ratings or a run folder")
    for name, times in Counter(source.name for source in sources).items():
        if times > 1:
            raise InputError(f"two sources are called {name!r}", "rename one")
    chosen = settings or ContestSettings()
    sources = [source.shuffled(chosen.seed) for source in sources]
    result = Evaluation(chosen, sources)
    if report is not None:
        steps, total = count(1), _steps(sources, ablations)
        result.tick = lambda: report(next(steps), total)
    for source in sources:
        _add_source(result, source, ablations)
    for proxy in (source for source in sources if source.kind != "rater"):
        for human in (source for source in sources if source.kind == "rater"):
            _add_pair(result, proxy, human, ablations)
    result.add(proxy_tables.family_table, result.contests, result.pairs)
    result.add(proxy_tables.family_agreement_table, result.pairs, chosen.draws, chosen.seed)
    place = {name: at for at, name in enumerate(ORDER)}
    result.frames = sorted(joined(result.frames), key=lambda f: place.get(f.name, len(ORDER)))
    return result


def _steps(sources: Sequence[Ratings], ablations: bool) -> int:
    """How many tables there are to make, if all goes well."""
    proxies = sum(source.kind != "rater" for source in sources)
    people, runs = len(sources) - proxies, sum(source.kind == "rewrite" for source in sources)
    alone = (8 + len(RULE_TABLES) + 6 * ablations) * len(sources) + (1 + ablations) * runs
    return alone + (7 + len(RULE_TABLES) + ablations) * proxies * people + 2


def _add_source(result: Evaluation, source: Ratings, ablations: bool) -> None:
    """Add the frames of one source by itself."""
    settings, add = result.settings, result.add
    result.warnings += [*filter(None, [leak(source, settings.calibrations)])]
    result.warnings += source_warnings(source)
    add(pool_tables.pool_table, source)
    add(pool_tables.cost_table, source)
    if source.kind == "rewrite":
        add(pool_tables.latency_table, source)
    contest = result.attempt(compare_rules, source, settings)
    if contest is None:
        return
    result.contests.append(contest)
    result.warnings += contest_warnings(contest)
    for make in (*RULE_TABLES, rule_tables.scorer_table, pool_tables.decision_cost_table):
        add(make, contest)
    add(rule_tables.held_out_scorer_table, source, settings)
    halves = Splits(source, settings)
    add(pool_tables.calibration_table, contest, halves)
    add(pool_tables.density_table, contest, halves)
    if not ablations:
        return
    add(pool_tables.call_table, source, settings.methods)
    add(pool_tables.token_table, source, settings.methods)
    sweep = result.attempt(knobs.sweep_contest, source, halves, settings, knobs.FRONTIER)
    if sweep is not None:
        add(knobs.frontier_table, sweep)
        add(knobs.ablation_table, sweep)
    add(knobs.size_table, source, halves, settings)
    if source.kind == "rewrite":
        add(knobs.budget_table, source, settings)


def _add_pair(result: Evaluation, proxy: Ratings, human: Ratings, ablations: bool) -> None:
    """Add the frames of proxy scores judged by people's ratings."""
    settings, add = result.settings, result.add
    pair = result.attempt(join, proxy, human)
    if pair is None:
        return
    for source, other, missing in zip((proxy, human), (human, proxy), pair.unmatched, strict=True):
        said = warned(source, {"unmatched": missing}, unmatched=missing, other=other.name)
        result.warnings += said
    contest = result.attempt(judged_by_people, pair, settings)
    base = None if contest is None else contest.choice[0, 0]
    for make in (
        proxy_tables.overlap_table,
        proxy_tables.points_table,
        proxy_tables.mismatch_table,
    ):
        add(make, pair, base)
    if contest is None:
        return
    result.pairs.append((pair, contest))
    add(proxy_tables.validity_table, pair, base, settings.draws, settings.seed)
    for each in RULE_TABLES:
        add(each, contest)
    add(proxy_tables.error_table, pair, contest)
    if ablations:
        add(knobs.budget_table, contest.ratings, settings, pair.halves, human.name)


def judged_by_people(pair: JoinedRatings, settings: ContestSettings) -> Contest:
    """The contest in which the proxy selects and people judge."""
    source = replace(pair.proxy, name=f"{pair.proxy.name} judged by {pair.human.name}")
    return contest_of(source, [pair.halves], settings, settings.methods, "joined")
