"""`darc select`: choose among rated candidates."""

import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, TextIO, cast

from darc.cli.output import draw, print_table, progress
from darc.cli.parser import (
    RULE,
    Parser,
    add_calibration,
    add_columns,
    calibrations_of,
    columns_of,
)
from darc.registry import DEFAULT_RULE
from darc.selection.decision import FLAGS
from darc.views.text_table import text_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from darc.engine.decision_rows import Detail, PicturedPrompt, Summary
    from darc.engine.ratings import DecidedBatch
    from darc.selection.decision import Decision

NUMBERS = ("value", "mean", "sigma", "risk_premium")
TITLES = ("value", "mean", "sigma", "premium")

SHARED = {
    "epsilon": "epsilon: how far below the best value still counts as a near tie",
    "tau": "tau: cap on the risk premium",
    "quantile": "tau: cap at this quantile of the prompt's own premiums",
    "lam": "penalty, lcb, uwo, mc_dropout: weight of the penalty",
    "alpha": "cvar: share of the lowest samples",
}
READING = ("layout", "format", "raters", "scalarize")
DECIDING = ("normalize", "min_samples", "seed", "system")


def add(parser: Parser) -> None:
    """Add the options."""
    parser.add_argument(
        "source",
        nargs="?",
        default="-",
        help="file of ratings, a folder with one file a system, - for standard input",
    )
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
    group.add_argument(
        "--bounds",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="ends of the rating scale: adds a lower confidence bound on the choice's mean",
    )
    group.add_argument("--delta", type=float, default=0.05, help="its failure probability")
    group.add_argument(
        "--flip", action="store_true", help="find the smallest change of one rating that matters"
    )
    group.add_argument("--limit", type=int, default=20, metavar="N", help="rows of the table shown")


def run(arguments: Namespace) -> None:
    """Read, decide, write."""
    from darc.engine.deciding import parse_rules
    from darc.engine.decision_rows import CsvRows, Detail, JsonRows, PicturedPrompt, Summary
    from darc.engine.ratings import decide_table, read_side
    from darc.files import atomic_writer
    from darc.registry import parse_pairs
    from darc.tables import read_ratings

    shared = {name: getattr(arguments, name) for name in SHARED}
    shared = {name: value for name, value in shared.items() if value is not None}
    shared |= parse_pairs(arguments.set or (), "--set")
    levels, wanted = (arguments.beta, arguments.gamma), arguments.rule or [DEFAULT_RULE]
    specs = parse_rules(wanted, shared, *levels, calibrations_of(arguments))
    bounds = None if arguments.bounds is None else tuple(arguments.bounds)
    detail = Detail(arguments.explain, bounds, arguments.delta, arguments.flip)
    side, out = None if arguments.side is None else read_side(arguments.side), arguments.out
    reading = {name: getattr(arguments, name) for name in READING}
    deciding = {name: getattr(arguments, name) for name in DECIDING}
    with ExitStack() as stack:
        with progress(f"reading {arguments.source}", "B", scale=True) as report:
            columns = columns_of(arguments)
            found = read_ratings(arguments.source, columns=columns, progress=report, **reading)
            table = stack.enter_context(found)
        as_json = arguments.json or (out and out.suffix.lower() in (".json", ".jsonl", ".ndjson"))
        rows_class = JsonRows if as_json else CsvRows
        summary, pictured = Summary(specs), PicturedPrompt(arguments.prompt)
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
            sinks.append(first := FirstRows(arguments.limit, detail))
        with progress("deciding", " prompts") as report:
            for decided in decide_table(table, specs, side=side, progress=report, **deciding):
                for sink in sinks:
                    sink.add(decided)
        pictured.check()
        texts = _texts(arguments.source, pictured.prompt_id)
        words = f"drew prompt {pictured.prompt_id!r} to"
        draw(arguments.plot, lambda: _figure(pictured, texts), words)
        if spool is not None:
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout)
        elif first is not None:
            first.print(summary, pictured, texts)


def _texts(source: object, prompt_id: str | None) -> dict[str, str]:
    """The answers to a prompt by name, with the question under "", from beside the ratings."""
    from darc.evaluation.reading import read_texts, texts_beside

    beside = texts_beside(Path(str(source))) if prompt_id is not None else None
    rows = {} if beside is None else read_texts(beside)
    found = {name: both for (prompt, name), both in rows.items() if prompt == prompt_id}
    asked = next((question for question, _ in found.values()), "")
    return {**({"": asked} if asked else {}), **{name: text for name, (_, text) in found.items()}}


