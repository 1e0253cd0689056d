"""`darc diagnose`: whether disagreement is signal."""

from dataclasses import asdict
from itertools import count
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import draw, print_json, print_table, progress, say
from darc.cli.sources import load_source
from darc.errors import InputError
from darc.settings.diagnose import DiagnoseSettings

if TYPE_CHECKING:
    from darc.analysis.diagnose.diagnosis import Diagnosis
    from darc.analysis.diagnose.summary import DiagnosisSummary
    from darc.analysis.tune.advice import Advice
    from darc.ratings.ratings import Ratings

# How many raters and systems are shown in their table.
_MOST_RATERS = 12
_MOST_SYSTEMS = 8
# From this share of the variance on, likings are shown even if none is beyond chance by itself.
_NOTABLE_LIKING = 0.02
# A table's header and rows, and lines to print below them.
Section = tuple[list[str], list[list[object]], list[str]]


def run(settings: DiagnoseSettings) -> None:
    """Read the ratings, diagnose every scorer, write and print; or audit a panel."""
    if settings.panel is not None:
        from darc.cli.panel_audit import run_panel_audit

        run_panel_audit(settings.panel, settings)
        return
    source_path = _checked_source(settings)
    from darc.analysis.diagnose.plot import draw_diagnosis
    from darc.analysis.diagnose.summary import summarize_diagnosis
    from darc.analysis.tune.advice import advise

    source = load_source(source_path, settings, settings.texts)
    diagnoses = _diagnose_scorers(source, settings)
    with progress("comparing", " settings") as report:
        advice = advise(source, seed=settings.seed, progress=report)
    _write_tables(diagnoses, settings)
    draw(settings.plot, lambda: draw_diagnosis(diagnoses), "drew")
    if not settings.as_json:
        _print_advice(advice)
    for diagnosis in diagnoses:
        summary = summarize_diagnosis(diagnosis)
        if settings.as_json:
            print_json(_json_fields(diagnosis, summary, advice))
        else:
            print()
            _print_diagnosis(diagnosis, summary, settings.top)


def _checked_source(settings: DiagnoseSettings) -> Path:
    """Where the ratings are, if no option needs a panel.

    Raises:
        InputError: There are no ratings, or an option of a panel's audit.
    """
    for flag, value in (("--probe", settings.probe), ("--against", settings.against)):
        if value:
            raise InputError(f"{flag} is for the audit of a panel", "name its grades with --panel")
    if settings.source is None:
        raise InputError("there is nothing to diagnose", "name a file of ratings, or --panel RUN")
    return settings.source


def _diagnose_scorers(source: "Ratings", settings: DiagnoseSettings) -> "list[Diagnosis]":
    """Diagnose the ratings of every scorer."""
    from darc.analysis.diagnose.diagnosis import STEPS, diagnose

    scorers = source.shape[1]
    steps = count(1)
    with progress("diagnosing", " parts") as report:
        return [
            diagnose(
                source,
                scorer,
                splits=settings.halves,
                draws=settings.permutations,
                top=settings.top,
                seed=settings.seed,
                tick=lambda: report(next(steps), STEPS * scorers),
            )
            for scorer in range(scorers)
        ]


def _write_tables(diagnoses: "list[Diagnosis]", settings: DiagnoseSettings) -> None:
    """Write every table, if a folder is wanted."""
    from darc.analysis.diagnose.tables import diagnosis_tables
    from darc.analysis.frame import joined, write_frames

    if settings.out is None:
        return
    tables = [table for diagnosis in diagnoses for table in diagnosis_tables(diagnosis)]
    paths = write_frames(joined(tables), settings.out)
    say(f"wrote {len(paths)} files to {settings.out}")


def _json_fields(
    diagnosis: "Diagnosis", summary: "DiagnosisSummary", advice: "Advice"
) -> dict[str, Any]:
    """What JSON holds: the words, single numbers, and every table but the candidates'."""
    from darc.analysis.diagnose.tables import diagnosis_tables

    ratings = diagnosis.ratings
    groups = None
    if diagnosis.groups is not None:
        groups = asdict(diagnosis.groups)
        groups.pop("contrasts")
    rater_count = None
    if ratings.named:
        rater_count = len(ratings.rater_names)
    tables = {frame.name: frame.records() for frame in diagnosis_tables(diagnosis)}
    tables.pop("candidates")
    return {
        "name": diagnosis.name,
        "scorer": ratings.scorer,
        "verdict": summary.verdict,
        "advice": advice.as_json(),
        "sentences": summary.sentences,
        "notes": summary.notes,
        "prompts": len(ratings.prompt_names),
        "candidates": int(ratings.counts.size),
        "raters": rater_count,
        "ratings": int(ratings.counts.sum()),
        "ratings_a_candidate": diagnosis.ratings_per_candidate,
        "equal_sigmas_p": diagnosis.sigma_differences.p_value,
        "sigma_mean_correlation": diagnosis.sigma_mean_correlation,
        "polarising": len(diagnosis.sigma_differences.polarising),
        "polarising_by_chance": diagnosis.sigma_differences.expected,
        "groups": groups,
        "latent_groups": asdict(diagnosis.latent_groups),
        "tables": tables,
    }


