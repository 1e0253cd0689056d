"""`darc diagnose`: whether disagreement is signal."""

from dataclasses import asdict
from itertools import count
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from darc.cli.commands import Command
from darc.cli.output import draw, print_json, print_table, progress, say
from darc.cli.sources import load_source
from darc.settings.diagnose import DiagnoseSettings

if TYPE_CHECKING:
    from darc.analysis.diagnose.diagnosis import Diagnosis
    from darc.analysis.diagnose.summary import DiagnosisSummary
    from darc.analysis.tune.advice import Advice
    from darc.ratings.ratings import Ratings

# A table's header and rows, and lines to print below them.
Section = tuple[list[str], list[list[object]], list[str]]


def run(settings: DiagnoseSettings) -> None:
    """Read the ratings, diagnose every scorer, write and print."""
    from darc.analysis.diagnose.plot import draw_diagnosis
    from darc.analysis.diagnose.summary import summarize_diagnosis
    from darc.analysis.tune.advice import advise

    source = load_source(settings.source, settings)
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
    groups = None if diagnosis.groups is None else asdict(diagnosis.groups)
    if groups is not None:
        groups.pop("contrasts")
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
        "raters": len(ratings.rater_names) if ratings.named else None,
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
    """Print the words, then the tables with lines below them, then what could not be told."""
    ratings = diagnosis.ratings
    scorer = f", scorer {ratings.scorer}" if ratings.scorer else ""
    sizes = {"prompt": len(ratings.prompt_names), "candidate": ratings.counts.size}
    if ratings.named:
        sizes["rater"] = len(ratings.rater_names)
    sizes["rating" if ratings.kind == "rater" else "sample"] = int(ratings.counts.sum())
    print(f"{diagnosis.name}{scorer}: {', '.join(_counted(n, noun) for noun, n in sizes.items())}")
    print("", *summary.sentences, sep="\n")
    shares = [(part.meaning, part.share) for part in diagnosis.components]
    told = [[name, "-" if isnan(share) else f"{100 * share:.1f} %"] for name, share in shares]
    for header, rows, lines in (
        (["variance of ratings", "share"], told, []),
        _reliability(diagnosis),
        _raters(diagnosis, top),
        _groups(diagnosis),
        _prompts(diagnosis, top),
        ([], [], [f"note: {note}" for note in summary.notes]),
    ):
        if rows:
            print()
            print_table(header, rows)
        if lines:
            print(*lines if rows else ("", *lines), sep="\n")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _reliability(diagnosis: "Diagnosis") -> Section:
    sigmas, gaussian = diagnosis.sigma_reliability, diagnosis.gaussian
    found = {"mean": diagnosis.mean_reliability, "sigma": sigmas}
    if not sigmas and not isnan(gaussian.value):
        found["sigma, if Gaussian"] = {"within": gaussian}
    rows: list[list[object]] = []
    for name, levels in ((name, levels) for name, levels in found.items() if levels):
        spans = [
            "-" if each is None else _span(each.value, each.low, each.high)
            for each in (levels["within"], levels.get("overall"))
        ]
        needed = [levels["within"].raters_needed(target) for target in (0.5, 0.7)]
        counts = ["-" if isnan(n) else f"{n:.0f}" if isfinite(n) else "no number" for n in needed]
        rows.append([name, *spans, *counts])
    lines = []
    alpha = diagnosis.alpha
    if not isnan(alpha.value):
        lines.append(f"Krippendorff's alpha: {_span(alpha.value, alpha.low, alpha.high)}")
    p_value = sigmas["within"].p_value if sigmas else diagnosis.sigma_differences.p_value
    if not isnan(p_value):
        about = "" if sigmas else ", if tails are light"
        lines.append(f"Do sigmas differ within prompts at all? p {p_value:.3f}{about}")
    return ["reliability", "within prompts", "overall", "raters for 0.5", "for 0.7"], rows, lines


def _span(value: float, low: float, high: float) -> str:
    """A number with its interval."""
    if isnan(value):
        return "-"
    return f"{value:.2f}" + ("" if isnan(low) else f" ({low:.2f} to {high:.2f})")


def _raters(diagnosis: "Diagnosis", top: int) -> Section:
    """Flagged raters first, then the strictest and the most lenient."""
    ordered = sorted(diagnosis.raters, key=lambda one: (not one.flags, -abs(one.shrunk)))
    rows: list[list[object]] = [
        [one.name, one.ratings, one.severity, one.error, one.agreement, " ".join(one.flags)]
        for one in ordered[:top]
    ]
    more = len(ordered) - top
    lines = [f"and {_counted(more, 'more rater')}"] if more > 0 else []
    return ["rater", "ratings", "severity", "error", "agreement", "flags"], rows, lines


def _groups(diagnosis: "Diagnosis") -> Section:
    groups, latent, lines = diagnosis.groups, diagnosis.latent_groups, []
    if groups is not None:
        sizes = ", ".join(f"{name} {size}" for name, size in groups.sizes.items())
        lines.append(f"given groups: {sizes}")
        lines.append(
            f"  severity p {groups.severity_p:.3f}, taste p {groups.taste_p:.3f}"
            f" (no p can be below {groups.smallest_p:.3f});"
            f" taste takes {groups.share:.0%} of the rest, by chance {groups.chance:.0%}"
        )
        for one in groups.contrasts[:3]:
            means = ", ".join(f"{name} {mean:.2f}" for name, mean in one.means.items())
            lines.append(f"  {one.prompt}, {one.candidate}: {means}")
    found = (
        f"p {latent.p_value:.3f} (strength {latent.strength:.2f}, by chance {latent.chance:.2f})"
    )
    summary = f"not looked for: {latent.reason}" if latent.reason else found
    return [], [], [*lines, f"latent groups: {summary}"]


def _prompts(diagnosis: "Diagnosis", top: int) -> Section:
    rows: list[list[object]] = []
    for one in diagnosis.contention.prompts[:top]:
        ends = "-" if isnan(one.low) else f"{one.low:.3f} to {one.high:.3f}"
        widest = f"{one.widest} ({one.widest_sigma:.3f})"
        rows.append([one.prompt, one.sigma, one.shrunk, ends, widest])
    spread = diagnosis.sigma_differences
    polarising = (
        f"polarising candidates (30 % or more at {spread.low:.3g} or below and at"
        f" {spread.high:.3g} or above): {len(spread.polarising)}, by chance {spread.expected:.1f}"
    )
    header = ["contentious prompt", "sigma", "shrunk", "95 %", "widest candidate"]
    return header, rows, [] if isnan(spread.expected) else [polarising]


COMMAND = Command(DiagnoseSettings, run)
