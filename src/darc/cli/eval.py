"""`darc eval`: every table of an evaluation, from ratings or from runs."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.decision_view import note_wording
from darc.cli.output import print_json, print_table, progress, say
from darc.cli.parser import (
    RULE,
    Parser,
    add_calibration,
    add_columns,
    calibrations_of,
    columns_of,
)
from darc.errors import InputError

if TYPE_CHECKING:
    from darc.analysis.evaluate.contest import Contest
    from darc.analysis.evaluate.evaluation import Evaluation
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.analysis.frame import Frame


def add(parser: Parser) -> None:
    """Add the options."""
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.cli.options import add_options
    from darc.engine.options import PeopleOptions

    parser.add_argument(
        "sources", nargs="*", type=Path, metavar="SOURCE", help="a file of ratings or a run folder"
    )
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the candidates' texts")
    add_columns(parser)
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--rule",
        action="append",
        metavar=RULE,
        help="a rule, repeat to compare (default: all); Best-of-K is always there",
    )
    add_options(group, PeopleOptions, "caution")
    add_calibration(group)
    add_options(group, ContestSettings, "beta", "gamma", "normalize")
    group = parser.add_argument_group("measuring")
    group.add_argument(
        "--lambda",
        dest="lam",
        default="2",
        metavar="L",
        help="weight of sigma in the tradeoff, or: median",
    )
    names = ("split", "repeats", "sigma", "subset", "outcome", "threshold", "draws", "seed")
    add_options(group, ContestSettings, *names)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", type=Path, metavar="FOLDER", help="write report.html, every table and every figure"
    )
    group.add_argument("--no-figures", action="store_true", help="draw nothing")
    group.add_argument("--json", action="store_true", help="print every table as JSON")
    group.add_argument(
        "--check-paper",
        action="store_true",
        help="recompute the published tables and say which cells do not follow",
    )


def run(arguments: Namespace) -> None:
    """Read, evaluate, print and write."""
    if arguments.check_paper:
        _check_paper(arguments)
        return
    from darc import __version__
    from darc.analysis.evaluate.evaluation import evaluate
    from darc.analysis.evaluate.verdict import summary, verdicts
    from darc.analysis.reading import load_ratings
    from darc.analysis.report.folder import write_evaluation
    from darc.analysis.tune.advice import advise
    from darc.analysis.tune.objective import Objective

    settings, out = _settings(arguments), arguments.out
    given = arguments.texts, columns_of(arguments), arguments.system
    sources = [load_ratings(path, *given) for path in arguments.sources]
    if settings.caution is not None and not any(source.has_raters for source in sources):
        note_wording("rewrite")
    with progress("evaluating", " tables") as report:
        every = arguments.json or out is not None
        result = evaluate(sources, settings, report, ablations=every)
    advices = []
    objective = None if settings.lam in (None, 2.0) else Objective(lam=settings.lam)
    options = {"seed": settings.seed, "split": settings.split, "caution": settings.caution}
    for source in sources:
        with progress(f"comparing rules on {source.name}", " settings") as report:
            advices.append(advise(source, objective, **options, progress=report))
    opening = [part for advice in advices for part in (advice.headline, advice.cost)]
    found = verdicts(result)
    said = summary(result, found, opening)
    if out is not None:
        figures = not arguments.no_figures
        with progress("drawing", " figures") as report:
            paths = write_evaluation(result, said, out, __version__, figures, report, found)
        say(f"wrote {len(paths)} files to {out}")
    if arguments.json:
        frames = {
            frame.name: {"title": frame.title, "note": frame.note, "rows": frame.records()}
            for frame in result.frames
        }
        advice = [each.as_json() for each in advices]
        told = {"summary": said, "advice": advice, "warnings": result.warnings, "frames": frames}
        print_json(told)
    else:
        _print(result, said, out)


def _settings(arguments: Namespace) -> "ContestSettings":
    from darc.analysis.evaluate.settings import ContestSettings
    from darc.cli.options import options_of
    from darc.settings.validation import validate_settings

    try:
        lam = None if arguments.lam == "median" else float(arguments.lam)
    except ValueError:
        raise InputError(
            f"--lambda {arguments.lam!r} is no number", "give a number, or: median"
        ) from None
    own = {"rules": arguments.rule or (), "calibrations": calibrations_of(arguments), "lam": lam}
    return validate_settings(ContestSettings, options_of(arguments, ContestSettings) | own)


def _check_paper(arguments: Namespace) -> None:
    from darc.analysis.frame import write_frames
    from darc.analysis.paper import checks_summary, checks_table, paper_checks

    found = paper_checks()
    if arguments.out is not None:
        write_frames([checks_table(found)], arguments.out)
    if arguments.json:
        print_json(checks_table(found).records())
    else:
        print(checks_summary(found))


def _print(result: "Evaluation", said: Sequence[str], folder: Path | None) -> None:
    """Print what the data say, the numbers behind it, where the rest is, and the warnings."""
    print("\n".join(said), end="\n\n")
    main, human = result.frame("main"), result.frame("human")
    if main is not None and human is not None:
        print(human.note)
        for contest in result.contests:
            for subset in contest.subsets:
                wanted = {"source": contest.ratings.name, "subset": subset}
                print()
                _print_subset(contest, subset, main.where(**wanted), human.where(**wanted))
        print()
    if folder is not None:
        print(f"the report is {folder / 'report.html'}")
        print(f"tables in {folder}: {', '.join(frame.name for frame in result.frames)}")
    # All rules of a source that were not run are in one warning.
    merged: dict[str, list[str]] = {}
    for sentence in result.warnings:
        rule, found, reason = sentence.partition(" was not run: ")
        source, _, label = rule.rpartition(": ")
        start, rest = (f"{source}: not run: ", [f"{label} ({reason})"]) if found else (sentence, [])
        merged.setdefault(start, []).extend(rest)
    for start, rest in merged.items():
        print(f"warning: {start}{', '.join(rest)}")


def _print_subset(contest: "Contest", subset: str, main: "Frame", human: "Frame") -> None:
    tail = contest.settings.tail_name
    same = [
        name
        for a, name in enumerate(contest.methods)
        if a and (contest.choice[:, a] == contest.choice[:, 0]).all()
    ]
    rows = []
    for pair in zip(main.records(), human.records(), strict=True):
        # The last digits hang on the order of summation.
        row: dict[str, Any] = {
            name: round(x, 9) + 0.0 if isinstance(x, float) else x
            for record in pair
            for name, x in record.items()
        }
        numbers = [row[name] for name in ("method", "reward", "risk", "tradeoff", tail, "length")]
        changes = [_change(row, name) for name in ("mean", "tradeoff", tail)]
        counts = "/".join(f"{row[name]:.0f}" for name in ("win", "tie", "loss"))
        if row["method"] not in same:
            rows.append([*numbers, *changes, counts])
    print(f"{contest.ratings.name}, {subset}, {main.column('prompts')[0]:g} prompts")
    header = ["rule", "reward", "risk", "tradeoff", tail, contest.ratings.length_unit]
    header += ["reward change", "tradeoff change", f"{tail} change", "win/tie/loss"]
    print_table(header, rows)
    if same:
        print(f"the same choices as Best-of-K: {', '.join(same)}")


def _change(row: dict[str, Any], name: str) -> str:
    """A difference with its interval, starred where the interval excludes 0."""
    delta, low, high = (row[f"{part}_{name}"] for part in ("delta", "low", "high"))
    if delta is None:
        return "-"
    if low is None or high is None:
        return f"{delta:+.3f}"
    return f"{delta:+.3f}{'*' if low > 0 or high < 0 else ' '}[{low:+.3f}, {high:+.3f}]"
