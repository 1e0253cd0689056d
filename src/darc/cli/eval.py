"""`darc eval`: every table of an evaluation, from ratings or from runs."""

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darc.cli.parser import (
    add_calibration,
    add_columns,
    add_general,
    calibrations_of,
    columns_of,
)

if TYPE_CHECKING:
    from darc.evaluation.contest import ContestSettings
    from darc.evaluation.evaluate import Evaluation
    from darc.evaluation.verdict import Verdict
    from darc.tuning.advice import Advice

DESCRIPTION = """\
Compare rules on files of ratings and on run folders: a half of the raters (or samples) selects and
the other half judges, over many splits, with intervals against Best-of-K."""
EPILOG = """\
texts, for lengths and cases, are JSON lines with prompt_id, candidate_id, prompt, response; they
are found beside the ratings as NAME.texts.jsonl(.gz)

examples:
  darc eval ratings.csv
  darc eval ratings.csv --rule epsilon --rule epsilon:epsilon=0.5 --out evaluation
  darc eval run ratings.csv --out evaluation
  darc eval --check-paper"""


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument(
        "sources", nargs="*", type=Path, metavar="SOURCE", help="a file of ratings or a run folder"
    )
    parser.add_argument("--texts", type=Path, metavar="FILE", help="the candidates' texts")
    add_columns(parser)
    _add_methods(parser)
    _add_measures(parser)
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
    add_general(parser)
    parser.set_defaults(run=run)


def _add_methods(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--rule",
        action="append",
        metavar="NAME[:KEY=VALUE,...]",
        help="a rule, repeat to compare (default: all); Best-of-K is always there",
    )
    add_calibration(group)
    group.add_argument("--beta", type=float, default=1.0, help="risk aversion (default: 1)")
    group.add_argument("--gamma", type=float, default=1.0, help="hedge over scorers (default: 1)")
    group.add_argument(
        "--normalize",
        default="auto",
        choices=("auto", "prompt", "fixed", "none"),
        help="scale of the scorers in selection (default: within the prompt if there are several)",
    )


def _add_measures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("measuring")
    group.add_argument(
        "--split",
        default="auto",
        choices=("auto", "rater", "sample"),
        help="what is split into halves (default: raters where the same ones come back)",
    )
    group.add_argument("--repeats", type=int, default=20, metavar="R", help="splits (default: 20)")
    group.add_argument(
        "--lambda",
        dest="lam",
        default="2",
        metavar="L",
        help="weight of sigma in the tradeoff, or: median (default: 2)",
    )
    group.add_argument(
        "--sigma",
        default="evaluation",
        choices=("evaluation", "selection"),
        help="the half that risk is measured on (default: evaluation)",
    )
    group.add_argument(
        "--subset",
        default="baseline",
        choices=("baseline", "pool"),
        help="high-variance prompts by Best-of-K's choice, or by the pool's largest sigma",
    )
    group.add_argument(
        "--outcome",
        default="mean",
        choices=("mean", "lcb"),
        help="what CVaR over prompts is of (default: mean)",
    )
    group.add_argument(
        "--threshold", type=float, default=0.0, help="smaller differences are ties (default: 0)"
    )
    group.add_argument(
        "--draws", type=int, default=2000, metavar="N", help="bootstrap draws (default: 2000)"
    )
    group.add_argument("--seed", type=int, default=0, help="seed of splits and draws (default: 0)")


def run(arguments: argparse.Namespace) -> None:
    """Read, evaluate, print and write."""
    if arguments.check_paper:
        _check_paper(arguments)
        return
    from darc.cli.evaluated import print_evaluation
    from darc.cli.parser import progress
    from darc.evaluation.evaluate import evaluate
    from darc.evaluation.reading import read_any
    from darc.evaluation.verdict import summary, verdicts
    from darc.tuning.advice import advise
    from darc.tuning.crossfit import Objective

    settings = _settings(arguments)
    columns = columns_of(arguments)
    sources = [
        read_any(path, arguments.texts, columns, arguments.system) for path in arguments.sources
    ]
    every = arguments.json or arguments.out is not None
    with progress("evaluating", " splits") as report:
        result = evaluate(sources, settings, report, ablations=every)
    advices = []
    for source in sources:
        with progress(f"comparing rules on {source.name}", " settings") as report:
            objective = None if settings.lam in (None, 2.0) else Objective(lam=settings.lam)
            options = {"seed": settings.seed, "split": settings.split, "progress": report}
            advices.append(advise(source, objective, **options))
    opening = [part for advice in advices for part in (advice.headline, advice.cost)]
    found = verdicts(result)
    said = summary(result, found, opening)
    if arguments.out is not None:
        _write(result, said, found, arguments)
    if arguments.json:
        print(json.dumps(_plain(result, said, advices), ensure_ascii=False, allow_nan=False))
    else:
        print_evaluation(result, said, arguments.out)


def _write(
    result: "Evaluation", said: list[str], found: "list[Verdict]", arguments: argparse.Namespace
) -> None:
    from darc import __version__
    from darc.cli.parser import progress
    from darc.evaluation.report import write_evaluation

    figures = not arguments.no_figures
    with progress("drawing", " figures") as report:
        paths = write_evaluation(result, said, arguments.out, __version__, figures, report, found)
    print(f"wrote {len(paths)} files to {arguments.out}", file=sys.stderr)


def _settings(arguments: argparse.Namespace) -> "ContestSettings":
    from darc.errors import InputError
    from darc.evaluation.contest import ContestSettings

    try:
        lam = None if arguments.lam == "median" else float(arguments.lam)
    except ValueError:
        raise InputError(
            f"--lambda {arguments.lam!r} is no number", "give a number, or: median"
        ) from None
    return ContestSettings(
        rules=tuple(arguments.rule or ()),
        lam=lam,
        calibrations=calibrations_of(arguments),
        **{
            name: getattr(arguments, name)
            for name in (
                *("split", "repeats", "sigma", "seed", "draws", "threshold", "subset", "outcome"),
                *("normalize", "beta", "gamma"),
            )
        },
    )


def _plain(result: "Evaluation", said: list[str], advices: "list[Advice]") -> dict[str, Any]:
    return {
        "summary": said,
        "advice": [advice.as_json() for advice in advices],
        "warnings": result.warnings,
        "frames": {
            frame.name: {"title": frame.title, "note": frame.note, "rows": frame.records()}
            for frame in result.frames
        },
    }


def _check_paper(arguments: argparse.Namespace) -> None:
    from darc.evaluation.frame import write_frames
    from darc.evaluation.paper import check_frame, checks, summary

    found = checks()
    if arguments.out is not None:
        write_frames([check_frame(found)], arguments.out)
    print(json.dumps(check_frame(found).records()) if arguments.json else summary(found))
