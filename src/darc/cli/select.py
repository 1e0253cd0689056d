"""`darc select`: choose among rated candidates."""

import argparse
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, TextIO

from darc.cli.parser import (
    add_calibration,
    add_columns,
    add_general,
    calibrations_of,
    columns_of,
)
from darc.registry import DEFAULT_RULE
from darc.selection.decision import FLAGS
from darc.views.text_table import text_table

if TYPE_CHECKING:
    from darc.engine.decision_rows import Detail, PicturedPrompt, Summary
    from darc.engine.ratings import DecidedBatch
    from darc.selection.decision import Decision
    from darc.tables import RatingTable

Arguments = argparse.Namespace
NUMBERS = ("value", "mean", "sigma", "risk_premium")
TITLES = ("value", "mean", "sigma", "premium")

DESCRIPTION = """\
Choose one candidate for every prompt of a file of ratings, by one rule or several side by side.

The file is CSV, TSV, JSONL (each also gzipped) or Parquet, in one of three layouts:
  tidy      prompt_id, candidate_id, rater_id, rating (scorer_id, system); other columns are kept
  wide      prompt_id, candidate_id, and one column a rater (system)
  pairwise  prompt_id, left_id, right_id, rater_id, winner (left, right or tie)
Rows may come in any order. Results go to standard output, everything else to standard error."""
EPILOG = """\
examples:
  darc select ratings.csv
  darc select ratings.csv --rule mean --rule epsilon:epsilon=0.5 --plot decision.png
  zcat big.csv.gz | darc select - --rule tau --quantile 0.25 --out decisions.csv"""
SHARED = {
    "epsilon": "epsilon: how far below the best value still counts as a near tie",
    "tau": "tau: cap on the risk premium",
    "quantile": "tau: cap at this quantile of the prompt's own premiums",
    "lam": "penalty, lcb, uwo, mc_dropout: weight of the penalty",
    "alpha": "cvar: share of the lowest samples",
}