def _print_advice(advice: "Advice") -> None:
    """Print which rule to use, what being wrong would cost, and what each rule gained."""
    print(advice.headline)
    print(" ".join([advice.cost, *advice.notes]))
    if advice.tuned is None:
        return
    print()
    header = ["held out", f"gain in {advice.tuned.objective.words}", "95 %", "mean"]
    rows: list[list[object]] = [
        [row.rule, row.gain, f"{row.low:.3f} to {row.high:.3f}", row.mean]
        for row in advice.tuned.rows
    ]
    print_table(header, [*rows, ["mean (Best-of-K)", 0.0, "-", 0.0]])


def _print_diagnosis(diagnosis: "Diagnosis", summary: "DiagnosisSummary", top: int) -> None:
    """Print the sentences, then the tables with lines below them, then the notes."""
    print(_size_line(diagnosis))
    print("", *summary.sentences, sep="\n")
    # What is to be known of the file was said on standard error when it was read.
    notes = [note for note in summary.notes if note not in diagnosis.ratings.notes]
    for header, rows, lines in (
        _variance(diagnosis),
        _reliability(diagnosis),
        _raters(diagnosis, top),
        _likings(diagnosis, top),
        _groups(diagnosis),
        _prompts(diagnosis, top),
        ([], [], [f"note: {note}" for note in notes]),
    ):
        if rows:
            print()
            print_table(header, rows)
        elif lines:
            print()
        for line in lines:
            print(line)


def _size_line(diagnosis: "Diagnosis") -> str:
    """What was diagnosed, and how many prompts, candidates, raters and ratings it has."""
    ratings = diagnosis.ratings
    sizes = {"prompt": len(ratings.prompt_names), "candidate": ratings.counts.size}
    if ratings.named:
        sizes["rater"] = len(ratings.rater_names)
    noun = "sample"
    if ratings.kind == "rater":
        noun = "rating"
    sizes[noun] = int(ratings.counts.sum())
    name = diagnosis.name
    if ratings.scorer:
        name += f", scorer {ratings.scorer}"
    return f"{name}: {', '.join(_counted(size, noun) for noun, size in sizes.items())}"


def _counted(count: int, noun: str) -> str:
    """A number with its noun."""
    if count == 1:
        return f"{count} {noun}"
    return f"{count} {noun}s"


def _variance(diagnosis: "Diagnosis") -> Section:
    """Where the variance of ratings is."""
    rows: list[list[object]] = []
    for component in diagnosis.components:
        share = "-"
        if not isnan(component.share):
            share = f"{100 * component.share:.1f} %"
        rows.append([component.meaning, share])
    return ["variance of ratings", "share"], rows, []


def _reliability(diagnosis: "Diagnosis") -> Section:
    """Whether means and sigmas would return with other raters."""
    sigmas = diagnosis.sigma_reliability
    levels_by_name = {"mean": diagnosis.mean_reliability, "sigma": sigmas}
    if not sigmas and not isnan(diagnosis.gaussian.value):
        levels_by_name["sigma, if Gaussian"] = {"within": diagnosis.gaussian}
    rows: list[list[object]] = []
    for name, levels in levels_by_name.items():
        if levels:
            rows.append(_reliability_row(name, levels))
    lines = []
    alpha = diagnosis.alpha
    if not isnan(alpha.value):
        lines.append(f"Krippendorff's alpha: {_span(alpha.value, alpha.low, alpha.high)}")
    if sigmas:
        p_value = sigmas["within"].p_value
        condition = ""
    else:
        p_value = diagnosis.sigma_differences.p_value
        condition = ", if tails are light"
    if not isnan(p_value):
        lines.append(f"Do sigmas differ within prompts at all? p {p_value:.3f}{condition}")
    return ["reliability", "within prompts", "overall", "raters for 0.5", "for 0.7"], rows, lines


def _reliability_row(name: str, levels: Any) -> list[object]:
    """The reliability of one statistic, and how many raters it takes."""
    row: list[object] = [name]
    for level in (levels["within"], levels.get("overall")):
        if level is None:
            row.append("-")
        else:
            row.append(_span(level.value, level.low, level.high))
    needed = [levels["within"].raters_needed(target) for target in (0.5, 0.7)]
    return [*row, *(_rater_count(number) for number in needed)]


def _rater_count(number: float) -> str:
    """How many raters it takes, in words where that is not a number."""
    if isnan(number):
        return "-"
    if not isfinite(number):
        return "no number"
    return f"{number:.0f}"


