"""`darc diagnose`: whether disagreement is signal."""

import argparse
import json
import math
import sys
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import add_columns, add_general, columns_of
from darc.files import jsonable
from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.diagnosis.diagnose import Diagnosis
    from darc.diagnosis.reliability import Reliability
    from darc.diagnosis.words import Words
    from darc.tuning.advice import Advice

DESCRIPTION = """\
Say whether the disagreement in a file of ratings is signal: where the variance is, whether means
and sigmas would return with other raters, how many raters it takes, who stands apart, which
prompts are contentious, and which rule to use, tested on raters and prompts held out."""
EPILOG = """\
examples:
  darc diagnose ratings.csv
  darc diagnose ratings.csv --plot diagnosis.png --out diagnosis"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("source", type=Path, help="a file of ratings, or a folder of darc run")
    parser.add_argument("--json", action="store_true", help="one JSON object a scorer and line")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture (.png, .svg, .pdf)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write every table there")
    parser.add_argument(
        "--top", type=int, default=5, metavar="N", help="prompts and raters shown (default: 5)"
    )
    parser.add_argument(
        "--splits", type=int, default=200, metavar="N", help="random halves (default: 200)"
    )
    parser.add_argument(
        "--draws", type=int, default=500, metavar="N", help="permutations (default: 500)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of all draws (default: 0)")
    add_columns(parser)
    add_general(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, diagnose, write and print."""
    from darc.cli.parser import progress
    from darc.diagnosis.diagnose import PARTS, diagnose
    from darc.diagnosis.words import words
    from darc.errors import InputError
    from darc.evaluation.reading import read_any
    from darc.tuning.advice import advise
    from darc.views import check_picture

    for name in ("top", "splits", "draws"):
        if getattr(arguments, name) < 1:
            raise InputError(f"--{name} is {getattr(arguments, name)}", "give 1 or more")
    if arguments.plot is not None:
        check_picture(arguments.plot)
    source = read_any(arguments.source, None, columns_of(arguments), arguments.system)
    scorers, steps = source.shape[1], count(1)
    options = {name: getattr(arguments, name) for name in ("splits", "draws", "top", "seed")}
    with progress("diagnosing", " parts") as report:
        options["tick"] = lambda: report(next(steps), PARTS * scorers)
        found = [diagnose(source, scorer, **options) for scorer in range(scorers)]
    with progress("comparing", " settings") as report:
        advice = advise(source, seed=arguments.seed, progress=report)
    _write(arguments, found)
    if not arguments.json:
        _print_advice(advice)
    for diagnosis in found:
        said = words(diagnosis)
        if arguments.json:
            print(json.dumps(_plain(diagnosis, said, advice), ensure_ascii=False, allow_nan=False))
        else:
            print()
            _print_diagnosis(diagnosis, said, arguments.top)


def _write(arguments: argparse.Namespace, found: "list[Diagnosis]") -> None:
    from darc.diagnosis.output import draw_diagnosis, frames
    from darc.evaluation.frame import joined, write_frames
    from darc.tables.write import atomic_path
    from darc.views import save_figure

    if arguments.out is not None:
        made = joined(frame for diagnosis in found for frame in frames(diagnosis))
        paths = write_frames(made, arguments.out)
        print(f"wrote {len(paths)} files to {arguments.out}", file=sys.stderr)
    if arguments.plot is not None:
        figure = draw_diagnosis(found)
        with atomic_path(arguments.plot) as temporary:
            save_figure(figure, temporary)
        print(f"drew {arguments.plot}", file=sys.stderr)


def _plain(diagnosis: "Diagnosis", said: "Words", advice: "Advice") -> dict[str, Any]:
    """What JSON holds: the words, single numbers, and every table but the candidates'."""
    from dataclasses import asdict

    from darc.diagnosis.output import frames

    panel = diagnosis.panel
    groups = None if diagnosis.groups is None else asdict(diagnosis.groups)
    if groups is not None:
        groups.pop("contrasts")
    plain = {
        "name": diagnosis.name,
        "scorer": panel.scorer,
        "verdict": said.verdict,
        "advice": advice.as_json(),
        "sentences": said.sentences,
        "notes": said.notes,
        "prompts": len(panel.prompt_names),
        "candidates": int(panel.counts.size),
        "raters": len(panel.rater_names) if panel.named else None,
        "ratings": int(panel.counts.sum()),
        "ratings_a_candidate": diagnosis.each,
        "equal_sigmas_p": diagnosis.spread.p_value,
        "sigma_mean_correlation": diagnosis.follows,
        "polarising": len(diagnosis.spread.polarising),
        "polarising_by_chance": diagnosis.spread.expected,
        "groups": groups,
        "latent_groups": asdict(diagnosis.latent),
    }
    plain["tables"] = {
        frame.name: frame.records() for frame in frames(diagnosis) if frame.name != "candidates"
    }
    return {name: jsonable(value) for name, value in plain.items()}


def _print_advice(advice: "Advice") -> None:
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


def _print_diagnosis(diagnosis: "Diagnosis", said: "Words", top: int) -> None:
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
