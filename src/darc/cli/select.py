"""`darc select`: choose among rated candidates."""

import shutil
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, TextIO, cast

from darc.cli.decision_view import add_details, note_wording, unhappy_definition
from darc.cli.output import draw, progress, say
from darc.cli.parser import (
    RULE,
    Parser,
    add_calibration,
    add_columns,
    calibrations_of,
    columns_of,
)
from darc.cli.select_table import FirstRows
from darc.decide.registry import DEFAULT_RULE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from darc.cli.decision_rows import PicturedPrompt
    from darc.decide.method import Method

SHARED = {
    "epsilon": "epsilon: how far below the best value still counts as a near tie",
    "tau": "tau: cap on the risk premium",
    "quantile": "tau: cap at this quantile of the prompt's own premiums",
    "lam": "penalty, lcb, uwo, mc_dropout: weight of the penalty; auto: its caution",
    "alpha": "cvar: share of the lowest samples",
}
READING = ("layout", "format", "raters", "scalarize")


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument(
        "source",
        nargs="?",
        default="-",
        help="file of ratings, a folder with one file a system, - for standard input",
    )
    from darc.cli.options import add_options
    from darc.engine.options import PeopleOptions

    group = parser.add_argument_group("people")
    add_options(group, PeopleOptions)
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--rule",
        action="append",
        metavar=RULE,
        help=f"a rule, repeat to compare (default: {DEFAULT_RULE}); darc rules lists them",
    )
    group.add_argument("--beta", type=float, default=1.0, help="risk aversion")
    group.add_argument("--gamma", type=float, default=1.0, help="hedge over scorers")
    for name, text in SHARED.items():
        group.add_argument(f"--{name}", type=float, help=text)
    group.add_argument(
        "--set", action="append", metavar="KEY=VALUE", help="any other parameter of the rules"
    )
    add_calibration(group)
    group.add_argument(
        "--normalize",
        choices=("prompt", "none"),
        help="scale each scorer within the prompt (default: only with several scorers)",
    )
    group.add_argument(
        "--min-samples",
        type=int,
        metavar="N",
        help="leave out candidates with fewer ratings (default: half of the prompt's most; auto "
        "shrinks them instead)",
    )
    group.add_argument("--seed", type=int, default=0, help="seed of the rules that draw")
    group = parser.add_argument_group("input")
    formats, layouts = ("csv", "tsv", "jsonl", "parquet", "excel"), ("tidy", "wide", "pairwise")
    group.add_argument("--format", default="auto", choices=("auto", *formats))
    group.add_argument("--layout", default="auto", choices=("auto", *layouts))
    add_columns(group)
    group.add_argument("--raters", nargs="+", metavar="COLUMN", help="wide: the raters' columns")
    group.add_argument(
        "--scalarize",
        default="win-rate",
        choices=("win-rate", "bradley-terry", "thurstone"),
        help="pairwise: how comparisons become scores",
    )
    group.add_argument(
        "--side",
        type=Path,
        metavar="FILE",
        help="side inputs of rules such as rbon: prompt_id, candidate_id and named columns",
    )
    group = parser.add_argument_group("output")
    forms = group.add_mutually_exclusive_group()
    forms.add_argument(
        "--json", action="store_true", help="one JSON object a prompt, rule and line"
    )
    forms.add_argument("--csv", action="store_true", help="one CSV line a prompt and rule")
    group.add_argument(
        "--out", type=Path, metavar="FILE", help="write there: CSV, or JSON lines for .json, .jsonl"
    )
    group.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw a decision (.png, .svg, .pdf)"
    )
    group.add_argument("--prompt", metavar="ID", help="the prompt to show and to draw")
    group.add_argument("--explain", action="store_true", help="say why, for every decision")
    add_details(group)
    group.add_argument(
        "--bounds",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="ends of the rating scale: adds a lower confidence bound on the choice's mean; also "
        "the scale unless --scale is given",
    )
    group.add_argument("--delta", type=float, default=0.05, help="its failure probability")
    group.add_argument(
        "--flip", action="store_true", help="find the smallest change of one rating that matters"
    )
    group.add_argument("--limit", type=int, default=20, metavar="N", help="rows of the table shown")


