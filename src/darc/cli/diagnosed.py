"""A diagnosis on a terminal."""

import math
from typing import TYPE_CHECKING

from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.diagnosis.diagnose import Diagnosis
    from darc.diagnosis.reliability import Reliability
    from darc.diagnosis.words import Words
    from darc.tuning.advice import Advice


def print_advice(advice: "Advice") -> None:
    """Print which rule to use, what being wrong would cost, and what each rule gained."""
    print(advice.headline)
    print(" ".join([advice.cost, *advice.notes]))
    if advice.tuned is None:
        return
    rows: list[list[object]] = [
        [row.rule, row.gain, f"{row.low:.3f} to {row.high:.3f}", row.mean]
        for row in advice.tuned.rows
    ]
    rows.append(["mean (Best-of-K)", 0.0, "-", 0.0])
    print()
    print(text_table(["held out", f"gain in {advice.tuned.objective.words}", "95 %", "mean"], rows))


def print_diagnosis(diagnosis: "Diagnosis", said: "Words", top: int) -> None:
    """Print the words, then the tables, then what could not be told."""
    panel = diagnosis.panel
    scorer = f", scorer {panel.scorer}" if panel.scorer else ""
    sizes = {"prompt": len(panel.prompt_names), "candidate": panel.counts.size}
    if panel.named:
        sizes["rater"] = len(panel.rater_names)
    sizes["rating" if panel.kind == "rater" else "sample"] = int(panel.counts.sum())
    counted = ", ".join(_counted(count, noun) for noun, count in sizes.items())
    print(f"{diagnosis.name}{scorer}: {counted}")
    print()
    for sentence in said.sentences:
        print(sentence)
    _components(diagnosis)
    _reliability(diagnosis)
    _raters(diagnosis, top)
    _groups(diagnosis)
    _prompts(diagnosis, top)
    if said.notes:
        print()
    for note in said.notes:
        print(f"note: {note}")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _components(diagnosis: "Diagnosis") -> None:
    rows: list[list[object]] = [
        [part.meaning, f"{100 * part.share:.1f} %" if part.share == part.share else "-"]
        for part in diagnosis.components
    ]
    print()
    print(text_table(["variance of ratings", "share"], rows))


def _reliability(diagnosis: "Diagnosis") -> None:
    rows: list[list[object]] = []
    for name, levels in (("mean", diagnosis.means), ("sigma", diagnosis.sigmas)):
        if levels:
            cells = [_with_interval(levels[level]) for level in ("within", "overall")]
            rows.append(
                [name, *cells, _count(levels["within"], 0.5), _count(levels["within"], 0.7)]
            )
    if not diagnosis.sigmas and not math.isnan(diagnosis.gaussian.value):
        found = diagnosis.gaussian
        row = ["sigma, if Gaussian", _with_interval(found), "-"]
        rows.append([*row, _count(found, 0.5), _count(found, 0.7)])
    if rows:
        print()
        header = ["reliability", "within prompts", "overall", "raters for 0.5", "for 0.7"]
        print(text_table(header, rows))
    value, low, high = diagnosis.alpha
    if not math.isnan(value):
        span = "" if math.isnan(low) else f" ({low:.2f} to {high:.2f})"
        print(f"Krippendorff's alpha: {value:.2f}{span}")
    found = diagnosis.sigmas.get("within", diagnosis.gaussian)
    p_value = found.p_value if diagnosis.sigmas else diagnosis.spread.p_value
    if not math.isnan(p_value):
        about = "" if diagnosis.sigmas else ", if tails are light"
        print(f"Do sigmas differ within prompts at all? p {p_value:.3f}{about}")


def _with_interval(found: "Reliability") -> str:
    if math.isnan(found.value):
        return "-"
    span = "" if math.isnan(found.low) else f" ({found.low:.2f} to {found.high:.2f})"
    return f"{found.value:.2f}{span}"


def _count(found: "Reliability", target: float) -> str:
    needed = found.needed(target)
    if math.isnan(needed):
        return "-"
    return f"{needed:.0f}" if math.isfinite(needed) else "no number"


def _raters(diagnosis: "Diagnosis", top: int) -> None:
    """Flagged raters first, then the strictest and the most lenient."""
    ordered = sorted(diagnosis.raters, key=lambda one: (not one.flags, -abs(one.shrunk)))
    if not ordered:
        return
    rows: list[list[object]] = [
        [one.name, one.ratings, one.severity, one.error, one.agreement, " ".join(one.flags)]
        for one in ordered[:top]
    ]
    print()
    print(text_table(["rater", "ratings", "severity", "error", "agreement", "flags"], rows))
    if len(ordered) > top:
        print(f"and {_counted(len(ordered) - top, 'more rater')}")


def _groups(diagnosis: "Diagnosis") -> None:
    groups, latent = diagnosis.groups, diagnosis.latent
    print()
    if groups is not None:
        sizes = ", ".join(f"{name} {size}" for name, size in groups.sizes.items())
        print(f"given groups: {sizes}")
        print(
            f"  severity p {groups.severity_p:.3f}, taste p {groups.taste_p:.3f}"
            f" (no p can be below {groups.smallest_p:.3f});"
            f" taste takes {groups.share:.0%} of the rest, by chance {groups.chance:.0%}"
        )
        for one in groups.contrasts[:3]:
            means = ", ".join(f"{name} {mean:.2f}" for name, mean in one.means.items())
            print(f"  {one.prompt}, {one.candidate}: {means}")
    if latent.reason:
        print(f"latent groups: not looked for: {latent.reason}")
    else:
        print(
            f"latent groups: p {latent.p_value:.3f}"
            f" (strength {latent.strength:.2f}, by chance {latent.chance:.2f})"
        )


def _prompts(diagnosis: "Diagnosis", top: int) -> None:
    if not diagnosis.prompts:
        return
    rows: list[list[object]] = [
        [
            one.prompt,
            one.sigma,
            one.shrunk,
            "-" if math.isnan(one.low) else f"{one.low:.3f} to {one.high:.3f}",
            f"{one.widest} ({one.widest_sigma:.3f})",
        ]
        for one in diagnosis.prompts[:top]
    ]
    print()
    print(text_table(["contentious prompt", "sigma", "shrunk", "95 %", "widest candidate"], rows))
    spread = diagnosis.spread
    if not math.isnan(spread.expected):
        print(
            f"polarising candidates (30 % or more at {spread.low:.3g} or below and at"
            f" {spread.high:.3g} or above): {len(spread.polarising)},"
            f" by chance {spread.expected:.1f}"
        )
