"""An evaluation: sources in, frames and warnings out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeVar

import numpy as np

from darc.engine.parts import surface_note
from darc.errors import DarcError, InputError
from darc.evaluation import ablations as knobs
from darc.evaluation import pool_tables, proxy_tables, rule_tables
from darc.evaluation.calibrating import leak
from darc.evaluation.contest import (
    Contest,
    ContestSettings,
    Report,
    Splits,
    compare_rules,
    contest_of,
)
from darc.evaluation.frame import Frame, joined, table
from darc.evaluation.source import Source, shuffled
from darc.evaluation.split import Joined, join
from darc.selection.decision import FLAGS

FEW_PROMPTS = 20


def source_warnings(source: Source) -> list[str]:
    """Sentences about a source alone."""
    said = []
    prompts, scorers, _, _ = source.shape
    there = ~np.isnan(source.samples)
    noun = "rating" if source.kind == "rater" else "sample"
    if prompts < FEW_PROMPTS:
        rough = "intervals from so few are rough"
        none = "there is nothing to resample, so there are no intervals"
        said.append(
            f"{prompts} prompt{'s' * (prompts != 1)} only: {none if prompts == 1 else rough}"
        )
    if source.kind == "rater" and len(source.giver_names) == 1:
        said.append("there is one rater only, so no disagreement can be seen")
    elif int(there.sum(axis=3).max(initial=0)) < 2:
        said.append(f"no candidate has a second {noun}, so no sigma is known")
    if source.kind != "rater" and (note := surface_note([each for each in source.scorers if each])):
        said.append(note[0].lower() + note[1:-1])
    if not source.texts:
        said.append("there are no texts: lengths and mismatch cases are left out")
    elif np.isnan(source.tokens[there.any(axis=(1, 3))]).any():
        said.append("some candidates have no text, so lengths are of the others")
    accepted = source.costs.get("rewrites accepted", 0.0)
    refused = source.costs.get("rewrites refused", 0.0)
    if refused > accepted:
        share = refused / (accepted + refused)
        said.append(f"{share:.0%} of the rewrites were refused, so samples are few or alike")
    for m in range(scorers):
        values = source.samples[:, m][there[:, m]]
        if values.size and values.min() == values.max():
            name = f"scorer {source.scorers[m]!r}" if source.scorers[m] else f"every {noun}"
            said.append(f"{name} is {values[0]:g} for everything: all is tied")
    return [f"{source.name}: {each}" for each in said]


def contest_warnings(contest: Contest) -> list[str]:
    """Sentences about what was done with a source."""
    said = []
    kept, total = contest.kept, contest.kept.size
    if dropped := total - int(kept.sum()):
        never = int((~kept.any(axis=0)).sum())
        said.append(
            f"{dropped / total:.1%} of prompts were dropped from a split for want of both halves"
            + (f", {never} of them from every split" if never else "")
        )
    if contest.left_out >= 0.05:
        said.append(
            f"{contest.left_out:.1f} candidates a split were left out for want of both halves"
        )
    unknown, blind = np.isnan(contest.risk[:, 0]) & kept, np.isnan(contest.disagreement) & kept
    nowhere = unknown.any() and blind.any() and not (kept & ~unknown & ~blind).any()
    if nowhere:
        said.append(
            "no split both selects and judges with a sigma (there are too few raters for that), so "
            "risk and tradeoff cannot show what rules that look at sigma gain or lose"
        )
    elif unknown.any():
        said.append(
            f"sigma is undefined for {unknown.sum() / kept.sum():.0%} of the judged "
            "choices (one sample in the half): risk and tradeoff are over the others, so their "
            "columns do not follow from one another, and only the paired changes compare the same "
            "prompts"
        )
    if blind.any() and not nowhere:
        said.append(
            f"in {blind.sum() / kept.sum():.0%} of the decisions Best-of-K's choice had "
            "one sample to select by, so no rule saw a sigma of it"
        )
    if contest.clipped_share > 0:
        said.append(f"{contest.clipped_share:.2%} of samples were clipped for selection")
    if len(contest.methods) > 1 and (contest.choice == contest.choice[:, :1]).all():
        said.append("every method chose what Best-of-K chose, so all contests are ties")
    for label, reason in contest.not_run.items():
        said.append(f"{label} was not run: {reason.rstrip('.')}")
    # Without a sigma on either side the flags say no more than that.
    said += [] if nowhere else _flagged(contest)
    return [f"{contest.source.name}: {each}" for each in said]


def flag_table(contest: Contest) -> Frame:
    """Share of each rule's decisions that were flagged, such as a Poisson draw cut to the pool."""
    rows = [
        {"source": contest.source.name, "method": label, "flag": flag, "share": share}
        | {"meaning": FLAGS.get(flag, flag)}
        for label, flags in contest.flags.items()
        for flag, share in flags.items()
    ]
    return table("flags", rows)


def _flagged(contest: Contest) -> list[str]:
    """One sentence a flag, with the methods that raised it in a notable share of decisions."""
    by_flag: dict[str, list[tuple[str, float]]] = {}
    for label, flags in contest.flags.items():
        for flag, share in flags.items():
            if share >= 0.005:
                by_flag.setdefault(flag, []).append((label, share))
    said = []
    for flag, found in by_flag.items():
        who = ", ".join(f"{label} {share:.0%}" for label, share in found)
        if len(found) == len(contest.methods):
            who = f"all rules, up to {max(share for _, share in found):.0%}"
        said.append(f"{FLAGS.get(flag, flag)} ({who} of decisions)")
    return said