def _figure(pictured: "PicturedPrompt", texts: dict[str, str]) -> "Figure":
    from darc.views import draw_plane, draw_ratings, plane

    decisions, prompt_id = pictured.decisions, str(pictured.prompt_id)
    assert decisions is not None
    if decisions[-1].pools.shape[1] == 1:
        return draw_ratings(decisions, texts.get("") or prompt_id, texts)
    return draw_plane(plane(decisions[-1], decisions[:-1], prompt_id))


class FirstRows:
    """Collects the first rows of the table, and prints it with the summary."""

    def __init__(self, limit: int, detail: "Detail") -> None:
        self._limit, self._detail = limit, detail
        self._rows: list[tuple[list[object], list[str]]] = []

    def add(self, decided: "DecidedBatch") -> None:
        """Keep the batch's first rows, as many as are still wanted."""
        batch = decided.batch
        for row in range(min(len(batch.prompt_ids), self._limit - len(self._rows))):
            names = [batch.candidate_ids[row][int(each.index[row])] for each in decided.decisions]
            cells: list[object] = [batch.prompt_ids[row], *names]
            if len(names) == 1:
                (only,) = decided.decisions
                cells += [float(only.chosen[name][row]) for name in NUMBERS]
                cells += [int(only.chosen["count"][row]), " ".join(only.flags_of(row))]
            else:
                cells.append("*" if len(set(names)) > 1 else "")
            wanted = decided.of(row) if self._detail.columns else ()
            self._rows.append((cells, [line for each in wanted for line in self._lines(each)]))

    def _lines(self, decision: "Decision", without: str = "") -> list[str]:
        told = self._detail.of(decision).items()
        return [f"    {name}: {value}" for name, value in told if name != without]

    def print(
        self, summary: "Summary", pictured: "PicturedPrompt", texts: Mapping[str, str]
    ) -> None:
        """Print one prompt in full, or the table of prompts, and the averages of each rule."""
        many = summary.prompts > 1
        if pictured.decisions and not (many and pictured.wanted is None):
            self._print_prompt(str(pictured.prompt_id), pictured.decisions, texts)
        else:
            self._print_prompts(summary)
        if not many:
            return
        print()
        rows: list[list[object]] = [
            [spec.label, *summary.averages(rule), f"{changed} of {summary.prompts}"]
            for rule, (spec, changed) in enumerate(zip(summary.specs, summary.changed, strict=True))
        ]
        rows[0][-1] = "-"
        print_table(["rule", *TITLES, "changed"], rows)
        for spec, flags in zip(summary.specs, summary.flags, strict=True):
            for name, times in flags.items():
                if times:
                    meaning = FLAGS.get(name, name)
                    print(f"note: {spec.label}, {times} of {summary.prompts} prompts: {meaning}")

    def _print_prompts(self, summary: "Summary") -> None:
        header = ["prompt", *(spec.label for spec in summary.specs), ""]
        if len(summary.specs) == 1:
            header = ["prompt", "chosen", *TITLES, "ratings", "flags"]
        title, rule, *lines = text_table(header, [cells for cells, _ in self._rows]).split("\n")
        print(title, rule, sep="\n")
        for line, (_, words) in zip(lines, self._rows, strict=True):
            print(line, *words, sep="\n")
        rest = summary.prompts - len(self._rows)
        if rest > 0:
            print(f"and {rest} more prompts: --limit shows more, --csv and --out all of them")

    def _print_prompt(
        self, prompt_id: str, decisions: "list[Decision]", texts: Mapping[str, str]
    ) -> None:
        """Every candidate, what each rule says, and the words that it took where they are known."""
        from darc.views.decision_plots import unhappy

        last = decisions[-1]
        numbers, present = last.statistics, last.pools.present[0].nonzero()[0].tolist()
        rules: dict[int, list[str]] = {}
        for each in decisions:
            rules.setdefault(each.index, []).append(each.rule.name)
        rows: list[list[object]] = [
            [
                last.labels.candidate(k),
                *(float(getattr(numbers, name)[k]) for name in NUMBERS),
                int(numbers.count[k]),
                "yes" if last.feasible[k] else "no",
                ", ".join(rules.get(k, ())),
            ]
            for k in sorted(present, key=lambda k: -numbers.value[k])
        ]
        print(f"prompt {prompt_id}")
        print_table(["candidate", *TITLES, "ratings", "feasible", "chosen by"], rows)
        print()
        for each in decisions:
            told = self._lines(each, without="explanation")
            print(f"{each.rule.name}: {each.explain()}", *told, sep="\n")
        for index, names in rules.items():
            if (name := last.labels.candidate(index)) in texts:
                known = ["Best-of-K (mean)" if rule == "mean" else rule for rule in names]
                how = unhappy(last, index)
                print(f"\n{', '.join(known)} took {name}{how and f' ({how})'}: {texts[name]}")