def run(arguments: Namespace) -> None:
    """Read, decide, write."""
    from darc.cli.decision_rows import CsvRows, Detail, JsonRows, PicturedPrompt, Summary
    from darc.cli.options import options_of
    from darc.decide.method import parse_methods
    from darc.decide.standards import parse_scale
    from darc.engine.options import PeopleOptions
    from darc.files import atomic_writer
    from darc.ratings import read_ratings
    from darc.ratings.decisions import decide_table, standards_for
    from darc.ratings.side_table import read_side_table
    from darc.registry import parse_pairs
    from darc.settings.validation import validate_settings

    people = validate_settings(PeopleOptions, options_of(arguments, PeopleOptions))
    shared = {name: getattr(arguments, name) for name in SHARED}
    shared = {name: value for name, value in shared.items() if value is not None}
    # After --lam, which means the same to the rule auto.
    shared |= people.rule_parameters
    shared |= parse_pairs(arguments.set or (), "--set")
    methods = parse_methods(
        arguments.rule or [DEFAULT_RULE],
        shared,
        calibrations=calibrations_of(arguments),
        beta=arguments.beta,
        gamma=arguments.gamma,
        normalize=arguments.normalize or "auto",
        min_samples=arguments.min_samples,
        seed=arguments.seed,
    )
    bounds = None if arguments.bounds is None else tuple(arguments.bounds)
    detail = Detail(arguments.explain, bounds, arguments.delta, arguments.flip)
    side, out = None if arguments.side is None else read_side_table(arguments.side), arguments.out
    reading = {name: getattr(arguments, name) for name in READING}
    standards = people.standards
    if standards.scale is None and bounds is not None:
        standards = replace(standards, scale=parse_scale(bounds))
    with ExitStack() as stack:
        with progress(f"reading {arguments.source}", "B", scale=True) as report:
            columns = columns_of(arguments)
            found = read_ratings(arguments.source, columns=columns, progress=report, **reading)
            table = stack.enter_context(found)
        standards = standards_for(table, standards)
        methods = [replace(method, standards=standards) for method in methods]
        if table.kind == "rewrite" and (people.caution is not None or _sets_caution(methods)):
            note_wording("rewrite")
        as_json = arguments.json or (out and out.suffix.lower() in (".json", ".jsonl", ".ndjson"))
        rows_class = JsonRows if as_json else CsvRows
        summary, pictured = Summary(methods), PicturedPrompt(arguments.prompt)
        sinks: list[Any] = [summary, pictured]
        first = spool = None
        if out is not None:
            file = stack.enter_context(atomic_writer(out))
            sinks.append(rows_class(file, table.extra_columns, detail))
        if arguments.json or arguments.csv:
            # Memory, then a file: standard output gets the results when all are made.
            spool = stack.enter_context(
                SpooledTemporaryFile(8_000_000, "w+", encoding="utf-8", newline="")
            )
            sinks.append(rows_class(cast("TextIO", spool), table.extra_columns, detail))
        elif out is None:
            first = FirstRows(arguments.limit, detail, standards, arguments.details)
            sinks.append(first)
        with progress("deciding", " prompts") as report:
            decided_batches = decide_table(
                table, methods, side=side, system=arguments.system, progress=report
            )
            for decided in decided_batches:
                for sink in sinks:
                    sink.add(decided)
        pictured.check()
        if summary.known_scale and first is None and not as_json:
            say(unhappy_definition(standards))
        texts = _texts(arguments.source, pictured.prompt_id)
        words = f"drew prompt {pictured.prompt_id!r} to"
        draw(arguments.plot, lambda: _figure(pictured, texts), words)
        if spool is not None:
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout)
        elif first is not None:
            first.print(summary, pictured, texts)


def _sets_caution(methods: "Sequence[Method]") -> bool:
    """Whether a rule has another caution than the usual one."""
    from darc.decide.caution import MEDIUM

    return any(method.caution not in (None, MEDIUM) for method in methods)


def _texts(source: object, prompt_id: str | None) -> dict[str, str]:
    """The answers to a prompt by name, with the question under "", from beside the ratings."""
    from darc.ratings.texts import read_texts, texts_beside

    beside = texts_beside(Path(str(source))) if prompt_id is not None else None
    rows = {} if beside is None else read_texts(beside)
    found = {name: both for (prompt, name), both in rows.items() if prompt == prompt_id}
    asked = next((question for question, _ in found.values()), "")
    return {**({"": asked} if asked else {}), **{name: text for name, (_, text) in found.items()}}


def _figure(pictured: "PicturedPrompt", texts: dict[str, str]) -> "Figure":
    from darc.decide.pictures import dot_picture
    from darc.views import draw_ratings

    decisions, prompt_id = pictured.decisions, str(pictured.prompt_id)
    assert decisions is not None
    title = texts.get("") or prompt_id
    return draw_ratings(dot_picture(decisions[-1], texts, others=decisions[:-1], title=title))