def join_warnings(pair: Joined) -> list[str]:
    """Sentences about candidates that only one of two sources has."""
    sides = ((pair.proxy, pair.human), (pair.human, pair.proxy))
    return [
        f"{source.name}: {missing} candidates are not in {other.name}, and left out"
        for (source, other), missing in zip(sides, pair.unmatched, strict=True)
        if missing
    ]


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
JOINED_TABLES: tuple[Callable[..., Frame], ...] = (
    proxy_tables.overlap_table,
    proxy_tables.points_table,
    proxy_tables.mismatch_table,
)


@dataclass
class Evaluation:
    """The frames of all sources, the contests that they were made from, and what to be warned of.

    A frame's first column is the source, so several sources stand side by side. `contests` are the
    sources split into halves; `pairs` the proxies that ratings judge, with their contests. `tick`
    is called after every table.
    """

    settings: ContestSettings
    sources: list[Source]
    contests: list[Contest] = field(default_factory=list)
    pairs: list[tuple[Joined, Contest]] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    tick: Callable[[], None] = lambda: None

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
        finally:
            self.tick()


def evaluate(
    sources: Sequence[Source],
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
    sources = [shuffled(source, chosen.seed) for source in sources]
    result = Evaluation(chosen, sources)
    if report is not None:
        steps, total = count(1), _steps(sources, ablations)
        result.tick = lambda: report(next(steps), total)
    made: list[Frame] = []
    for source in sources:
        made += _of_source(result, source, ablations)
    for proxy in (source for source in sources if source.kind != "rater"):
        for human in (source for source in sources if source.kind == "rater"):
            made += _of_pair(result, proxy, human, ablations)
    made += result.attempt(proxy_tables.family_table, result.contests, result.pairs)
    draws, seed = result.settings.draws, result.settings.seed
    made += result.attempt(proxy_tables.family_agreement_table, result.pairs, draws, seed)
    frames = joined(made)
    place = {name: at for at, name in enumerate(ORDER)}
    result.frames = sorted(frames, key=lambda frame: place.get(frame.name, len(ORDER)))
    return result


def _steps(sources: Sequence[Source], ablations: bool) -> int:
    """How many tables there are to make, if all goes well."""
    proxies = sum(source.kind != "rater" for source in sources)
    people, runs = len(sources) - proxies, sum(source.kind == "rewrite" for source in sources)
    alone = (8 + len(RULE_TABLES) + 6 * ablations) * len(sources) + (1 + ablations) * runs
    return alone + (7 + len(RULE_TABLES) + ablations) * proxies * people + 2


def _of_source(result: Evaluation, source: Source, ablations: bool) -> list[Frame]:
    """The frames of one source by itself."""
    settings, attempt = result.settings, result.attempt
    result.warnings += [*filter(None, [leak(source, settings.calibrations)])]
    result.warnings += source_warnings(source)
    made = [*attempt(pool_tables.pool_table, source), *attempt(pool_tables.cost_table, source)]
    if source.kind == "rewrite":
        made += attempt(pool_tables.latency_table, source)
    for contest in attempt(compare_rules, source, settings):
        result.contests.append(contest)
        result.warnings += contest_warnings(contest)
        for make in (*RULE_TABLES, rule_tables.scorer_table, pool_tables.decision_cost_table):
            made += attempt(make, contest)
        made += attempt(rule_tables.held_out_scorer_table, source, settings)
        halves = Splits(source, settings)
        made += attempt(pool_tables.calibration_table, contest, halves)
        made += attempt(pool_tables.density_table, contest, halves)
        if not ablations:
            continue
        made += attempt(pool_tables.call_table, source, settings.methods)
        made += attempt(pool_tables.token_table, source, settings.methods)
        for sweep in attempt(knobs.sweep_contest, source, halves, settings, knobs.FRONTIER):
            made += [*attempt(knobs.frontier_table, sweep), *attempt(knobs.ablation_table, sweep)]
        made += attempt(knobs.size_table, source, halves, settings)
        if source.kind == "rewrite":
            made += attempt(knobs.budget_table, source, settings)
    return made


def _of_pair(result: Evaluation, proxy: Source, human: Source, ablations: bool) -> list[Frame]:
    """The frames of proxy scores judged by people's ratings."""
    settings, attempt = result.settings, result.attempt
    made: list[Frame] = []
    for pair in attempt(join, proxy, human):
        result.warnings += join_warnings(pair)
        contests = attempt(judged_by_people, pair, settings)
        base = contests[0].choice[0, 0] if contests else None
        for make in JOINED_TABLES:
            made += attempt(make, pair, base)
        for contest in contests:
            result.pairs.append((pair, contest))
            made += attempt(proxy_tables.validity_table, pair, base, settings.draws, settings.seed)
            for each in RULE_TABLES:
                made += attempt(each, contest)
            made += attempt(proxy_tables.error_table, pair, contest)
            if ablations:
                given = (contest.source, settings, pair.halves, human.name)
                made += attempt(knobs.budget_table, *given)
    return made


def judged_by_people(pair: Joined, settings: ContestSettings) -> Contest:
    """The contest in which the proxy selects and people judge."""
    source = replace(pair.proxy, name=f"{pair.proxy.name} judged by {pair.human.name}")
    return contest_of(source, [pair.halves], settings, settings.methods, "joined")