def _span(value: float, low: float, high: float) -> str:
    """A number with its interval."""
    if isnan(value):
        return "-"
    if isnan(low):
        return f"{value:.2f}"
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def _raters(diagnosis: "Diagnosis", top: int) -> Section:
    """Flagged raters first, then the strictest and the most lenient."""
    ordered = sorted(diagnosis.raters, key=lambda rater: (not rater.flags, -abs(rater.shrunk)))
    rows: list[list[object]] = []
    for rater in ordered[:top]:
        flags = ", ".join(rater.flags)
        rows.append(
            [rater.name, rater.ratings, rater.severity, rater.error, rater.agreement, flags]
        )
    lines = []
    remaining = len(ordered) - top
    if remaining > 0:
        lines.append(f"and {_counted(remaining, 'more rater')}")
    return ["rater", "ratings", "severity", "error", "agreement", "flags"], rows, lines


def _likings(diagnosis: "Diagnosis", top: int) -> Section:
    """What raters think of systems beyond the others, those with the strongest likings first."""
    import numpy as np

    likings = diagnosis.likings
    if not likings.raters:
        return [], [], []
    share = sum(part.share for part in diagnosis.components if part.name == "name x rater")
    if not likings.notable and not share >= _NOTABLE_LIKING:
        line = "rater x system: nobody likes or dislikes a system beyond chance (table in --json)"
        return [], [], [line]
    strength = np.abs(np.nan_to_num(likings.likings))
    systems = np.sort(np.argsort(-strength.max(axis=0), kind="stable")[:_MOST_SYSTEMS]).tolist()
    raters = np.argsort(-strength.max(axis=1), kind="stable").tolist()
    notable = {(liking.rater, liking.system) for liking in likings.notable}
    rows: list[list[object]] = []
    for rater in raters[: max(top, _MOST_RATERS)]:
        name = likings.raters[rater]
        row: list[object] = [name]
        for system in systems:
            value = likings.likings[rater, system]
            mark = " *" if (name, likings.systems[system]) in notable else ""
            row.append("-" if isnan(value) else f"{value:+.2f}{mark}")
        rows.append(row)
    lines = ["rater x system: how far above the usual, without severity; * beyond chance"]
    remaining = len(raters) - len(rows)
    if remaining > 0:
        lines.append(f"and {_counted(remaining, 'more rater')}")
    return ["rater", *(likings.systems[system] for system in systems)], rows, lines


def _groups(diagnosis: "Diagnosis") -> Section:
    """What groups of raters disagree about, given ones and latent ones."""
    lines = []
    groups = diagnosis.groups
    if groups is not None:
        sizes = ", ".join(f"{name} {size}" for name, size in groups.sizes.items())
        lines.append(f"given groups: {sizes}")
        lines.append(
            f"  severity p {groups.severity_p:.3f}, taste p {groups.taste_p:.3f}"
            f" (no p can be below {groups.smallest_p:.3f});"
            f" taste takes {groups.share:.0%} of the rest, by chance {groups.chance:.0%}"
        )
        for contrast in groups.contrasts[:3]:
            means = ", ".join(f"{name} {mean:.2f}" for name, mean in contrast.means.items())
            lines.append(f"  {contrast.prompt}, {contrast.candidate}: {means}")
    latent = diagnosis.latent_groups
    if latent.reason:
        lines.append(f"two camps of raters: not looked for: {latent.reason}")
    else:
        lines.append(
            f"two camps of raters: p {latent.p_value:.3f} "
            f"(strength {latent.strength:.2f}, by chance {latent.chance:.2f})"
        )
    return [], [], lines


def _prompts(diagnosis: "Diagnosis", top: int) -> Section:
    """The most contentious prompts."""
    rows: list[list[object]] = []
    ranked = diagnosis.contention.ranked
    for prompt in ranked[:top]:
        interval = "-"
        if not isnan(prompt.low):
            interval = f"{prompt.low:.3f} to {prompt.high:.3f}"
        widest = f"{prompt.widest} ({prompt.widest_sigma:.3f})"
        rows.append([prompt.prompt, prompt.sigma, prompt.shrunk, interval, widest])
    lines = []
    if diagnosis.contention.prompts and not ranked:
        lines.append("contentious prompts: none is more contentious than another beyond chance")
    differences = diagnosis.sigma_differences
    if not isnan(differences.expected):
        lines.append(
            f"polarising candidates (30 % or more at {differences.low:.3g} or below and at "
            f"{differences.high:.3g} or above): {len(differences.polarising)}, by chance "
            f"{differences.expected:.1f}"
        )
    header = ["contentious prompt", "sigma", "shrunk", "95 %", "widest candidate"]
    return header, rows, lines


COMMAND = Command(DiagnoseSettings, run)