def add(commands: Any, name: str) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(name, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument(
        "source",
        nargs="?",
        default="-",
        help="file of ratings, a folder with one file a system, - for standard input",
    )
    _add_rules(parser)
    _add_input(parser)
    _add_output(parser)
    add_general(parser)
    parser.set_defaults(run=run)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules")
    group.add_argument(
        "--rule",
        action="append",
        metavar="NAME[:KEY=VALUE,...]",
        help=f"a rule, repeat to compare (default: {DEFAULT_RULE}); darc rules lists them",
    )
    group.add_argument("--beta", type=float, default=1.0, help="risk aversion (default: 1)")
    group.add_argument("--gamma", type=float, default=1.0, help="hedge over scorers (default: 1)")
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
    group.add_argument(
        "--seed", type=int, default=0, help="seed of the rules that draw (default: 0)"
    )


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument(
        "--format", default="auto", choices=("auto", "csv", "tsv", "jsonl", "parquet", "excel")
    )
    group.add_argument("--layout", default="auto", choices=("auto", "tidy", "wide", "pairwise"))
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


def _add_output(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: Arguments) -> None:
    """Read, decide, write."""
    from darc.cli.parser import progress
    from darc.engine.deciding import parse_rules
    from darc.engine.decision_rows import CsvRows, Detail, JsonRows, PicturedPrompt, Summary
    from darc.engine.ratings import decide_table, read_side
    from darc.files import atomic_writer
    from darc.registry import parse_pairs
    from darc.tables import read_ratings
    from darc.views import check_picture

    shared = {name: getattr(arguments, name) for name in SHARED}
    shared = {name: value for name, value in shared.items() if value is not None}
    shared |= parse_pairs(arguments.set or (), "--set")
    levels, wanted = (arguments.beta, arguments.gamma), arguments.rule or [DEFAULT_RULE]
    specs = parse_rules(wanted, shared, *levels, calibrations_of(arguments))
    if arguments.plot is not None:
        check_picture(arguments.plot)
    bounds = None if arguments.bounds is None else (arguments.bounds[0], arguments.bounds[1])
    detail = Detail(arguments.explain, bounds, arguments.delta, arguments.flip)
    side = None if arguments.side is None else read_side(arguments.side)
    with ExitStack() as stack:
        with progress(f"reading {arguments.source}", "B", scale=True) as report:
            table = stack.enter_context(
                read_ratings(
                    arguments.source,
                    layout=arguments.layout,
                    format=arguments.format,
                    columns=columns_of(arguments),
                    raters=arguments.raters,
                    scalarize=arguments.scalarize,
                    progress=report,
                )
            )
        as_json = arguments.json or _suffix(arguments.out) in (".json", ".jsonl", ".ndjson")
        rows_class = JsonRows if as_json else CsvRows
        sinks: list[Any] = [summary := Summary(specs)]
        spotlight, shown, spool = PicturedPrompt(arguments.prompt), None, None
        sinks.append(spotlight)
        if arguments.out is not None:
            file = stack.enter_context(atomic_writer(arguments.out))
            sinks.append(rows_class(file, table.extra_columns, detail))
        if arguments.json or arguments.csv:
            spool = stack.enter_context(_spool())
            sinks.append(rows_class(spool, table.extra_columns, detail))
        elif arguments.out is None:
            sinks.append(shown := Shown(table, arguments.limit, detail))
        with progress("deciding", " prompts") as report:
            for decided in decide_table(
                table,
                specs,
                normalize=arguments.normalize,
                min_samples=arguments.min_samples,
                seed=arguments.seed,
                side=side,
                system=arguments.system,
                progress=report,
            ):
                for sink in sinks:
                    sink.add(decided)
        spotlight.check()
        texts = _texts(arguments.source, spotlight.prompt_id)
        if arguments.plot is not None:
            _draw(arguments.plot, spotlight, texts)
        if spool is not None:
            spool.seek(0)
            shutil.copyfileobj(spool, sys.stdout)
        elif shown is not None:
            shown.print(summary, spotlight, texts)


def _suffix(path: Path | None) -> str:
    return "" if path is None else path.suffix.lower()


def _spool() -> TextIO:
    """Memory, then a temporary file: standard output gets the results when all are made."""
    return SpooledTemporaryFile(8_000_000, "w+", encoding="utf-8", newline="")  # type: ignore[return-value]


def _texts(source: object, prompt_id: str | None) -> dict[str, str]:
    """The answers to a prompt by name, with the question under "", from beside the ratings."""
    from darc.evaluation.reading import read_texts, texts_beside

    beside = texts_beside(Path(str(source))) if prompt_id is not None else None
    rows = {} if beside is None else read_texts(beside)
    found = {name: text for (prompt, name), (_, text) in rows.items() if prompt == prompt_id}
    asked = next((text for (prompt, _), (text, _) in rows.items() if prompt == prompt_id), "")
    return {"": asked, **found} if asked else found


def _draw(path: Path, spotlight: Any, texts: dict[str, str]) -> None:
    from darc.files import atomic_path
    from darc.views import draw_plane, draw_ratings, plane, save_figure

    decisions = spotlight.decisions
    if decisions[-1].pools.shape[1] == 1:
        figure = draw_ratings(decisions, texts.get("") or str(spotlight.prompt_id), texts)
    else:
        figure = draw_plane(plane(decisions[-1], decisions[:-1], spotlight.prompt_id))
    with atomic_path(path) as temporary:
        save_figure(figure, temporary)
    print(f"drew prompt {spotlight.prompt_id!r} to {path}", file=sys.stderr)


class Shown:
    """Collects the first rows of the table, and prints it with the summary."""

    def __init__(self, table: "RatingTable", limit: int, detail: "Detail") -> None:
        self._table, self._limit, self._detail = table, limit, detail
        self._rows: list[list[object]] = []
        self._words: list[str] = []

    def add(self, decided: "DecidedBatch") -> None:
        """Keep the batch's first rows, as many as are still wanted."""
        batch = decided.batch
        single = len(decided.decisions) == 1
        for row in range(min(len(batch.prompt_ids), self._limit - len(self._rows))):
            names = [batch.candidate_ids[row][int(each.index[row])] for each in decided.decisions]
            cells: list[object] = [batch.prompt_ids[row], *names]
            if single:
                chosen = decided.decisions[0].chosen
                cells += [float(chosen[name][row]) for name in NUMBERS]
                cells += [int(chosen["count"][row]), " ".join(decided.decisions[0].flags_of(row))]
            else:
                cells.append("*" if len(set(names)) > 1 else "")
            self._rows.append(cells)
            if self._detail.columns:
                self._words += [self._say(each) for each in decided.of(row)]

    def _say(self, decision: "Decision") -> str:
        added = self._detail.of(decision)
        return "\n".join(f"    {name}: {value}" for name, value in added.items())

    def print(
        self,
        summary: "Summary",
        spotlight: "PicturedPrompt",
        texts: Mapping[str, str],
    ) -> None:
        """Print one prompt in full, or the table of prompts, and the averages of each rule."""
        if (summary.prompts == 1 or spotlight.wanted is not None) and spotlight.decisions:
            self._print_prompt(str(spotlight.prompt_id), spotlight.decisions)
            _print_texts(spotlight.decisions, texts)
        else:
            self._print_prompts(summary)
        if summary.prompts > 1:
            print()
            print(
                text_table(
                    ["rule", *TITLES, "changed"],
                    [_average(summary, i) for i in range(len(summary.specs))],
                )
            )
        self._print_flags(summary)

    def _print_prompts(self, summary: "Summary") -> None:
        labels = [spec.label for spec in summary.specs]
        header = ["prompt", *labels, ""]
        if len(labels) == 1:
            header = ["prompt", "chosen", *TITLES, "ratings", "flags"]
        lines = text_table(header, self._rows).split("\n")
        print("\n".join(lines[:2]))
        for row, line in enumerate(lines[2:]):
            print(line)
            for words in self._words[row * len(labels) : (row + 1) * len(labels)]:
                print(words)
        rest = summary.prompts - len(self._rows)
        if rest > 0:
            print(f"and {rest} more prompts: --limit shows more, --csv and --out all of them")

    def _print_prompt(self, prompt_id: str, decisions: "list[Decision]") -> None:
        first = decisions[-1]
        order = sorted(
            (k for k in range(len(first.statistics.value)) if first.pools.present[0, k]),
            key=lambda k: -first.statistics.value[k],
        )
        rows: list[list[object]] = []
        for k in order:
            numbers = [float(getattr(first.statistics, name)[k]) for name in NUMBERS]
            chosen = ", ".join(each.rule.name for each in decisions if each.index == k)
            mark = "yes" if first.feasible[k] else "no"
            rows.append(
                [first.labels.candidate(k), *numbers, int(first.statistics.count[k]), mark, chosen]
            )
        print(f"prompt {prompt_id}")
        print(text_table(["candidate", *TITLES, "ratings", "feasible", "chosen by"], rows))
        print()
        for each in decisions:
            print(f"{each.rule.name}: {each.explain()}")
            if self._detail.columns:
                added = self._detail.of(each)
                added.pop("explanation", None)
                print("".join(f"    {name}: {value}\n" for name, value in added.items()), end="")

    def _print_flags(self, summary: "Summary") -> None:
        for spec, flags in zip(summary.specs, summary.flags, strict=True):
            for name, times in flags.items():
                if times and summary.prompts > 1:
                    meaning = FLAGS.get(name, name)
                    print(f"note: {spec.label}, {times} of {summary.prompts} prompts: {meaning}")


def _print_texts(decisions: "list[Decision]", texts: Mapping[str, str]) -> None:
    """Print what each rule took, word for word, where the texts are known."""
    from darc.views.decision_plots import unhappy

    by_index: dict[int, list[str]] = {}
    for each in decisions:
        rule = "Best-of-K (mean)" if each.rule.name == "mean" else each.rule.name
        by_index.setdefault(each.index, []).append(rule)
    for index, names in by_index.items():
        name = decisions[-1].labels.candidate(index)
        if name in texts:
            how = unhappy(decisions[-1], index)
            print(f"\n{', '.join(names)} took {name}{how and f' ({how})'}: {texts[name]}")


def _average(summary: "Summary", rule: int) -> list[object]:
    changed = "-" if rule == 0 else f"{summary.changed[rule]} of {summary.prompts}"
    return [summary.specs[rule].label, *summary.averages(rule), changed]
